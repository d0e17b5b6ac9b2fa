"""Which of Plumb's operations stand for PyTorch's, as builders of programs: arithmetic, reductions, shapes, positions.

A builder takes the program, the sample's arguments (bound to the names in its own signature) and gives the results.
Losses, pools, convolutions and the like are in aten_nn.py.
"""
import math

from aten_text import NARROW, DType, NotShared, Tensor, Value, broadcast, category, is_float, promote, result_type

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
    return t if is_float(t) else "f32"


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


@builds("positive", "clone", "contiguous", "alias_copy", "resolve_conj", "resolve_neg", "real", "conj", "conj_physical", "atleast_1d_of_rank")
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
    return div(p, other, input)


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
    return p.same("pow", *pair(p, input, other, "f64")[:2])


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


# ── reductions ──
def summed_type(x, dtype):
    return dtype or (x.dtype if is_float(x.dtype) else "i64")


@builds("sum", "prod")
def total(p, input, dim=None, keepdim=False, dtype=None, plumb=None):
    x = p.tensor(input)
    t = summed_type(x, dtype)
    if t == "bool":
        plumb = {"reduce_sum": "reduce_or", "reduce_prod": "reduce_and"}[plumb]
    return p.reduce(plumb, p.convert(x, t), axes_of(dim, len(x.shape)), keepdim)


BUILDERS["sum"] = lambda p, input, dim=None, keepdim=False, dtype=None: total(p, input, dim, keepdim, dtype, "reduce_sum")
BUILDERS["prod"] = lambda p, input, dim=None, keepdim=False, dtype=None: total(p, input, dim, keepdim, dtype, "reduce_prod")


@builds("mean")
def mean(p, input, dim=None, keepdim=False, dtype=None):
    x = p.tensor(input)
    return p.reduce("reduce_mean", p.convert(x, dtype or x.dtype), axes_of(dim, len(x.shape)), keepdim)


@builds("nansum")
def nansum(p, input, dim=None, keepdim=False, dtype=None):
    x = p.tensor(input)
    if is_float(x.dtype):
        x = p.op("select", p.op("is_nan", x, out=("bool", x.shape)), p.constant(0, x.dtype, x.shape), x, out=(x.dtype, x.shape))
    return total(p, x, dim, keepdim, dtype, "reduce_sum")


for name, plumb in (("amax", "reduce_max"), ("amin", "reduce_min")):
    BUILDERS[name] = lambda p, input, dim=(), keepdim=False, plumb=plumb: p.reduce(plumb, p.tensor(input), axes_of(dim, len(input.shape)), keepdim)
for name in ("any", "all"):
    def truth(p, input, dim=None, keepdim=False, plumb=name):
        x = p.tensor(input)
        axes = [] if dim == () or dim == [] else axes_of(dim, len(x.shape))
        axes = list(range(len(x.shape))) if not axes and dim is not None and len(x.shape) else axes
        r = p.reduce(plumb, x, axes, keepdim, dtype="bool")
        return p.convert(r, "u8") if x.dtype == "u8" else r
    BUILDERS[name] = truth


@builds("count_nonzero")
def count_nonzero(p, input, dim=None):
    return p.reduce("count_nonzero", p.tensor(input), axes_of(dim, len(input.shape)), dtype="i64")


def scalar_axis(x, axis_rank_zero=0):
    """A scalar as a vector of one, as PyTorch sees it along an axis."""
    return [1] if not x.shape else x.shape


@builds("argmax", "argmin")
def arg(p, input, dim=None, keepdim=False, plumb=None):
    x = p.tensor(input)
    rank = len(x.shape)
    if dim is None:
        r = p.op(plumb, p.reshape(x, [math.prod(x.shape)]), out=("i64", []), axis=0)
        return p.reshape(r, [1] * rank if keepdim else [])
    x = p.reshape(x, scalar_axis(x))
    d = axis_of(dim, len(x.shape))
    r = p.op(plumb, x, out=("i64", x.shape[:d] + x.shape[d + 1:]), axis=d)
    return p.reshape(r, x.shape[:d] + [1] + x.shape[d + 1:] if keepdim and rank else r.shape)


for name in ("argmax", "argmin"):
    BUILDERS[name] = lambda p, input, dim=None, keepdim=False, plumb=name: arg(p, input, dim, keepdim, plumb)


def extreme(which, maximum):
    def build(p, input, dim=None, keepdim=False, other=None):
        if isinstance(dim, Tensor) or other is not None:
            return binary(maximum)(p, input, dim if other is None else other)
        x = p.tensor(input)
        if dim is None:
            return p.reduce(f"reduce_{which}", x, list(range(len(x.shape))))
        y = p.reshape(x, scalar_axis(x))
        d = axis_of(dim, len(y.shape))
        rest = y.shape[:d] + y.shape[d + 1:]
        values = p.op(f"{which}_with_index", y, out=[(x.dtype, rest), ("i64", rest)], axis=d)
        kept = y.shape[:d] + [1] + y.shape[d + 1:] if keepdim and x.shape else rest
        return [p.reshape(v, kept) for v in values]
    return build


BUILDERS["max"], BUILDERS["min"] = extreme("max", "maximum"), extreme("min", "minimum")


@builds("aminmax")
def aminmax(p, input, dim=None, keepdim=False):
    axes = axes_of(dim, len(input.shape))
    return [p.reduce(r, p.tensor(input), axes, keepdim) for r in ("reduce_min", "reduce_max")]


def correction_of(unbiased, correction):
    return float(correction if correction is not None else 0 if unbiased is False else 1)


@builds("var", "std", "var_mean", "std_mean")
def variance(p, input, dim=None, unbiased=None, keepdim=False, correction=None, name=None):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    x = p.tensor(input)
    axes = axes_of(dim, len(x.shape))
    shape = [n for d, n in enumerate(x.shape) if d not in axes]
    kept = [1 if d in axes else n for d, n in enumerate(x.shape)] if keepdim else shape
    inner = p.convert(x, "f32") if name.startswith("std") and x.dtype in NARROW else x
    r = p.op("var_mean", inner, out=[(inner.dtype, shape)] * 2, axes=axes, correction=correction_of(unbiased, correction))
    if name.startswith("std"):
        r[0] = p.same("sqrt", r[0])
    r = [p.reshape(p.convert(v, x.dtype), kept) for v in r]
    return r if name.endswith("mean") else r[0]


for name in ("var", "std", "var_mean", "std_mean"):
    BUILDERS[name] = lambda p, input, dim=None, unbiased=None, keepdim=False, correction=None, name=name: variance(p, input, dim, unbiased, keepdim, correction, name)


@builds("aten.var_mean.correction")
def aten_var_mean(p, input, dim=None, correction=None, keepdim=False):
    return variance(p, input, dim, None, keepdim, correction, "var_mean")


@builds("logsumexp")
def logsumexp(p, input, dim, keepdim=False):
    x = p.tensor(input)
    return p.reduce("logsumexp", p.convert(x, float_of(x.dtype)), axes_of(dim, len(x.shape)), keepdim)


@builds("linalg.vector_norm")
def vector_norm(p, x, ord=2, dim=None, keepdim=False, dtype=None):
    v = p.tensor(x)
    v = p.convert(v, dtype or v.dtype)
    axes = axes_of(dim, len(v.shape))
    shape = [n for d, n in enumerate(v.shape) if d not in axes]
    r = p.op("norm", v, out=(v.dtype, shape), axes=axes, p=float(ord))
    return p.reshape(r, [1 if d in axes else n for d, n in enumerate(v.shape)] if keepdim else shape)


@builds("cumsum")
def cumsum(p, input, dim, dtype=None):
    x = p.convert(p.tensor(input), summed_type(input, dtype))
    y = p.reshape(x, scalar_axis(x))
    return p.reshape(p.same("cumsum", y, axis=axis_of(dim, len(y.shape))), x.shape)


def softmax(plumb):
    def build(p, input, dim, dtype=None):
        x = p.tensor(input)
        x = p.convert(x, dtype or x.dtype)
        wide = p.convert(x, "f32") if x.dtype in NARROW else x
        y = p.reshape(wide, scalar_axis(wide))
        return p.convert(p.reshape(p.same(plumb, y, axis=axis_of(dim, len(y.shape))), x.shape), x.dtype)
    return build


BUILDERS["softmax"], BUILDERS["log_softmax"] = softmax("softmax"), softmax("log_softmax")
BUILDERS["aten._softmax"] = lambda p, input, dim, half: softmax("softmax")(p, input, dim)
BUILDERS["aten._log_softmax"] = lambda p, input, dim, half: softmax("log_softmax")(p, input, dim)


# ── sorting ──
@builds("sort", "argsort", "msort")
def sort(p, input, dim=-1, descending=False, stable=False, name=None):
    x = p.tensor(input)
    y = p.reshape(x, scalar_axis(x))
    d = 0 if name == "msort" else axis_of(dim, len(y.shape))
    values = lambda: p.reshape(p.same("sort", y, axis=d, descending=descending), x.shape)
    places = lambda: p.reshape(p.op("argsort", y, out=("i64", y.shape), axis=d, descending=descending), x.shape)
    return values() if name == "msort" else places() if name == "argsort" else [values(), places()]


for name in ("sort", "argsort", "msort"):
    BUILDERS[name] = lambda p, input, dim=-1, descending=False, stable=False, name=name: sort(p, input, dim, descending, stable, name)


# ── products of matrices ──
@builds("matmul", "mm", "bmm", "mv", "dot")
def matmul(p, input, other):
    x, y = p.tensor(input), p.tensor(other)
    lead = broadcast(x.shape[:-2], y.shape[:-2])
    return p.op("matmul", x, y, out=(x.dtype, lead + (x.shape[-2:-1] if len(x.shape) > 1 else []) + (y.shape[-1:] if len(y.shape) > 1 else [])))


BUILDERS["__rmatmul__"] = lambda p, input, other: matmul(p, other, input)
BUILDERS["vdot"] = matmul


@builds("addmm", "baddbmm", "addmv")
def addmm(p, input, mat1, mat2, beta=1, alpha=1):
    c, x, y = p.tensor(input), p.tensor(mat1), p.tensor(mat2)
    shape = x.shape[:-1] + (y.shape[-1:] if len(y.shape) > 1 else [])
    return p.op("addmm", c, x, y, out=(x.dtype, shape), beta=float(beta), alpha=float(alpha))


@builds("outer")
def outer(p, input, vec2):
    x, y = p.tensor(input), p.tensor(vec2)
    t = promote(x.dtype, y.dtype)
    s = [x.shape[0], y.shape[0]]
    return p.same("and" if t == "bool" else "mul", p.op("broadcast", p.convert(x, t), out=(t, s), dims=[0]), p.spread(p.convert(y, t), s))


@builds("trace")
def trace(p, input):
    x = p.tensor(input)
    n = min(x.shape)
    d = p.op("diagonal", x, out=(x.dtype, [n]))
    return p.reduce("reduce_sum", p.convert(d, summed_type(x, None)), [0])


