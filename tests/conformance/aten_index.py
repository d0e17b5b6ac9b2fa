"""Builders for shapes and positions: views, joins, slices, gathers and scatters, creation."""
import math

from aten_ops import BUILDERS, axes_of, axis_of, builds
from aten_reduce import scalar_axis
from aten_text import DType, NotShared, Tensor, promote


def sizes(args):
    return list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)


def solved(shape, count):
    """The one -1 of a shape, found."""
    shape = list(shape)
    if -1 in shape:
        rest = math.prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = count // rest if rest else 0
    return shape


@builds("reshape", "view", "view_copy")
def reshape(p, input, *shape):
    if shape and isinstance(shape[0], DType):
        raise NotShared("a view of other dtype")
    x = p.tensor(input)
    return p.reshape(x, solved(sizes(shape), math.prod(x.shape)))


@builds("reshape_as", "view_as")
def reshape_as(p, input, other):
    return p.reshape(p.tensor(input), other.shape)


@builds("flatten", "ravel")
def flatten(p, input, start_dim=0, end_dim=-1):
    x = p.tensor(input)
    s = scalar_axis(x)
    a, b = axis_of(start_dim, len(s)), axis_of(end_dim, len(s))
    return p.reshape(x, s[:a] + [math.prod(s[a:b + 1])] + s[b + 1:])


@builds("unflatten")
def unflatten(p, input, dim, shape):
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape))
    return p.reshape(x, x.shape[:d] + solved(shape, x.shape[d]) + x.shape[d + 1:])


@builds("permute", "permute_copy")
def permute(p, input, *dims):
    x = p.tensor(input)
    return p.transpose(x, [axis_of(d, len(x.shape)) for d in sizes(dims)]) if x.shape else x


@builds("transpose", "transpose_copy")
def transpose(p, input, a, b):
    x = p.tensor(input)
    perm = list(range(len(x.shape)))
    if perm:
        a, b = axis_of(a, len(perm)), axis_of(b, len(perm))
        perm[a], perm[b] = perm[b], perm[a]
    return p.transpose(x, perm)


@builds("t", "t_copy", "T")
def t(p, input):
    x = p.tensor(input)
    return p.transpose(x, reversed(range(len(x.shape))))


@builds("mT")
def matrix_t(p, input):
    return transpose(p, input, -2, -1)


@builds("movedim")
def movedim(p, input, source, destination):
    x = p.tensor(input)
    rank = len(x.shape)
    source, destination = [[axis_of(d, rank) for d in (v if isinstance(v, (list, tuple)) else [v])] for v in (source, destination)]
    rest = [d for d in range(rank) if d not in source]
    perm = [source[destination.index(d)] if d in destination else rest.pop(0) for d in range(rank)]
    return p.transpose(x, perm)


@builds("unsqueeze", "unsqueeze_copy")
def unsqueeze(p, input, dim):
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape) + 1)
    return p.reshape(x, x.shape[:d] + [1] + x.shape[d:])


@builds("squeeze", "squeeze_copy")
def squeeze(p, input, dim=None):
    x = p.tensor(input)
    axes = range(len(x.shape)) if dim is None else axes_of(dim, len(x.shape)) if dim != () else []
    return p.reshape(x, [n for d, n in enumerate(x.shape) if not (d in axes and n == 1)])


@builds("expand", "broadcast_to", "expand_copy")
def expand(p, input, *shape):
    x = p.tensor(input)
    shape = sizes(shape)
    lead = len(shape) - len(x.shape)
    return p.spread(x, [x.shape[d - lead] if n == -1 else n for d, n in enumerate(shape)])


@builds("expand_as")
def expand_as(p, input, other):
    return p.spread(p.tensor(input), other.shape)


@builds("flip")
def flip(p, input, *axes, dims=()):
    x, axes = p.tensor(input), sizes(axes) if axes else list(dims)
    axes = axes_of(axes, len(x.shape)) if axes else []
    return p.same("reverse", x, axes=axes) if axes else x


BUILDERS["fliplr"], BUILDERS["flipud"] = (lambda p, input: flip(p, input, 1)), (lambda p, input: flip(p, input, 0))


def joined(p, tensors, dim):
    xs = [p.tensor(x) for x in tensors]
    t = xs[0].dtype
    for x in xs[1:]:
        t = promote(t, x.dtype)
    xs = [p.convert(x, t) for x in xs if x.shape != [0] or all(y.shape == [0] for y in xs)]
    return p.concat(xs, axis_of(dim, len(xs[0].shape)))


@builds("cat")
def cat(p, tensors, dim=0):
    return joined(p, tensors, dim)


@builds("stack")
def stack(p, tensors, dim=0):
    xs = [p.tensor(x) for x in tensors]
    d = axis_of(dim, len(xs[0].shape) + 1)
    return p.concat([p.reshape(x, x.shape[:d] + [1] + x.shape[d:]) for x in xs], d)


def at_least(p, x, rank):
    x = p.tensor(x)
    s = x.shape
    return x if len(s) >= rank else p.reshape(x, [1] * (rank - len(s)) + s if rank < 3 else [1] + s + [1] if len(s) == 1 else s + [1] if len(s) == 2 else [1, 1, 1])


for name, rank, dim in (("vstack", 2, 0), ("hstack", 1, None), ("dstack", 3, 2)):
    BUILDERS[name] = lambda p, tensors, rank=rank, dim=dim: joined(p, [at_least(p, x, rank) for x in tensors], (0 if len(tensors[0].shape) <= 1 else 1) if dim is None else dim)


def cuts(p, x, d, bounds):
    return [p.slice(x, d, a, b) for a, b in zip(bounds, bounds[1:])]


@builds("split", "split_with_sizes", "split_with_sizes_copy", "unsafe_split")
def split(p, input, split_size, dim=0):
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape))
    n = x.shape[d]
    bounds = [0]
    for s in split_size if isinstance(split_size, (list, tuple)) else [split_size] * -(-n // split_size if split_size else 1):
        bounds.append(min(bounds[-1] + s, n))
    return cuts(p, x, d, bounds)


@builds("chunk", "unsafe_chunk")
def chunk(p, input, chunks, dim=0):
    n = input.shape[axis_of(dim, len(input.shape))]
    return split(p, input, max(-(-n // chunks), 1), dim)


@builds("unbind", "unbind_copy")
def unbind(p, input, dim=0):
    return [select(p, input, dim, k) for k in range(input.shape[axis_of(dim, len(input.shape))])]


@builds("narrow", "narrow_copy")
def narrow(p, input, dim, start, length):
    start = start.numbers()[0] if isinstance(start, Tensor) else start
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape))
    start = start + x.shape[d] if start < 0 else start
    return p.slice(x, d, start, start + length)


@builds("select")
def select(p, input, dim, index):
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape))
    k = index % x.shape[d]
    return p.reshape(p.slice(x, d, k, k + 1), x.shape[:d] + x.shape[d + 1:])


def region(n, start, end, step):
    start, end, _ = slice(start, end, step).indices(n)
    return start, max(start, end)


@builds("slice")
def slice_(p, input, dim=0, start=None, end=None, step=1):
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape))
    a, b = region(x.shape[d], start, end, step)
    return p.slice(x, d, a, b, step)


@builds("slice_scatter")
def slice_scatter(p, input, src, dim=0, start=None, end=None, step=1):
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape))
    starts, limits, strides = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
    starts[d], limits[d] = region(x.shape[d], start, end, step)
    strides[d] = step
    return p.same("slice_scatter", x, p.tensor(src), start=starts, limit=limits, stride=strides)


@builds("select_scatter")
def select_scatter(p, input, src, dim, index):
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape))
    k = index % x.shape[d]
    source = p.reshape(p.tensor(src), x.shape[:d] + [1] + x.shape[d + 1:])
    starts, limits = [0] * len(x.shape), list(x.shape)
    starts[d], limits[d] = k, k + 1
    return p.same("slice_scatter", x, source, start=starts, limit=limits)


@builds("diagonal", "diagonal_copy", "linalg.diagonal")
def diagonal(p, input, offset=0, dim1=None, dim2=None, default=(0, 1)):
    x = p.tensor(input)
    a, b = axis_of(default[0] if dim1 is None else dim1, len(x.shape)), axis_of(default[1] if dim2 is None else dim2, len(x.shape))
    n = min(x.shape[a] - max(-offset, 0), x.shape[b] - max(offset, 0))
    return p.op("diagonal", x, out=(x.dtype, [s for d, s in enumerate(x.shape) if d not in (a, b)] + [max(n, 0)]), offset=offset, axis1=a, axis2=b)


BUILDERS["linalg.diagonal"] = lambda p, A, offset=0, dim1=None, dim2=None: diagonal(p, A, offset, dim1, dim2, (-2, -1))


for name in ("tril", "triu"):
    BUILDERS[name] = lambda p, input, diagonal=0, plumb=name: p.same(plumb, p.tensor(input), diagonal=diagonal)


@builds("roll")
def roll(p, input, shifts, dims=()):
    x = p.tensor(input)
    shifts = list(shifts) if isinstance(shifts, (list, tuple)) else [shifts]
    dims = list(dims) if isinstance(dims, (list, tuple)) else [dims]
    if not dims:
        flat = p.reshape(x, [math.prod(x.shape)])
        return p.reshape(p.same("roll", flat, shifts=shifts, axes=[0]), x.shape)
    return p.same("roll", x, shifts=shifts, axes=[axis_of(d, len(x.shape)) for d in dims]) if x.shape else x


@builds("repeat")
def repeat(p, input, *repeats):
    x = p.tensor(input)
    r = sizes(repeats)
    shape = [1] * (len(r) - len(x.shape)) + x.shape
    return p.op("repeat", x, out=(x.dtype, [a * b for a, b in zip(shape, r)]), repeats=r)


@builds("tile")
def tile(p, input, *dims):
    r = sizes(dims)
    return repeat(p, input, [1] * (len(input.shape) - len(r)) + r)


@builds("rot90")
def rot90(p, input, k=1, dims=(0, 1)):
    x = p.tensor(input)
    a, b = (axis_of(d, len(x.shape)) for d in dims)
    k %= 4
    if k == 2:
        return p.same("reverse", x, axes=[a, b])
    if k == 0:
        return x
    perm = list(range(len(x.shape)))
    perm[a], perm[b] = perm[b], perm[a]
    return p.transpose(p.same("reverse", x, axes=[b]), perm) if k == 1 else p.same("reverse", p.transpose(x, perm), axes=[b])


@builds("as_strided", "as_strided_copy", "aten.as_strided")
def as_strided(p, input, size, stride, storage_offset=None):
    x = p.tensor(input)
    last = (storage_offset or 0) + sum((n - 1) * s for n, s in zip(size, stride))
    if math.prod(size) and last >= math.prod(x.shape) or getattr(input, "is_view", False):
        raise NotShared("it reads storage that the sample's tensor does not show")
    return p.op("as_strided", x, out=(x.dtype, size), size=list(size), strides=list(stride), offset=storage_offset or 0)


# ── creation and conversion ──
for name, dtype in {"bool": "bool", "byte": "u8", "char": "i8", "short": "i16", "int": "i32", "long": "i64", "half": "f16", "bfloat16": "bf16", "float": "f32", "double": "f64"}.items():
    BUILDERS[name] = lambda p, input, memory_format=None, dtype=dtype: p.convert(p.tensor(input), dtype)


@builds("full_like", "zeros_like", "ones_like", "fill", "fill_")
def full_like(p, input, fill_value=None, dtype=None, layout=None, device=None, value=None):
    v = fill_value if value is None else value
    if isinstance(v, Tensor):
        return p.spread(p.convert(p.tensor(v), input.dtype), input.shape)
    return p.constant(v, dtype or input.dtype, input.shape)


BUILDERS["zeros_like"] = lambda p, input, dtype=None, layout=None, device=None: p.constant(0, dtype or input.dtype, input.shape)
BUILDERS["ones_like"] = lambda p, input, dtype=None, layout=None, device=None: p.constant(1, dtype or input.dtype, input.shape)
BUILDERS["new_zeros"] = lambda p, input, *size, dtype=None, layout=None, device=None: p.constant(0, dtype or input.dtype, sizes(size))
BUILDERS["new_ones"] = lambda p, input, *size, dtype=None, layout=None, device=None: p.constant(1, dtype or input.dtype, sizes(size))
BUILDERS["new_full"] = lambda p, input, size, fill_value, dtype=None, layout=None, device=None: p.constant(fill_value, dtype or input.dtype, size)
BUILDERS["full"] = lambda p, size, fill_value, dtype=None, device=None: p.constant(fill_value, dtype or "f32", size)


@builds("eye")
def eye(p, n, m=None, dtype=None, device=None, requires_grad=False):
    s = [n, n if m is None else m]
    if dtype is None:
        dtype = "f32"
    if 0 in s:
        return p.constant(0, dtype, s)
    return p.convert(p.op("eq", p.iota("i64", s, 0), p.iota("i64", s, 1), out=("bool", s)), dtype)


# ── padding and patches ──
@builds("nn.functional.pad", "constant_pad_nd", "aten.constant_pad_nd")
def pad(p, input, pad, mode="constant", value=None):
    if isinstance(mode, (int, float, complex)):
        mode, value = "constant", mode
    x = p.tensor(input)
    rank = len(x.shape)
    low, high = [0] * rank, [0] * rank
    for k in range(len(pad) // 2):
        low[rank - 1 - k], high[rank - 1 - k] = pad[2 * k], pad[2 * k + 1]
    shape = [n + a + b for n, a, b in zip(x.shape, low, high)]
    if mode == "constant":
        return p.op("pad", x, p.constant(value or 0, x.dtype), out=(x.dtype, shape), low=low, high=high)
    return p.op({"reflect": "reflection_pad", "replicate": "replication_pad", "circular": "circular_pad"}[mode], x, out=(x.dtype, shape), low=low, high=high)


for rank in (1, 2, 3):
    for mode, word in (("reflection", "reflect"), ("replication", "replicate")):
        BUILDERS[f"aten.{mode}_pad{rank}d"] = lambda p, input, padding, word=word: pad(p, input, padding, word)
