"""Builders for running results, differences and areas along an axis, and moments of several variables."""
import math

from aten_ops import BUILDERS, axis_of, builds, float_of
from aten_order import lines
from aten_reduce import summed_type
from aten_text import NotShared, is_complex, is_float, promote


@builds("cumprod")
def cumprod(p, input, dim, dtype=None):
    t = summed_type(input, dtype)
    if is_complex(t):
        raise NotShared("cumprod takes no complex numbers")
    y, d = lines(p, p.convert(p.tensor(input), t), dim)
    return p.reshape(p.same("cumprod", y, axis=d), input.shape)


def running_extreme(name):
    def build(p, input, dim):
        y, d = lines(p, input, dim)
        values = p.same(name, y, axis=d)
        return [p.reshape(values, input.shape), p.place_of(y, d, values, 1)]
    return build


BUILDERS["cummax"], BUILDERS["cummin"] = running_extreme("cummax"), running_extreme("cummin")


@builds("logcumsumexp")
def logcumsumexp(p, input, dim):
    """Its definition: at each place the logsumexp of the elements up to it, those behind being -inf."""
    if is_complex(input.dtype):
        raise NotShared("logsumexp takes no complex numbers")
    y, d = lines(p, input, dim)
    s, n = y.shape, y.shape[d]
    shape = s[:d] + [n] + s[d:]
    all_of = p.op("broadcast", y, out=(y.dtype, shape), dims=[k if k < d else k + 1 for k in range(len(s))])
    up_to = p.op("le", p.iota("i64", shape, d + 1), p.iota("i64", shape, d), out=("bool", shape))
    return p.reshape(p.reduce("logsumexp", p.choose(up_to, all_of, -math.inf), [d + 1]), input.shape)


@builds("diff")
def diff(p, input, n=1, dim=-1, prepend=None, append=None):
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape))
    x = p.concat([p.tensor(t) for t in (prepend, input, append) if t is not None], d) if n else x
    for _ in range(min(n, x.shape[d])):
        later, earlier = p.slice(x, d, 1, x.shape[d]), p.slice(x, d, 0, max(x.shape[d] - 1, 0))
        x = p.same("xor" if x.dtype == "bool" else "sub", later, earlier)
    return x


def strips(p, y, x, dx, dim):
    """Twice the area between each two neighbours, and the axis; the half is taken of the whole."""
    v = p.tensor(y)
    if v.dtype == "bool":
        raise NotShared("areas of bools")
    d = axis_of(dim, len(v.shape))
    n = v.shape[d]
    if x is not None:
        at = p.tensor(x)
        at = p.reshape(at, [1] * d + at.shape + [1] * (len(v.shape) - d - 1)) if len(at.shape) == 1 else at
        at = p.convert(at, v.dtype)
        width = diff(p, at, 1, d if len(at.shape) == len(v.shape) else dim)
    ends = p.same("add", p.slice(v, d, 1, n), p.slice(v, d, 0, max(n - 1, 0)))
    return p.binary("mul", ends, width) if x is not None else ends, d


def areas(p, y, x, dx, dim, running):
    s, d = strips(p, y, x, dx, dim)
    t, s = float_of(s.dtype), p.convert(s, summed_type(s, None))
    r = p.same("cumsum", s, axis=d) if running else p.reduce("reduce_sum", s, [d])
    return p.binary("mul", p.convert(r, t), (1 if x is not None else dx) / 2)


for name, running in (("trapezoid", False), ("trapz", False), ("cumulative_trapezoid", True)):
    BUILDERS[name] = lambda p, y, x=None, dx=1, dim=-1, running=running: areas(p, y, x, dx, dim, running)


def adjoint(p, x):
    x = p.same("conj", x) if is_complex(x.dtype) else x
    return p.transpose(x, [1, 0])


def promoted(p, name, x, y):
    """An operation of two values in the dtype that holds both; one without axes gives way to one with them."""
    t = promote(x.dtype, y.dtype) if not x.shape or y.shape or not is_float(x.dtype) else x.dtype
    return p.binary(name, p.convert(x, t), p.convert(y, t))


@builds("cov")
def cov(p, input, correction=1, fweights=None, aweights=None):
    """Rows are variables: the weighted products of what differs from the means, over the sum of weights less a correction. Weights
    keep their own dtypes."""
    x = p.tensor(input)
    if x.dtype == "bool":
        raise NotShared("a mean of bools")
    x = p.convert(x, float_of(x.dtype))
    v = p.reshape(x, [1, math.prod(x.shape)]) if len(x.shape) < 2 else x
    weights = [p.tensor(w) for w in (fweights, aweights) if w is not None]
    w = promoted(p, "mul", *weights) if len(weights) > 1 else weights[0] if weights else None
    sums = lambda t: p.reduce("reduce_sum", t, [0])
    total = p.constant(v.shape[1], "i64") if w is None else sums(w)
    mean = promoted(p, "div", p.reduce("reduce_sum", v if w is None else promoted(p, "mul", v, w), [1], True), p.convert(total, float_of(total.dtype)))
    d = promoted(p, "sub", v, mean)
    left, right = (d if w is None else promoted(p, "mul", d, w)), adjoint(p, d)
    products = p.op("matmul", left, p.convert(right, left.dtype), out=(left.dtype, [v.shape[0]] * 2))
    taken = p.constant(correction, total.dtype)
    if aweights is not None and correction:
        taken = p.binary("mul", promoted(p, "div", sums(promoted(p, "mul", w, p.tensor(aweights))), total), correction)
    by = p.binary("maximum", promoted(p, "sub", total, taken), 0)
    r = p.binary("div", products, p.convert(by, products.dtype))
    return p.reshape(r, []) if r.shape == [1, 1] else r


@builds("corrcoef")
def corrcoef(p, input):
    c = cov(p, input)
    if is_complex(c.dtype):
        raise NotShared("parts are cut to [-1, 1]")
    if not c.shape:
        return p.same("div", c, c)
    n = c.shape[0]
    deviations = p.same("sqrt", p.op("diagonal", c, out=(c.dtype, [n])))
    r = p.binary("div", p.binary("div", c, p.reshape(deviations, [n, 1])), deviations)
    return p.same("minimum", p.same("maximum", r, p.constant(-1, c.dtype, r.shape)), p.constant(1, c.dtype, r.shape))


@builds("nanmean")
def nanmean(p, input, dim=None, keepdim=False, dtype=None):
    x = p.tensor(input)
    if not is_float(x.dtype):
        raise NotShared("NaN of what has none")
    number = p.same("not", p.op("is_nan", x, out=("bool", x.shape)))
    count = BUILDERS["count_nonzero"](p, number, dim)
    sums = BUILDERS["nansum"](p, x, dim, keepdim, dtype)
    return p.same("div", sums, p.reshape(p.convert(count, sums.dtype), sums.shape))
