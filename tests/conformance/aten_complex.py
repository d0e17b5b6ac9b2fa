"""Builders for complex numbers, and for Fourier transforms."""
import math

from aten_ops import BUILDERS, axes_of, axis_of, builds
from aten_text import NotShared, broadcast, complex_of, is_complex, is_float, part


def parts(p, x):
    return [p.op(which, x, out=(part(x.dtype), x.shape)) for which in ("real", "imag")]


def to_complex(p, x):
    return x if is_complex(x.dtype) else p.convert(x, complex_of(x.dtype if is_float(x.dtype) else "f32"))


def conjugate(p, x):
    return p.same("conj", x) if is_complex(x.dtype) else x


@builds("real")
def real(p, input):
    x = p.tensor(input)
    return parts(p, x)[0] if is_complex(x.dtype) else x


@builds("imag")
def imag(p, input):
    return parts(p, p.tensor(input))[1]


@builds("conj", "conj_physical", "_conj_physical")
def conj(p, input):
    return conjugate(p, p.tensor(input))


@builds("mH", "H")
def adjoint(p, input):
    x = conjugate(p, p.tensor(input))
    n = len(x.shape)
    return p.transpose(x, list(range(n - 2)) + [n - 1, n - 2]) if n else x


@builds("angle")
def angle(p, input):
    x = p.tensor(input)
    if not is_float(x.dtype) and not is_complex(x.dtype):
        x = p.convert(x, "f32")
    return p.op("angle", x, out=(part(x.dtype), x.shape))


@builds("complex")
def complex_(p, real, imag):
    x, y = p.tensor(real), p.tensor(imag)
    s = broadcast(x.shape, y.shape)
    return p.op("complex", p.spread(x, s), p.spread(y, s), out=(complex_of(x.dtype), s))


@builds("polar")
def polar(p, abs, angle):
    r, a = p.tensor(abs), p.tensor(angle)
    s = broadcast(r.shape, a.shape)
    r, a = p.spread(r, s), p.spread(a, s)
    return p.op("complex", *[p.same("mul", r, p.same(f, a)) for f in ("cos", "sin")], out=(complex_of(r.dtype), r.shape))


@builds("view_as_real", "view_as_real_copy")
def view_as_real(p, input):
    x = p.tensor(input)
    return p.concat([p.reshape(v, x.shape + [1]) for v in parts(p, x)], len(x.shape))


@builds("view_as_complex", "view_as_complex_copy")
def view_as_complex(p, input):
    x = p.tensor(input)
    d = len(x.shape) - 1
    halves = [p.reshape(p.slice(x, d, k, k + 1), x.shape[:-1]) for k in (0, 1)]
    return p.op("complex", *halves, out=(complex_of(x.dtype), x.shape[:-1]))


for name, dtype in (("cfloat", "c64"), ("cdouble", "c128"), ("chalf", None)):
    def convert(p, input, memory_format=None, dtype=dtype):
        if dtype is None:
            raise NotShared("complex numbers of half floats")
        return p.convert(p.tensor(input), dtype)
    BUILDERS[name] = convert


@builds("isreal")
def isreal(p, input):
    x = p.tensor(input)
    if not is_complex(x.dtype):
        return p.constant(True, "bool", x.shape)
    return p.binary("eq", parts(p, x)[1], 0)


@builds("sgn")
def sgn(p, input):
    x = p.tensor(input)
    if not is_complex(x.dtype):
        return BUILDERS["sign"](p, input)
    size = p.op("abs", x, out=(part(x.dtype), x.shape))
    return p.choose(p.binary("eq", size, 0), 0, p.same("div", x, p.convert(size, x.dtype)))


# ── transforms ──
OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def resized(p, x, axis, n):
    """The first n elements along an axis, 0 behind them where there are fewer."""
    have = x.shape[axis]
    if n < 1:
        raise NotShared("a transform of no element")
    if n <= have:
        return x if n == have else p.slice(x, axis, 0, n)
    high = [n - have if d == axis else 0 for d in range(len(x.shape))]
    return p.op("pad", x, p.constant(0, x.dtype), out=(x.dtype, [a + b for a, b in zip(x.shape, high)]), low=[0] * len(high), high=high)


def transform(p, x, sizes, axes, norm, kind):
    """sizes, an entry an axis or None, are those of the longer side: of real x where the transform is real."""
    rank = len(x.shape)
    axes = [axis_of(a, rank) for a in axes]
    if not axes:
        return to_complex(p, x)
    if len(set(axes)) != len(axes):
        raise NotShared("an axis twice")
    norm, last = norm or "backward", axes[-1]
    sizes = [x.shape[a] if n in (None, -1) else n for n, a in zip(sizes, axes)] if sizes else [x.shape[a] for a in axes]
    if kind in ("fft", "ifft"):
        x = to_complex(p, x)
    elif kind == "rfft":
        x = p.convert(x, x.dtype if is_float(x.dtype) else "f32")
        if x.dtype not in ("f32", "f64"):
            raise NotShared("transforms of half floats")
    for a, n in zip(axes, sizes):
        x = resized(p, x, a, n)
    shape = list(x.shape)
    if kind == "rfft":
        shape[last] = shape[last] // 2 + 1
    return p.op(kind, x, out=(complex_of(x.dtype), shape), axes=axes, norm=norm)


def back_to_real(p, x, sizes, axes, norm):
    rank = len(x.shape)
    axes = [axis_of(a, rank) for a in axes]
    if not axes or len(set(axes)) != len(axes):
        raise NotShared("no axis, or one twice")
    x, last = to_complex(p, x), axes[-1]
    sizes = [None if n == -1 else n for n in (sizes or [None] * len(axes))]
    length = 2 * (x.shape[last] - 1) if sizes[-1] is None else sizes[-1]
    if length < 1:
        raise NotShared("a transform of no element")
    for a, n in zip(axes, sizes[:-1]):
        x = x if n is None else resized(p, x, a, n)
    x = resized(p, x, last, length // 2 + 1)
    shape = [length if d == last else n for d, n in enumerate(x.shape)]
    return p.op("irfft", x, out=(part(x.dtype), shape), axes=axes, length=length, norm=norm or "backward")


def which_axes(x, s, dim, default):
    if dim is not None:
        dim = list(dim) if isinstance(dim, (list, tuple)) else [dim]
    elif s is not None:
        dim = list(range(-len(s), 0))
    else:
        dim = list(range(len(x.shape))) if default is None else list(default)
    return list(s) if s is not None else None, dim


def apply(p, kind, x, s, axes, norm):
    if kind in ("fft", "ifft", "rfft"):
        return transform(p, x, s, axes, norm, kind)
    if kind == "irfft":
        return back_to_real(p, x, s, axes, norm)
    opposite = OPPOSITE[norm or "backward"]
    if kind == "hfft":
        return back_to_real(p, conjugate(p, to_complex(p, x)), s, axes, opposite)
    return conjugate(p, transform(p, x, s, axes, opposite, "rfft"))


for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    BUILDERS[f"fft.{kind}"] = lambda p, input, n=None, dim=-1, norm=None, kind=kind: apply(p, kind, p.tensor(input), None if n is None else [n], [dim], norm)
    for suffix, default in (("2", (-2, -1)), ("n", None)):
        def build(p, input, s=None, dim=default, norm=None, kind=kind, default=default):
            x = p.tensor(input)
            sizes, axes = which_axes(x, s, dim, default)
            return apply(p, kind, x, sizes, axes, norm)
        BUILDERS[f"fft.{kind}{suffix}"] = build


@builds("fft.fftshift", "fft.ifftshift")
def shifted(p, input, dim=None, back=False):
    x = p.tensor(input)
    axes = axes_of(dim, len(x.shape))
    return p.same("roll", x, shifts=[-(x.shape[a] // 2) if back else x.shape[a] // 2 for a in axes], axes=axes) if math.prod(x.shape) else x


BUILDERS["fft.ifftshift"] = lambda p, input, dim=None: shifted(p, input, dim, True)
