"""Builders for updates at positions that tensors hold, and for diagonals."""
import math

from aten_ops import BUILDERS, axis_of, builds, pair
from aten_positions import within
from aten_text import NotShared, Tensor, Value, is_complex, is_float

MODES = {"sum": "add", "add": "add", "prod": "mul", "multiply": "mul", "amax": "max", "amin": "min"}


def source_of(p, src, at, dtype):
    """The updates: a number everywhere, or the part of src that the index reaches."""
    if not isinstance(src, (Tensor, Value)):
        return p.constant(src, dtype, at.shape)
    s = p.tensor(src)
    if len(s.shape) != len(at.shape):
        raise NotShared("a source of another rank than its index")
    for d, n in enumerate(at.shape):
        s = s if s.shape[d] == n else p.slice(s, d, 0, n)
    return s


def scattered(p, x, d, at, s, mode):
    """scatter_elements, also of bools, where a sum is or, and a product and."""
    if x.dtype == "bool" and mode in ("add", "mul"):
        mode = {"add": "max", "mul": "min"}[mode]
    return p.same("scatter_elements", x, at, s, axis=d, mode=mode)


def vectors(p, input, index, src):
    """x, index and source, each with an axis."""
    x, at = p.tensor(input), p.tensor(index)
    s = src if not isinstance(src, (Tensor, Value)) else p.tensor(src)
    if not x.shape:
        x = p.reshape(x, [1])
    if not at.shape:
        at = p.reshape(at, [1])
    if isinstance(s, Value) and not s.shape:
        s = p.reshape(s, [1])
    return x, at, s


@builds("scatter", "aten.scatter.src", "aten.scatter.value")
def scatter(p, input, dim, index, src=None, reduce=None, value=None):
    x, at, s = vectors(p, input, index, value if src is None else src)
    mode = "replace" if reduce is None else MODES[reduce]
    s = source_of(p, s, at, x.dtype)
    return p.reshape(scattered(p, x, axis_of(dim, len(x.shape)), at, s, mode), input.shape)


@builds("scatter_add")
def scatter_add(p, input, dim, index, src):
    return scatter(p, input, dim, index, src, "add")


def cleared(p, x, d, at, mode):
    """x with what the mode leaves unchanged in each place that an index names."""
    neutral = 0 if mode == "add" else 1 if mode == "mul" else limit(x.dtype, mode == "max")
    return p.same("scatter_elements", x, at, p.constant(neutral, x.dtype, at.shape), axis=d, mode="replace")


def limit(t, least):
    if t == "bool":
        return not least
    if is_float(t):
        return -math.inf if least else math.inf
    bits = int(t[1:])
    low, high = (0, 2**bits - 1) if t[0] == "u" else (-2**(bits - 1), 2**(bits - 1) - 1)
    return low if least else high


@builds("scatter_reduce", "aten.scatter_reduce.two")
def scatter_reduce(p, input, dim, index, src, reduce, include_self=True):
    x, at, s = vectors(p, input, index, src)
    d, s = axis_of(dim, len(x.shape)), source_of(p, s, at, x.dtype)
    if reduce != "mean":
        mode = MODES[reduce]
        start = x if include_self else cleared(p, x, d, at, mode)
        return p.reshape(scattered(p, start, d, at, s, mode), input.shape)
    start = x if include_self else cleared(p, x, d, at, "add")
    total = scattered(p, start, d, at, s, "add")
    count = p.constant(1 if include_self else 0, "i64", x.shape)
    count = p.same("scatter_elements", count, at, p.constant(1, "i64", at.shape), axis=d, mode="add")
    count = p.convert(p.binary("maximum", count, 1), x.dtype)
    return p.reshape(p.same("div" if is_float(x.dtype) or is_complex(x.dtype) else "floor_div", total, count), input.shape)


# ── along an axis, whole slices ──
def along(p, input, dim, index, source):
    """x, the axis, the index as one element a slice (broadcast to the source), the source."""
    x = p.tensor(input)
    x = x if x.shape else p.reshape(x, [1])
    d = axis_of(dim, len(x.shape))
    at = p.tensor(index)
    at = p.reshape(at, [math.prod(at.shape)])
    shape = x.shape[:d] + at.shape + x.shape[d + 1:]
    at = p.op("broadcast", at, out=(at.dtype, shape), dims=[d])
    if isinstance(source, (Tensor, Value)) and (len(source.shape) == len(shape) or math.prod(source.shape) == math.prod(shape) != 1):
        s = p.reshape(p.tensor(source), shape)
    else:
        s = p.spread(p.number(source, x.dtype), shape)
    return x, d, at, p.convert(s, x.dtype)


@builds("index_copy")
def index_copy(p, input, dim, index, source):
    x, d, at, s = along(p, input, dim, index, source)
    return p.reshape(p.same("scatter_elements", x, at, s, axis=d, mode="replace"), input.shape)


@builds("index_fill")
def index_fill(p, input, dim, index, value):
    return index_copy(p, input, dim, index, value)


@builds("index_add")
def index_add(p, input, dim, index, source, alpha=1):
    x, d, at, s = along(p, input, dim, index, source)
    if alpha != 1:
        s = p.same("and" if s.dtype == "bool" else "mul", s, p.constant(alpha, s.dtype, s.shape))
    return p.reshape(scattered(p, x, d, at, s, "add"), input.shape)


@builds("index_reduce")
def index_reduce(p, input, dim, index, source, reduce, include_self=True):
    x, d, at, s = along(p, input, dim, index, source)
    return p.reshape(scatter_reduce(p, x, d, at, s, reduce, include_self), input.shape)


@builds("index_put", "aten.index_put", "_unsafe_index_put")
def index_put(p, input, indices, values, accumulate=False):
    x, items = p.tensor(input), list(indices)
    axes = [d for d, i in enumerate(items) if i is not None]
    at = [p.tensor(items[d]) for d in axes]
    if x.dtype == "bool" and accumulate:
        raise NotShared("a sum of bools")
    if any(i.dtype == "bool" for i in at):
        return put_where(p, x, items, p.tensor(values), accumulate)
    return p.same("index_put", x, p.tensor(values), *at, axes=axes, mode="add" if accumulate else "replace")


def put_where(p, x, items, values, accumulate):
    """One mask: a number goes to each of its places, a vector's elements to one each, in order."""
    if len(items) != 1 or items[0].shape != x.shape or len(values.shape) > 1:
        raise NotShared("a mask beside other indices, or over some of the axes: the number of places is in the data")
    mask = p.tensor(items[0])
    if math.prod(values.shape) == 1:
        given = p.spread(p.reshape(values, []), x.shape)
    else:
        given = p.same("masked_scatter", x, mask, values)
    return p.choose(mask, p.same("add", x, given) if accumulate else given, x)


@builds("_unsafe_masked_index_put_accumulate")
def unsafe_put(p, input, mask, indices, values):
    x, m = p.tensor(input), p.tensor(mask)
    if x.dtype == "bool":
        raise NotShared("a sum of bools")
    at = [(d, within(p, p.tensor(i), x.shape[d])) for d, i in enumerate(indices) if i is not None]
    return p.same("index_put", x, p.choose(m, p.tensor(values), 0), *[i for _, i in at], axes=[d for d, _ in at], mode="add")


@builds("put")
def put(p, input, index, source, accumulate=False):
    x, at, s = p.tensor(input), p.tensor(index), p.tensor(source)
    n = math.prod(at.shape)
    flat = p.reshape(x, [math.prod(x.shape)])
    if not n:
        return x
    if x.dtype == "bool" and accumulate:
        raise NotShared("a sum of bools")
    return p.reshape(p.same("index_put", flat, p.reshape(s, [n]), p.reshape(at, [n]), axes=[0], mode="add" if accumulate else "replace"), x.shape)


# ── diagonals ──
def on_diagonal(p, source, n, m, offset):
    """[…, k] on a diagonal of […, n, m], 0 elsewhere: each element goes where row + offset is the column."""
    shape, lead = source.shape[:-1] + [n, m], len(source.shape) - 1
    rows, columns = p.iota("i64", shape, lead), p.iota("i64", shape, lead + 1)
    hit = p.binary("eq", p.binary("sub", columns, rows), offset)
    if offset >= 0:
        low, high, size = [0] * lead + [0], [0] * lead + [n - source.shape[-1]], [n, 1]
    else:
        low, high, size = [0] * lead + [0], [0] * lead + [m - source.shape[-1]], [1, m]
    long = p.op("pad", source, p.constant(0, source.dtype), out=(source.dtype, source.shape[:-1] + [max(size)]), low=low, high=high)
    long = p.reshape(long, source.shape[:-1] + size)
    return hit, p.spread(long, shape)


def moved(p, x, a, b):
    """The last two axes moved to a and b."""
    perm, rest = [None] * len(x.shape), list(range(len(x.shape) - 2))
    perm[a], perm[b] = len(x.shape) - 2, len(x.shape) - 1
    return p.transpose(x, [rest.pop(0) if d is None else d for d in perm])


@builds("diag_embed")
def diag_embed(p, input, offset=0, dim1=-2, dim2=-1):
    x = p.tensor(input)
    n, rank = x.shape[-1] + abs(offset), len(x.shape) + 1
    hit, values = on_diagonal(p, x, n, n, offset)
    return moved(p, p.choose(hit, values, 0), axis_of(dim1, rank), axis_of(dim2, rank))


@builds("diag", "diagflat")
def diag(p, input, diagonal=0, offset=None):
    x, k = p.tensor(input), diagonal if offset is None else offset
    return diag_embed(p, x, k) if len(x.shape) == 1 else BUILDERS["diagonal"](p, x, k)


BUILDERS["diagflat"] = lambda p, input, offset=0: diag_embed(p, p.reshape(p.tensor(input), [math.prod(input.shape)]), offset)


@builds("diagonal_scatter")
def diagonal_scatter(p, input, src, offset=0, dim1=0, dim2=1):
    x = p.tensor(input)
    rank = len(x.shape)
    a, b = axis_of(dim1, rank), axis_of(dim2, rank)
    perm = [d for d in range(rank) if d not in (a, b)] + [a, b]
    y = p.transpose(x, perm)
    hit, values = on_diagonal(p, p.tensor(src), *y.shape[-2:], offset)
    return moved(p, p.choose(hit, values, y), a, b)


@builds("block_diag")
def block_diag(p, *tensors):
    xs = [p.tensor(t) for t in tensors]
    xs = [p.reshape(x, [1] * (2 - len(x.shape)) + x.shape) for x in xs]
    t = xs[0].dtype
    for x in xs[1:]:
        t = pair(p, x, p.constant(0, t, [1, 1]))[2] if x.dtype != t else t
    columns = sum(x.shape[1] for x in xs)
    done, at = [], 0
    for x in xs:
        x = p.convert(x, t)
        right = columns - at - x.shape[1]
        done.append(p.op("pad", x, p.constant(0, t), out=(t, [x.shape[0], columns]), low=[0, at], high=[0, right]))
        at += x.shape[1]
    return p.concat(done, 0)
