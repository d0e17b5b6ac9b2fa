"""Builders for reads at positions that tensors hold, and for indexing as NumPy writes it."""
import math

from aten_index import select, slice_
from aten_ops import axis_of, builds
from aten_order import positions
from aten_text import NotShared, Tensor, Value, broadcast


@builds("gather")
def gather(p, input, dim, index):
    x, at = p.tensor(input), p.tensor(index)
    if not math.prod(at.shape):
        return p.constant(0, x.dtype, at.shape)
    if not x.shape:
        return x if not at.shape else p.spread(x, at.shape)
    d = axis_of(dim, len(x.shape))
    if not at.shape:
        return p.reshape(gather(p, x, d, p.reshape(at, [1])), [])
    for k, n in enumerate(at.shape):
        x = p.slice(x, k, 0, n) if k != d and n != x.shape[k] else x
    return p.op("gather_elements", x, at, out=(x.dtype, at.shape), axis=d)


@builds("index_select")
def index_select(p, input, dim, index):
    x, at = p.tensor(input), p.tensor(index)
    if not x.shape:
        return x
    at = p.reshape(at, [math.prod(at.shape)])
    d = axis_of(dim, len(x.shape))
    return p.op("gather", x, at, out=(x.dtype, x.shape[:d] + at.shape + x.shape[d + 1:]), axis=d)


@builds("take")
def take(p, input, index):
    x, at = p.tensor(input), p.tensor(index)
    return p.op("advanced_index", p.reshape(x, [math.prod(x.shape)]), at, out=(x.dtype, at.shape), axes=[0])


@builds("take_along_dim")
def take_along_dim(p, input, indices, dim=None):
    x, at = p.tensor(input), p.tensor(indices)
    if dim is not None:
        n = x.shape[axis_of(dim, len(x.shape))]  # negative indices count from the end
        below = p.op("lt", at, p.constant(0, "i64", at.shape), out=("bool", at.shape))
        at = p.op("select", below, p.same("add", at, p.constant(n, "i64", at.shape)), at, out=(at.dtype, at.shape))
    if dim is None:
        return take(p, x, p.reshape(at, [math.prod(at.shape)]))
    d = axis_of(dim, len(x.shape))
    shape = broadcast(*[s[:d] + [1] + s[d + 1:] for s in (x.shape, at.shape)])
    return gather(p, p.spread(x, shape[:d] + [x.shape[d]] + shape[d + 1:]), d, p.spread(at, shape[:d] + [at.shape[d]] + shape[d + 1:]))


@builds("masked_scatter")
def masked_scatter(p, input, mask, source):
    x, m = p.tensor(input), p.tensor(mask)
    s = broadcast(x.shape, m.shape)
    return p.same("masked_scatter", p.spread(x, s), p.spread(m, s), p.tensor(source))


def masks_as_positions(p, items):
    """Entries of an index, a mask as the positions where it holds: one for each of its axes."""
    masks = [k for k, i in enumerate(items) if i is not None and i.dtype in ("bool", "u8")]
    if not masks:
        return items
    others = [i for k, i in enumerate(items) if i is not None and k not in masks]
    if any(not items[k].shape for k in masks) or any(len(i.shape) > 1 for i in others):
        raise NotShared("a mask without axes, or beside an index of several")
    rows = max([i.shape[0] for i in others if i.shape], default=1)
    if rows == 1:  # their axis stands where the first of them does when they are neighbours, else first
        first = min(k for k, i in enumerate(items) if i is not None)
        together = all(i is not None for i in items[first:max(k for k, i in enumerate(items) if i is not None) + 1])
        rows = p.theirs[0].shape[first if together else 0]
    done = []
    for k, i in enumerate(items):
        done += positions(p, i, rows) if k in masks else [i]
    return done


def advanced(p, x, items):
    """NumPy's index of a list whose entries are tensors of integers, or None for a whole axis."""
    items = masks_as_positions(p, [None if i is None else p.tensor(i) for i in items])
    axes = [d for d, i in enumerate(items) if i is not None]
    at = [items[d] for d in axes]
    if not at:
        return x
    shape = broadcast(*[i.shape for i in at])
    rest = [n for d, n in enumerate(x.shape) if d not in axes]
    where = axes[0] if axes[-1] - axes[0] + 1 == len(axes) else 0
    return p.op("advanced_index", x, *at, out=(x.dtype, rest[:where] + shape + rest[where:]), axes=axes)


@builds("_unsafe_masked_index")
def unsafe_masked_index(p, input, mask, indices, fill):
    """x at the indices, each brought into its axis, where the mask holds."""
    x = p.tensor(input)
    items = [None if i is None else within(p, p.tensor(i), x.shape[d]) for d, i in enumerate(indices)]
    found = advanced(p, x, items)
    return p.choose(p.tensor(mask), found, fill)


def within(p, at, n):
    low, high = (p.constant(v, at.dtype, at.shape) for v in (0, n - 1))
    return p.same("minimum", p.same("maximum", at, low), high)


@builds("aten.index.Tensor")
def index(p, input, indices):
    return advanced(p, p.tensor(input), list(indices))


@builds("__getitem__")
def getitem(p, input, key):
    """Slices and numbers first; then the tensors, where no number stands between them."""
    x = p.tensor(input)
    items = list(key) if isinstance(key, tuple) else [key]
    if any(i is None or isinstance(i, bool) for i in items):
        raise NotShared("an index of another form")
    if any(isinstance(i, list) and not all(type(k) is int for k in i) for i in items):
        raise NotShared("an index of another form")
    items = [p.vector(i) if isinstance(i, list) else i for i in items]
    if Ellipsis in [i for i in items if not isinstance(i, (Tensor, Value))]:
        k = next(k for k, i in enumerate(items) if i is Ellipsis)
        named = sum(len(i.shape) if isinstance(i, (Tensor, Value)) and i.dtype in ("bool", "u8") else 1 for i in items) - 1
        items[k:k + 1] = [slice(None)] * (len(x.shape) - named)
    tensors, d = [], 0
    if any(isinstance(i, (Tensor, Value)) for i in items) and any(isinstance(i, int) for i in items):
        raise NotShared("numbers beside tensors in an index")
    for i in items:
        if isinstance(i, int):
            x = select(p, x, d, i)
            continue
        if isinstance(i, slice):
            x = slice_(p, x, d, i.start, i.stop, i.step or 1)
        tensors.append(i if isinstance(i, (Tensor, Value)) else None)
        d += len(i.shape) if isinstance(i, (Tensor, Value)) and i.dtype in ("bool", "u8") else 1
    return advanced(p, x, tensors)
