"""Builders for torch.masked: what the mask leaves out becomes what the operation leaves unchanged; then the operation."""
import math

from aten_ops import BUILDERS, axes_of, axis_of, builds, float_of
from aten_order import lower_median
from aten_reduce import scalar_axis
from aten_scatter import limit
from aten_text import NotShared, is_complex, is_float

M = "masked."


def neutral(name, dtype):
    """What an operation leaves unchanged."""
    if name in ("sum", "norm"):
        return 0
    if name == "prod":
        return 1
    if name == "median":
        return math.nan
    if is_float(dtype):
        return -math.inf if name in ("amax", "argmax", "logsumexp", "logaddexp") else math.inf
    if is_complex(dtype):
        return complex(-math.inf, 0)
    if dtype == "bool":
        raise NotShared("extremes of bools")
    return limit(dtype, name in ("amax", "argmax", "logsumexp", "logaddexp"))


def filled(p, input, mask, number):
    """The input where the mask, spread over it, holds, else a number; and the mask."""
    x = p.tensor(input)
    if mask is None:
        return x, p.constant(True, "bool", x.shape)
    m = p.spread(p.tensor(mask), x.shape)
    return p.choose(m, x, p.spread(p.constant(number, x.dtype), x.shape)), m


def axes(dim, x):
    """() is every axis here too."""
    return axes_of(dim, len(x.shape)) if x.shape else []


def whole(t):
    return "i64" if t in ("u8", "bool", "i8", "i16", "i32") else t


@builds(M + "sum", M + "prod")
def total(p, input, dim=None, keepdim=False, dtype=None, mask=None, name=None):
    x, _ = filled(p, input, mask, neutral(name, input.dtype))
    return BUILDERS[name](p, x, dim, keepdim, dtype or whole(x.dtype))


for name in ("sum", "prod"):
    BUILDERS[M + name] = lambda p, input, dim=None, keepdim=False, dtype=None, mask=None, name=name: total(p, input, dim, keepdim, dtype, mask, name)
for name in ("amax", "amin"):
    BUILDERS[M + name] = lambda p, input, dim=None, keepdim=False, dtype=None, mask=None, name=name: p.convert(
        BUILDERS[name](p, filled(p, input, mask, neutral(name, input.dtype))[0], () if dim is None else dim, keepdim), dtype or input.dtype)
for name in ("argmax", "argmin"):
    BUILDERS[M + name] = lambda p, input, dim=None, keepdim=False, dtype=None, mask=None, name=name: p.convert(
        BUILDERS[name](p, filled(p, input, mask, neutral(name, input.dtype))[0], dim, keepdim), dtype or input.dtype)
for name in ("cumsum", "cumprod"):
    BUILDERS[M + name] = lambda p, input, dim, dtype=None, mask=None, name=name: BUILDERS[name](
        p, filled(p, input, mask, neutral(name.removeprefix("cum"), input.dtype))[0], dim, dtype or input.dtype)
for name, other in (("softmax", "amax"), ("log_softmax", "amax"), ("softmin", "amin")):
    BUILDERS[M + name] = lambda p, input, dim, dtype=None, mask=None, name=name, other=other: BUILDERS["nn.functional.softmin" if name == "softmin" else name](
        p, filled(p, input, mask, neutral(other, input.dtype))[0], dim, dtype)


@builds(M + "mean")
def mean(p, input, dim=None, keepdim=False, dtype=None, mask=None):
    t = dtype or input.dtype
    x, m = filled(p, input, mask, 0)
    sums = p.reduce("reduce_sum", p.convert(x, t), axes(dim, x), keepdim)
    count = p.reduce("count_nonzero", m, axes(dim, x), keepdim, dtype="i64")
    return p.same("div", sums, p.convert(count, t))


@builds(M + "var", M + "std")
def variance(p, input, dim=None, unbiased=None, correction=None, keepdim=False, dtype=None, mask=None, root=False):
    """The steps that torch.masked takes: a mean, squares of what differs from it, and a quotient."""
    if is_complex(input.dtype):
        raise NotShared("the variance of complex numbers")
    t = dtype or float_of(input.dtype)
    x, m = filled(p, input, mask, 0)
    over, s = axes(dim, x), x.shape
    total = lambda v: p.reduce("reduce_sum", v, over, True)
    count = p.reduce("count_nonzero", m, over, True, dtype="i64")
    mean = p.same("div", *[p.convert(v, t) for v in (total(p.convert(x, t)), count)])
    d = p.same("sub", p.convert(x, t), p.spread(mean, s))
    squares = total(p.choose(m, p.same("mul", d, d), p.constant(0, t, s)))
    by = correction if correction is not None else 0 if unbiased is False else 1
    n = p.same("maximum", p.binary("sub", p.convert(count, t), by), p.constant(0, t, count.shape))
    r = p.same("div", squares, n)
    r = p.same("sqrt", r) if root else r
    return r if keepdim else p.reshape(r, [k for d, k in enumerate(s) if d not in over])


BUILDERS[M + "std"] = lambda p, input, dim=None, unbiased=None, correction=None, keepdim=False, dtype=None, mask=None: variance(p, input, dim, unbiased, correction, keepdim, dtype, mask, True)


@builds(M + "median")
def median(p, input, dim=-1, keepdim=False, dtype=None, mask=None):
    x = p.tensor(input)
    y, _ = filled(p, p.convert(x, float_of(x.dtype)), mask, neutral("median", "f32"))
    y = p.reshape(y, scalar_axis(y))
    d = axis_of(dim, len(y.shape))
    value = lower_median(p, y, d, True)
    return p.convert(p.reshape(value, p.theirs[0].shape), dtype or x.dtype)


@builds(M + "logsumexp")
def logsumexp(p, input, dim=None, keepdim=False, dtype=None, mask=None):
    if is_complex(input.dtype):
        raise NotShared("logsumexp takes no complex numbers")
    x, _ = filled(p, input, mask, neutral("logsumexp", input.dtype))
    t = dtype or x.dtype
    return p.convert(p.reduce("logsumexp", p.convert(x, float_of(x.dtype)), axes(dim, x), keepdim), t)


@builds(M + "logaddexp")
def logaddexp(p, input, other, dtype=None, input_mask=None, other_mask=None):
    x, y = (filled(p, v, m, neutral("logaddexp", v.dtype))[0] for v, m in ((input, input_mask), (other, other_mask)))
    return p.convert(BUILDERS["logaddexp"](p, x, y), dtype or x.dtype)


@builds(M + "norm")
def norm(p, input, ord=2.0, dim=None, keepdim=False, dtype=None, mask=None):
    if is_complex(input.dtype):
        raise NotShared("norm takes no complex numbers")
    x, _ = filled(p, input, mask, math.inf if ord == -math.inf else 0)
    return BUILDERS["linalg.vector_norm"](p, x, 2.0 if ord is None else ord, dim, keepdim, dtype)


@builds(M + "normalize")
def normalize(p, input, ord, dim, eps=1e-12, dtype=None, mask=None):
    x, _ = filled(p, input, mask, 0)
    n = norm(p, input, ord, dim, True, dtype, mask)
    n = p.same("maximum", n, p.constant(eps, n.dtype, n.shape))
    return p.same("div", x, p.spread(p.convert(n, x.dtype), x.shape))
