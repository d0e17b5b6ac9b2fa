"""Which of Plumb's operations stand for PyTorch's, as builders of programs; here, arithmetic.

A builder takes the program, the sample's arguments (bound to the names in its own signature) and gives the results.
Others: aten_reduce.py, aten_index.py, aten_nn.py, aten_images.py.
"""
from aten_text import NARROW, NotShared, Tensor, Value, broadcast, is_complex, is_float, part, result_type

BUILDERS = {}


def builds(*names):
    def register(f):
        for n in names:
            BUILDERS[n] = f
        return f
    return register


def axis_of(a, rank):
    rank = max(rank, 1)
    if not -rank <= a < rank:
        raise NotShared("an axis outside the rank")
    return a % rank


def axes_of(dim, rank):
    """None, () and [] are all axes."""
    if dim is None or dim == () or dim == []:
        return list(range(rank))
    return sorted({axis_of(a, rank) for a in (dim if isinstance(dim, (list, tuple)) else [dim])}) if rank else []


def float_of(t):
    return t if is_float(t) or is_complex(t) else "f32"


# ── one operand ──
UNARY_FLOAT = {n: n for n in "acos acosh asin asinh atan atanh cos cosh erf erfc exp exp2 expm1 log log10 log1p log2 rsqrt sigmoid sin sinh sqrt tan tanh reciprocal".split()}
UNARY = {"abs": "abs", "ceil": "ceil", "floor": "floor", "neg": "neg", "sign": "sign", "sgn": "sign", "trunc": "trunc", "bitwise_not": "not", "logical_not": "logical_not",
         "isnan": "is_nan", "isinf": "is_inf", "isfinite": "is_finite", "signbit": "sign_bit"}


def unary_float(plumb):
    def build(p, input):
        x = p.tensor(input)
        return p.same(plumb, p.convert(x, float_of(x.dtype)))
    return build


def unary(plumb):
    def build(p, input):
        x = p.tensor(input)
        if is_complex(x.dtype) and plumb in ("is_nan", "is_inf", "is_finite"):
            parts = [p.op(plumb, p.op(which, x, out=(part(x.dtype), x.shape)), out=("bool", x.shape)) for which in ("real", "imag")]
            return p.same("and" if plumb == "is_finite" else "or", *parts)
        if is_complex(x.dtype) and plumb == "abs":
            return p.op("abs", x, out=(part(x.dtype), x.shape))
        if plumb in ("is_nan", "is_inf", "is_finite") and not is_float(x.dtype):
            return p.constant(plumb == "is_finite", "bool", x.shape)
        if x.dtype == "bool" and plumb in ("abs", "sign"):
            return x
        if x.dtype == "bool" and plumb == "sign_bit":
            return p.constant(False, "bool", x.shape)
        gives_bool = plumb in ("is_nan", "is_inf", "is_finite", "sign_bit", "logical_not")
        return p.op(plumb, x, out=("bool" if gives_bool else x.dtype, x.shape))
    return build


for name, plumb in UNARY_FLOAT.items():
    BUILDERS[name] = unary_float(plumb)
for name, plumb in UNARY.items():
    BUILDERS[name] = unary(plumb)


@builds("positive", "clone", "contiguous", "alias_copy", "resolve_conj", "resolve_neg")
def identity(p, input, memory_format=None):
    return p.tensor(input)


@builds("square")
def square(p, input):
    x = p.tensor(input)
    x = p.convert(x, "i64") if x.dtype == "bool" else x
    return p.same("mul", x, x)


@builds("round")
def round_(p, input, decimals=0):
    x = p.tensor(input)
    return p.same("round_even", x) if decimals == 0 or not is_float(x.dtype) else p.same("round_decimals", x, decimals=decimals)


@builds("nan_to_num")
def nan_to_num(p, input, nan=None, posinf=None, neginf=None):
    x = p.tensor(input)
    if not is_float(x.dtype):
        return x
    most = {"f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308, "f16": 65504.0, "bf16": 3.3895313892515355e38}[x.dtype]
    return p.same("nan_to_num", x, nan=float(nan or 0), posinf=float(most if posinf is None else posinf), neginf=float(-most if neginf is None else neginf))


# ── two operands ──
def pair(p, x, y, dtype=None):
    """Both in the dtype that PyTorch computes in, broadcast: narrow floats beside a number in f32."""
    t = dtype or result_type(x, y)
    numbers = not all(isinstance(v, (Tensor, Value)) for v in (x, y))
    inner = "f32" if t in NARROW and numbers else t
    a, b = p.number(x, inner), p.number(y, inner)
    s = broadcast(a.shape, b.shape)
    return p.spread(a, s), p.spread(b, s), t


def binary(plumb, gives_bool=False, floats=False):
    def build(p, input, other):
        t = result_type(input, other)
        a, b, t = pair(p, input, other, float_of(t) if floats else t)
        r = p.op(plumb, a, b, out=("bool" if gives_bool else a.dtype, a.shape))
        return r if gives_bool else p.convert(r, t)
    return build


for name, plumb in {"mul": "mul", "remainder": "remainder", "fmod": "fmod", "maximum": "maximum", "minimum": "minimum", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
                    "__rmul__": "mul", "__rand__": "and", "__ror__": "or", "__rxor__": "xor"}.items():
    BUILDERS[name] = binary(plumb)
for name in "eq ne lt le gt ge".split():
    BUILDERS[name] = binary(name, gives_bool=True)
for name in ("true_divide", "atan2", "hypot"):
    BUILDERS[name] = binary({"true_divide": "div"}.get(name, name), floats=True)
BUILDERS["mul"] = lambda p, input, other: logical(p, "and", input, other) if result_type(input, other) == "bool" else binary("mul")(p, input, other)
BUILDERS["__rmul__"] = lambda p, input, other: BUILDERS["mul"](p, other, input)


def logical(p, name, input, other):
    a, b, _ = pair(p, input, other)
    return p.same(name, a, b)


for name in "and or xor".split():
    def build_logical(p, input, other, plumb=f"logical_{name}"):
        x, y = p.tensor(input), p.tensor(other)
        s = broadcast(x.shape, y.shape)
        return p.op(plumb, p.spread(x, s), p.spread(y, s), out=("bool", s))
    BUILDERS[f"logical_{name}"] = build_logical


@builds("bitwise_left_shift", "bitwise_right_shift")
def shift(p, input, other, op=None):
    a, b, _ = pair(p, input, other)
    return p.same(op, a, b)


for name in ("left", "right"):
    BUILDERS[f"bitwise_{name}_shift"] = lambda p, input, other, plumb=f"shift_{name}": shift(p, input, other, plumb)


def added(p, plumb, input, other, alpha=1):
    t = result_type(input, other)
    if t == "bool":
        if plumb != "add" or not alpha:
            raise NotShared("a difference of bools")
        return logical(p, "or", input, other)
    a, b, t = pair(p, input, other, t)
    if t in NARROW and alpha != 1:
        a, b = p.convert(a, "f32"), p.convert(b, "f32")
    if alpha != 1:
        b = p.same("mul", b, p.constant(alpha, b.dtype, b.shape))
    return p.convert(p.same(plumb, a, b), t)


@builds("add", "__radd__")
def add(p, input, other, alpha=1):
    return added(p, "add", input, other, alpha)


@builds("sub")
def sub(p, input, other, alpha=1):
    return added(p, "sub", input, other, alpha)


@builds("rsub", "__rsub__")
def rsub(p, input, other, alpha=1):
    return added(p, "sub", other, input, alpha)


@builds("div")
def div(p, input, other, rounding_mode=None):
    t = result_type(input, other)
    if rounding_mode is None:
        return binary("div", floats=True)(p, input, other)
    t = "u8" if t == "bool" else t
    a, b, t = pair(p, input, other, t)
    if rounding_mode == "floor":
        return p.convert(p.same("floor_div", a, b), t)
    return p.same("trunc", p.convert(p.same("div", a, b), t))


@builds("floor_divide")
def floor_divide(p, input, other):
    return div(p, input, other, "floor")


@builds("__rdiv__")
def rdiv(p, input, other):
    x = p.tensor(input)
    return binary("mul")(p, p.same("reciprocal", p.convert(x, float_of(x.dtype))), other)


@builds("__rmod__")
def rmod(p, input, other):
    return binary("remainder")(p, other, input)


@builds("pow")
def power(p, input, other):
    if result_type(input, other) == "bool":
        raise NotShared("a power of bools")
    return binary("pow")(p, input, other)


@builds("__rpow__")
def rpow(p, input, other):
    return power(p, other, input)


@builds("float_power")
def float_power(p, input, other):
    return p.same("pow", *pair(p, input, other, "c128" if is_complex(result_type(input, other)) else "f64")[:2])


@builds("clamp")
def clamp(p, input, min=None, max=None):
    bounds = [b for b in (min, max) if b is not None]
    t = result_type(input, *bounds)
    inner = "f32" if t in NARROW and not all(isinstance(b, Tensor) for b in bounds) else t
    x = p.number(input, inner)
    shape = broadcast(x.shape, *[b.shape for b in bounds if isinstance(b, Tensor)])
    x = p.spread(x, shape)
    for plumb, b in (("maximum", min), ("minimum", max)):
        if b is not None:
            x = p.same(plumb, x, p.spread(p.number(b, inner), shape))
    return p.convert(x, t)


@builds("clamp_min")
def clamp_min(p, input, min):
    return clamp(p, input, min=min)


@builds("clamp_max")
def clamp_max(p, input, max):
    return clamp(p, input, max=max)


@builds("addcmul", "addcdiv")
def addc(p, input, tensor1, tensor2, value=1, plumb=None):
    t = result_type(input, tensor1, tensor2)
    xs = [p.convert(p.tensor(x), t) for x in (input, tensor1, tensor2)]
    s = broadcast(*[x.shape for x in xs])
    return p.same(plumb, *[p.spread(x, s) for x in xs], value=float(value))


for name in ("addcmul", "addcdiv"):
    BUILDERS[name] = lambda p, input, tensor1, tensor2, value=1, plumb=name: addc(p, input, tensor1, tensor2, value, plumb)


@builds("lerp")
def lerp(p, input, end, weight):
    x, y = p.tensor(input), p.tensor(end)
    w = p.number(weight, x.dtype)
    s = broadcast(x.shape, y.shape, w.shape)
    return p.same("lerp", *[p.spread(v, s) for v in (x, y, w)])


@builds("where")
def where(p, condition, input, other):
    t = result_type(input, other)
    c, a, b = p.convert(p.tensor(condition), "bool"), p.number(input, t), p.number(other, t)
    s = broadcast(c.shape, a.shape, b.shape)
    return p.op("select", *[p.spread(v, s) for v in (c, a, b)], out=(t, s))


BUILDERS["where"] = lambda p, input, condition, other: where(p, condition, input, other)  # the samples call x.where(c, y)


@builds("masked_fill")
def masked_fill(p, input, mask, value):
    x, m, v = p.tensor(input), p.tensor(mask), p.number(value, input.dtype)
    s = broadcast(x.shape, m.shape)
    return p.op("select", p.spread(m, s), p.spread(v, s), p.spread(x, s), out=(x.dtype, s))
