"""Programs in Plumb's text, built from PyTorch's values: types are tracked here, so that every line carries its own."""
import math
import struct

PLUMB = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
         "complex64": "c64", "complex128": "c128"}
WIDTH = {"bool": 1, "u8": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128}
NARROW = ("f16", "bf16")


class NotShared(Exception):
    """A sample that Plumb has no program for, with the reason."""


FORMAT = {"f32": "f", "f64": "d", "bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B"}


class Tensor:
    """A tensor of a sample: its dtype in Plumb's words, shape, and offset in the data."""

    def __init__(self, dtype, shape, offset, is_view=False, data=b""):
        if dtype not in PLUMB:
            raise NotShared(f"dtype {dtype}")
        self.dtype, self.shape, self.offset = PLUMB[dtype], list(shape), offset
        self.is_view, self.data = is_view, data

    def numbers(self):
        """Its elements, for those that a program has as attributes: sizes, places to cut at."""
        if self.dtype not in FORMAT:
            raise NotShared(f"numbers of {self.dtype} as attributes")
        return list(struct.unpack_from(f"<{math.prod(self.shape)}{FORMAT[self.dtype]}", self.data, self.offset))


class DType(str):
    """A dtype among the arguments, in Plumb's words."""


def decode(v, data=b""):
    """A value of a sample's index as Python's, tensors as Tensor."""
    if isinstance(v, list):
        return [decode(x, data) for x in v]
    if not isinstance(v, dict):
        return v
    if "t" in v:
        return Tensor(*v["t"], "strides" in v, data)
    if "tuple" in v:
        return tuple(decode(x, data) for x in v["tuple"])
    if "dict" in v:
        return {k: decode(x, data) for k, x in v["dict"].items()}
    if "f" in v:
        return float(v["f"])
    if "slice" in v:
        return slice(*[decode(x) for x in v["slice"]])
    if "dtype" in v:
        if v["dtype"] not in PLUMB:
            raise NotShared(f"dtype {v['dtype']}")
        return DType(PLUMB[v["dtype"]])
    if "ellipsis" in v:
        return Ellipsis
    if "c" in v:
        return complex(*[decode(x) for x in v["c"]])
    if str(v.get("repr")).startswith("torch.") and str(v["repr"]).endswith(("_format", "channels_last", "strided", "channels_last_3d")):
        return v["repr"]  # how elements lie in memory, which no program sees
    raise NotShared(f"a value without another form: {v.get('repr', v)}")


def is_float(t):
    return t in ("f16", "bf16", "f32", "f64")


def is_complex(t):
    return t in ("c64", "c128")


def part(t):
    """The dtype of a complex number's parts; a float's own."""
    return {"c64": "f32", "c128": "f64"}.get(t, t)


def category(t):
    return 0 if t == "bool" else 3 if is_complex(t) else 2 if is_float(t) else 1


def complex_of(t):
    if t in NARROW:
        raise NotShared("complex numbers of half floats")
    return "c128" if t in ("f64", "c128") else "c64"


def promote(a, b):
    """PyTorch's table for two dtypes of tensors."""
    if a == b:
        return a
    if category(a) == 3 or category(b) == 3:
        return "c128" if {"f64", "c128"} & {a, b} else "c64"
    if category(a) != category(b):
        return a if category(a) > category(b) else b
    if category(a) == 2:
        return "f32" if {a, b} == {"f16", "bf16"} else max(a, b, key=WIDTH.get)
    if "u8" in (a, b):
        other = b if a == "u8" else a
        return "i16" if other == "i8" else other
    return max(a, b, key=WIDTH.get)


def scalar_type(x):
    return "bool" if isinstance(x, bool) else "i64" if isinstance(x, int) else "c64" if isinstance(x, complex) else "f32"


def result_type(*xs):
    """PyTorch's promotion: tensors with axes, then those without, then numbers; a later kind counts only for its category."""
    kinds = [[], [], []]
    for x in xs:
        if isinstance(x, (Tensor, Value)):
            kinds[0 if x.shape else 1].append(x.dtype)
        else:
            kinds[2].append(scalar_type(x))
    t = None
    for level in kinds:
        own = None
        for d in level:
            own = d if own is None else promote(own, d)
        if own is None:
            continue
        if t is None:
            t = own
        elif category(own) > category(t):
            t = complex_of(t) if category(own) == 3 and category(t) == 2 else own
    return t


def broadcast(*shapes):
    rank = max((len(s) for s in shapes), default=0)
    out = [1] * rank
    for s in shapes:
        for k, n in enumerate(reversed(s)):
            if out[rank - 1 - k] == 1:
                out[rank - 1 - k] = n
            elif n not in (1, out[rank - 1 - k]):
                raise NotShared("shapes that do not broadcast")
    return out


class Value:
    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, list(shape)


def spelled_number(x, dtype):
    if dtype == "bool":
        return "true" if x else "false"
    if is_complex(dtype):
        x = complex(x)
        return f"({spelled_number(x.real, 'f64')}, {spelled_number(x.imag, 'f64')})"
    if not is_float(dtype):
        return str(int(x))
    x = float(x)
    return "nan" if math.isnan(x) else "inf" if x == math.inf else "-inf" if x == -math.inf else repr(x)


def spelled_attribute(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, float):
        return spelled_number(v, "f64")
    if isinstance(v, (list, tuple)):
        return "[" + ",".join(spelled_attribute(x) for x in v) + "]"
    return str(v)


def type_text(dtype, shape):
    return f"{dtype}[{','.join(map(str, shape))}]"


class Program:
    """One function @main whose parameters are the sample's tensors.

    theirs: PyTorch's results, whose shapes say how much of a result that is as large as it can be there is;
    counts: results that count that, with what the shape says.
    """

    def __init__(self, theirs=()):
        self.params, self.lines, self.count = [], [], 0
        self.theirs, self.counts = theirs, []

    def tensor(self, t):
        """The tensor as a parameter; a Value stays itself."""
        if isinstance(t, Value):
            return t
        if not isinstance(t, Tensor):
            raise NotShared(f"{type(t).__name__} where a tensor is wanted")
        for known, v in self.params:
            if known is t:
                return v
        v = Value(f"p{len(self.params)}", t.dtype, t.shape)
        self.params.append((t, v))
        return v

    def cut(self, x, axis, n, count):
        """The first n slices of x along the axis, and that n is how many there are."""
        self.counts.append((count, n))
        return self.slice(x, axis, 0, n)

    def same_number(self, x, y):
        """Whether elements are equal, or both NaN."""
        equal = self.op("eq", x, y, out=("bool", x.shape))
        if not is_float(x.dtype):
            return equal
        nans = [self.op("is_nan", v, out=("bool", x.shape)) for v in (x, y)]
        return self.same("or", equal, self.same("and", *nans))

    def place_of(self, x, axis, values, which):
        """PyTorch's places of values along x's axis (its result number `which`), where they hold the values, else -1: of equal
        elements it may take any. values and places keep the axis."""
        at = self.tensor(self.theirs[which])
        place = self.reshape(at, values.shape)
        found = self.op("gather_elements", x, place, out=(x.dtype, values.shape), axis=axis)
        return self.reshape(self.choose(self.same_number(found, values), place, -1), at.shape)

    def op(self, name, *operands, out, **attrs):
        """An operation; `out` is (dtype, shape), or a list of them for several results."""
        many = isinstance(out, list)
        results = []
        for dtype, shape in out if many else [out]:
            results.append(Value(f"v{self.count}", dtype, shape))
            self.count += 1
        words = ", ".join(f"{k}={spelled_attribute(v)}" for k, v in attrs.items())
        self.lines.append(f"  {', '.join('%' + r.name for r in results)} = {name}({', '.join('%' + o.name for o in operands)}){' {' + words + '}' if words else ''} : {', '.join(type_text(r.dtype, r.shape) for r in results)}")
        return results if many else results[0]

    def same(self, name, *operands, **attrs):
        """An operation whose result has its first operand's type."""
        return self.op(name, *operands, out=(operands[0].dtype, operands[0].shape), **attrs)

    def constant(self, x, dtype, shape=()):
        number = spelled_number(x, dtype)
        if not is_float(dtype) and not is_complex(dtype) and dtype != "bool":
            low, high = (0, 2**WIDTH[dtype]) if dtype[0] == "u" else (-2**(WIDTH[dtype] - 1), 2**(WIDTH[dtype] - 1))
            if not low <= int(x) < high:
                raise NotShared("a number outside its dtype")
        scalar = Value(f"v{self.count}", dtype, [])
        self.count += 1
        self.lines.append(f"  %{scalar.name} = constant() {{value={number}}} : {dtype}[]")
        return self.spread(scalar, shape)

    def vector(self, xs, dtype="i64"):
        v = Value(f"v{self.count}", dtype, [len(xs)])
        self.count += 1
        self.lines.append(f"  %{v.name} = constant() {{value=[{','.join(spelled_number(x, dtype) for x in xs)}]}} : {dtype}[{len(xs)}]")
        return v

    def convert(self, x, dtype):
        if is_complex(x.dtype) and not is_complex(dtype) and dtype != "bool":
            return self.convert(self.op("real", x, out=(part(x.dtype), x.shape)), dtype)
        return x if x.dtype == dtype else self.op("convert", x, out=(dtype, x.shape), dtype=DType(dtype))

    def spread(self, x, shape):
        """NumPy's broadcast."""
        shape = list(shape)
        return x if x.shape == shape else self.op("broadcast", x, out=(x.dtype, shape), dims=[len(shape) - len(x.shape) + d for d in range(len(x.shape))])

    def reshape(self, x, shape):
        return x if x.shape == list(shape) else self.op("reshape", x, out=(x.dtype, shape))

    def transpose(self, x, perm):
        perm = list(perm)
        return x if perm == sorted(perm) else self.op("transpose", x, out=(x.dtype, [x.shape[p] for p in perm]), perm=perm)

    def slice(self, x, axis, start, limit, stride=1):
        starts, limits, strides = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
        starts[axis], limits[axis], strides[axis] = start, limit, stride
        shape = list(x.shape)
        shape[axis] = 0 if limit <= start else (limit - start - 1) // stride + 1
        return self.op("slice", x, out=(x.dtype, shape), start=starts, limit=limits, stride=strides)

    def binary(self, name, x, y):
        """An operation of two operands that broadcast; y may be a number."""
        if not isinstance(y, Value):
            y = self.constant(y, x.dtype)
        s = broadcast(x.shape, y.shape)
        gives_bool = name in ("eq", "ne", "lt", "le", "gt", "ge")
        return self.op(name, self.spread(x, s), self.spread(y, s), out=("bool" if gives_bool else x.dtype, s))

    def choose(self, condition, yes, no):
        """select, its operands broadcast; one side may be a number."""
        yes, no = (self.constant(v, (no if k == 0 else yes).dtype) if not isinstance(v, Value) else v for k, v in enumerate((yes, no)))
        s = broadcast(condition.shape, yes.shape, no.shape)
        return self.op("select", *[self.spread(v, s) for v in (condition, yes, no)], out=(yes.dtype, s))

    def iota(self, dtype, shape, axis=0):
        return self.op("iota", out=(dtype, shape), axis=axis)

    def concat(self, xs, axis):
        shape = list(xs[0].shape)
        shape[axis] = sum(x.shape[axis] for x in xs)
        return xs[0] if len(xs) == 1 else self.op("concat", *xs, out=(xs[0].dtype, shape), axis=axis)

    def reduce(self, name, x, axes, keep=False, dtype=None):
        shape = [n for d, n in enumerate(x.shape) if d not in axes]
        r = self.op(name, x, out=(dtype or x.dtype, shape), axes=axes)
        return self.reshape(r, [1 if d in axes else n for d, n in enumerate(x.shape)]) if keep else r

    def number(self, x, dtype):
        """A tensor or a number as a value of that dtype."""
        return self.constant(x, dtype) if isinstance(x, (bool, int, float, complex)) else self.convert(self.tensor(x), dtype)

    def text(self, results):
        head = ", ".join(f"%{v.name}: {type_text(v.dtype, v.shape)}" for _, v in self.params)
        kinds = ", ".join(type_text(r.dtype, r.shape) for r in results)
        return f"func @main({head}) -> ({kinds}) {{\n" + "".join(line + "\n" for line in self.lines) + f"  return {', '.join('%' + r.name for r in results)}\n}}\n"
