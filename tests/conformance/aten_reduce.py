"""Builders for what combines elements: reductions, scans, softmax, sorting, products of matrices."""
import math

from aten_ops import BUILDERS, axes_of, axis_of, binary, builds, float_of
from aten_text import NARROW, Tensor, broadcast, is_complex, is_float, promote


# ── reductions ──
def summed_type(x, dtype):
    return dtype or (x.dtype if is_float(x.dtype) or is_complex(x.dtype) else "i64")


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
    how = {"axes": axes, "correction": correction_of(unbiased, correction)}
    if name == "var":
        return p.reshape(p.convert(p.op("var", inner, out=(inner.dtype, shape), **how), x.dtype), kept)
    r = p.op("var_mean", inner, out=[(inner.dtype, shape)] * 2, **how)
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
BUILDERS["vdot"] = lambda p, input, other: matmul(p, p.same("conj", p.tensor(input)) if is_complex(input.dtype) else input, other)


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


