"""Builders for elementwise functions of one line or two, made of Plumb's; and windows of signals."""
import math

from aten_ops import BUILDERS, builds, float_of, pair
from aten_text import NARROW, NotShared, is_complex, is_float, result_type


def floats(p, *xs):
    """The operands in the float dtype that PyTorch gives, broadcast."""
    t = float_of(result_type(*xs))
    if len(xs) == 1:
        return [p.convert(p.tensor(xs[0]), t)]
    return list(pair(p, *xs, t)[:2])


def one(f):
    """A builder of one operand, made of a function of a float."""
    def build(p, input):
        return f(p, floats(p, input)[0])
    return build


def two(f):
    def build(p, input, other):
        t = float_of(result_type(input, other))
        return p.convert(f(p, *floats(p, input, other)), t)
    return build


def scaled(by):
    return one(lambda p, x: p.convert(p.binary("mul", p.convert(x, "f32") if x.dtype in NARROW else x, by), x.dtype))


BUILDERS["deg2rad"], BUILDERS["rad2deg"] = scaled(math.pi / 180), scaled(180 / math.pi)
BUILDERS["frac"] = one(lambda p, x: p.same("sub", x, p.same("trunc", x)))
BUILDERS["special.entr"] = one(lambda p, x: p.choose(p.binary("eq", x, 0), p.constant(0, x.dtype, x.shape), p.choose(p.binary("lt", x, 0), -math.inf, p.same("neg", p.same("mul", x, p.same("log", x))))))


def sinc(p, x):
    y = p.binary("mul", x, math.pi)
    return p.choose(p.binary("eq", x, 0), p.constant(1, x.dtype, x.shape), p.same("div", p.same("sin", y), y))


BUILDERS["sinc"] = one(sinc)


@builds("logit")
def logit(p, input, eps=None):
    x = floats(p, input)[0]
    if eps is not None:
        x = p.same("minimum", p.same("maximum", x, p.constant(eps, x.dtype, x.shape)), p.constant(1 - eps, x.dtype, x.shape))
    return p.same("log", p.same("div", x, p.binary("add", p.same("neg", x), 1)))


def sign_of_infinity(positive):
    def build(p, input):
        x = p.tensor(input)
        return p.binary("eq", x, math.inf if positive else -math.inf) if is_float(x.dtype) else p.constant(False, "bool", x.shape)
    return build


BUILDERS["isposinf"], BUILDERS["isneginf"] = sign_of_infinity(True), sign_of_infinity(False)


def number_rather(plumb):
    """The extreme of two, and of a number and NaN the number."""
    def build(p, input, other):
        x, y, t = pair(p, input, other)
        if not is_float(t):
            return p.same(plumb, x, y)
        nan = lambda v: p.op("is_nan", v, out=("bool", v.shape))
        return p.choose(nan(x), y, p.choose(nan(y), x, p.same(plumb, x, y)))
    return build


BUILDERS["fmax"], BUILDERS["fmin"] = number_rather("maximum"), number_rather("minimum")


@builds("copysign")
def copysign(p, input, other):
    x, y = floats(p, input, other)
    size = p.same("abs", x)
    return p.convert(p.choose(p.op("sign_bit", y, out=("bool", y.shape)), p.same("neg", size), size), float_of(result_type(input, other)))


@builds("heaviside")
def heaviside(p, input, values):
    x, v = pair(p, input, values)[:2]
    if x.dtype == "bool":
        raise NotShared("steps of bools")
    step = p.convert(p.binary("gt", x, 0), x.dtype)
    return p.choose(p.binary("eq", x, 0), v, step)


def logaddexp(base):
    e, log = ("exp2", "log2") if base == 2 else ("exp", "log1p")
    def f(p, x, y):
        m = p.same("maximum", x, y)
        d = p.same("neg", p.same("abs", p.same("sub", x, y)))
        if base == 2:
            r = p.same("add", m, p.same("log2", p.binary("add", p.same("exp2", d), 1)))
        else:
            r = p.same("add", m, p.same("log1p", p.same("exp", d)))
        infinite = p.same("and", p.op("is_inf", x, out=("bool", x.shape)), p.op("eq", x, y, out=("bool", x.shape)))
        return p.choose(infinite, x, r)
    return two(f)


BUILDERS["logaddexp"], BUILDERS["logaddexp2"] = logaddexp(math.e), logaddexp(2)


def times_log(log):
    """x times the logarithm of y; 0 where x is, but for y NaN."""
    def f(p, x, y):
        r = p.choose(p.binary("eq", x, 0), p.constant(0, x.dtype, x.shape), p.same("mul", x, p.same(log, y)))
        return p.choose(p.op("is_nan", y, out=("bool", y.shape)), y, r)
    return two(f)


BUILDERS["xlogy"], BUILDERS["special.xlog1py"] = times_log("log"), times_log("log1p")


@builds("ldexp")
def ldexp(p, input, other):
    t = float_of(result_type(input, other))
    if is_complex(t):
        raise NotShared("exp2 takes no complex numbers")
    x, y = pair(p, input, other, t)[:2]
    return p.same("mul", x, p.same("exp2", y))


@builds("isclose")
def isclose(p, input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """|x - y| <= atol + rtol |y| of finite numbers, or equal; NaN equals NaN where that is wanted."""
    x, y, t = pair(p, input, other)
    if is_complex(t):
        raise NotShared("bounds beside complex numbers")
    close = p.op("eq", x, y, out=("bool", x.shape))
    is_nan = lambda v: p.op("is_nan", v, out=("bool", v.shape))
    if equal_nan and is_float(t):
        close = p.same("or", close, p.same("and", is_nan(x), is_nan(y)))
    if not rtol and not atol:
        return close
    if not is_float(t):
        x, y = p.convert(x, "f32"), p.convert(y, "f32")
    bound = p.binary("add", p.binary("mul", p.same("abs", y), rtol), atol)
    apart = p.same("abs", p.same("sub", x, y))
    near = p.same("and", p.op("is_finite", apart, out=("bool", x.shape)), p.op("le", apart, bound, out=("bool", x.shape)))
    return p.same("or", close, near)


@builds("nextafter")
def nextafter(p, input, other):
    """One step of the bits, away from zero or towards it; out of zero the least number with the other's sign."""
    x, y, t = pair(p, input, other)
    if t not in ("f32", "f64", "bf16"):
        raise NotShared("steps of other floats")
    w = {"f32": "i32", "f64": "i64", "bf16": "i16"}[t]
    bits = p.op("bitcast", x, out=(w, x.shape), dtype=w)
    up = p.op("eq", p.op("gt", y, x, out=("bool", x.shape)), p.binary("gt", x, 0), out=("bool", x.shape))
    stepped = p.choose(up, p.binary("add", bits, 1), p.binary("sub", bits, 1))
    least = p.choose(p.binary("gt", y, 0), p.constant(1, w, x.shape), p.constant(-(2 ** (int(w[1:]) - 1)) + 1, w, x.shape))
    stepped = p.op("bitcast", p.choose(p.binary("eq", x, 0), least, stepped), out=(t, x.shape), dtype=t)
    r = p.choose(p.op("eq", x, y, out=("bool", x.shape)), y, stepped)
    return p.choose(p.op("is_nan", y, out=("bool", y.shape)), y, p.choose(p.op("is_nan", x, out=("bool", x.shape)), x, r))


# ── windows of signals ──
def angles(p, M, sym, t, inner):
    """2 pi k / (M - 1), or / M without symmetry, k = 0 … M - 1."""
    k = p.convert(p.iota("i64", [M]), inner)
    return k, M - 1 if sym and M > 1 else M


def cosines(p, M, a, sym, dtype):
    t = dtype or "f32"
    if not M:
        return p.constant(0, t, [0])
    if M == 1:
        return p.constant(1, t, [1])
    inner = "f64" if t == "f64" else "f32"
    k, n = angles(p, M, sym, t, inner)
    theta = p.binary("mul", k, 2 * math.pi / n)
    total = p.constant(a[0], inner, [M])
    for j, c in enumerate(a[1:], 1):
        total = p.same("add", total, p.binary("mul", p.same("cos", p.binary("mul", theta, j)), (-1) ** j * c))
    return p.convert(total, t)


W = "signal.windows."
COSINES = {"hann": [0.5, 0.5], "hamming": [0.54, 0.46], "blackman": [0.42, 0.5, 0.08], "nuttall": [0.3635819, 0.4891775, 0.1365995, 0.0106411]}
for name, a in COSINES.items():
    BUILDERS[W + name] = lambda p, M, sym=True, dtype=None, device=None, requires_grad=False, a=a: cosines(p, M, a, sym, dtype)
BUILDERS[W + "general_cosine"] = lambda p, M, a, sym=True, dtype=None, device=None, requires_grad=False: cosines(p, M, list(a), sym, dtype)
BUILDERS[W + "general_hamming"] = lambda p, M, alpha=0.54, sym=True, dtype=None, device=None, requires_grad=False: cosines(p, M, [alpha, 1 - alpha], sym, dtype)


def shaped(p, M, sym, dtype, f):
    """f of the places from -(M - 1) / 2 to (M - 1) / 2, in f64 for f64; without symmetry as if there were one more."""
    t = dtype or "f32"
    if M < 2:
        return p.constant(1, t, [M])
    inner = "f64" if t == "f64" else "f32"
    n = M if sym else M + 1
    return p.convert(f(p.binary("sub", p.convert(p.iota("i64", [M]), inner), (n - 1) / 2), n), t)


@builds(W + "gaussian")
def gaussian(p, M, std=1.0, sym=True, dtype=None, device=None, requires_grad=False):
    def f(k, n):
        k = p.binary("mul", k, 1 / (std * math.sqrt(2)))
        return p.same("exp", p.same("neg", p.same("mul", k, k)))
    return shaped(p, M, sym, dtype, f)


@builds(W + "bartlett")
def bartlett(p, M, sym=True, dtype=None, device=None, requires_grad=False):
    return shaped(p, M, sym, dtype, lambda k, n: p.binary("add", p.same("neg", p.same("abs", p.binary("mul", k, 2 / (n - 1)))), 1))


@builds(W + "cosine")
def cosine(p, M, sym=True, dtype=None, device=None, requires_grad=False):
    return shaped(p, M, sym, dtype, lambda k, n: p.same("cos", p.binary("mul", k, math.pi / n)))
