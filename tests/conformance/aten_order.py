"""Builders for what goes by the order of values: the k-th, medians, quantiles, searching, and what masks and values select."""
import math

from aten_ops import BUILDERS, axis_of, builds, pair
from aten_reduce import scalar_axis
from aten_text import NotShared, Tensor, broadcast, is_complex, is_float


def lines(p, input, dim):
    """x with an axis, and that axis."""
    x = p.tensor(input)
    y = p.reshape(x, scalar_axis(x))
    return y, axis_of(dim, len(y.shape))


def one(shape, d):
    return shape[:d] + [1] + shape[d + 1:]


def kept(p, x, input, d, keepdim):
    """A result whose axis d has size 1, as keepdim and a scalar's lack of axes have it."""
    return p.reshape(x, [] if not input.shape else x.shape if keepdim else x.shape[:d] + x.shape[d + 1:])


def top(p, y, k, d, largest):
    s = y.shape[:d] + [k] + y.shape[d + 1:]
    return p.op("top_k", y, out=[(y.dtype, s), ("i64", s)], k=k, axis=d, largest=largest)[0]


@builds("topk")
def topk(p, input, k, dim=-1, largest=True, sorted=True):
    if not sorted:
        raise NotShared("results in no order")
    y, d = lines(p, input, dim)
    values = top(p, y, k, d, largest)
    return [p.reshape(values, p.theirs[0].shape), p.place_of(y, d, values, 1)]


@builds("kthvalue")
def kthvalue(p, input, k, dim=-1, keepdim=False):
    y, d = lines(p, input, dim)
    value = p.slice(top(p, y, k, d, False), d, k - 1, k)
    return [kept(p, value, input, d, keepdim), p.place_of(y, d, value, 1)]


def sorted_lines(p, y, d):
    return p.same("sort", y, axis=d)


def at_rank(p, ordered, rank, d):
    """The element of each line at its rank, i64 with an axis d of size 1."""
    return p.op("gather_elements", ordered, rank, out=(ordered.dtype, rank.shape), axis=d)


def numbers_in(p, y, d):
    """How many elements of each line are no NaN, and at least one: i64, the axis kept."""
    if not is_float(y.dtype):
        return p.constant(max(y.shape[d], 1), "i64", one(y.shape, d))
    number = p.same("not", p.op("is_nan", y, out=("bool", y.shape)))
    count = p.reduce("count_nonzero", number, [d], True, dtype="i64")
    return p.same("maximum", count, p.constant(1, "i64", count.shape))


def lower_median(p, y, d, skip):
    """The lower median of each line, the axis kept; of what is no NaN (skip), or NaN where there is one."""
    n = y.shape[d]
    ordered = sorted_lines(p, y, d)
    if skip:
        rank = p.binary("shift_right", p.binary("sub", numbers_in(p, y, d), 1), 1)
        return at_rank(p, ordered, rank, d)
    middle, last = (p.slice(ordered, d, k, k + 1) for k in ((n - 1) // 2, n - 1))
    return p.choose(p.op("is_nan", last, out=("bool", last.shape)), last, middle) if is_float(y.dtype) else middle


def median(skip):
    def build(p, input, dim=None, keepdim=False):
        x = p.tensor(input)
        if not math.prod(x.shape):
            raise NotShared("the median of nothing")
        if dim is None:
            y = p.reshape(x, [math.prod(x.shape)])
            return p.reshape(lower_median(p, y, 0, skip), [])
        y, d = lines(p, input, dim)
        value = lower_median(p, y, d, skip)
        return [kept(p, value, input, d, keepdim), p.place_of(y, d, value, 1)]
    return build


BUILDERS["median"], BUILDERS["nanmedian"] = median(False), median(True)


@builds("mode")
def mode(p, input, dim=-1, keepdim=False):
    """The least of the most frequent elements, by counting each element's equals."""
    y, d = lines(p, input, dim)
    if not y.shape[d]:
        raise NotShared("the mode of nothing")
    last = len(y.shape) - 1
    perm = [k for k in range(last + 1) if k != d] + [d]
    z = p.transpose(y, perm)
    n, rest = z.shape[-1], z.shape[:-1]
    rows, columns = (p.op("broadcast", z, out=(z.dtype, rest + [n, n]), dims=list(range(last)) + [a]) for a in (last, last + 1))
    count = p.reduce("count_nonzero", p.op("eq", rows, columns, out=("bool", rest + [n, n])), [last + 1], dtype="i64")
    most = p.spread(p.reduce("reduce_max", count, [last], True), z.shape)
    if z.dtype == "bool":
        z = p.convert(z, "u8")
    greatest = p.spread(p.reduce("reduce_max", z, [last], True), z.shape)
    value = p.reduce("reduce_min", p.choose(p.op("eq", count, most, out=("bool", z.shape)), z, greatest), [last], True)
    value = p.convert(p.reshape(value, one(y.shape, d)), y.dtype)
    return [kept(p, value, input, d, keepdim), p.place_of(y, d, value, 1)]


def quantile(skip):
    def build(p, input, q, dim=None, keepdim=False, interpolation="linear"):
        x = p.tensor(input)
        if not math.prod(x.shape):
            raise NotShared("the quantile of nothing")
        many = isinstance(q, Tensor) and bool(q.shape)
        qs = p.number(q, x.dtype)
        y = p.reshape(x, [math.prod(x.shape)]) if dim is None else p.reshape(x, scalar_axis(x))
        d = axis_of(0 if dim is None else dim, len(y.shape))
        ordered = sorted_lines(p, p.transpose(y, [d] + [k for k in range(len(y.shape)) if k != d]), 0)
        count, rest, n = q.shape[0] if many else 1, ordered.shape[1:], ordered.shape[0]
        shape = [count] + rest
        last = p.spread(p.convert(p.binary("sub", numbers_in(p, ordered, 0), 1), x.dtype) if skip else p.constant(n - 1, x.dtype), shape)
        ranks = p.same("mul", p.spread(p.reshape(qs, [count] + [1] * len(rest)), shape), last)
        result = interpolated(p, ordered, ranks, interpolation)
        if not skip:
            greatest = p.spread(p.slice(ordered, 0, n - 1, n), shape)
            result = p.choose(p.op("is_nan", greatest, out=("bool", shape)), greatest, result)
        return p.reshape(result, ([count] if many else []) + ([] if not input.shape else [1] * len(input.shape) if keepdim and dim is None else one(y.shape, d) if keepdim else rest))
    return build


def interpolated(p, ordered, ranks, how):
    """Elements at ranks that are no integers."""
    below, above = (p.convert(p.same(f, ranks), "i64") for f in ("floor", "ceil"))
    at = lambda r: at_rank(p, ordered, r, 0)
    if how in ("lower", "higher"):
        return at(below if how == "lower" else above)
    if how == "nearest":
        return at(p.convert(p.same("round_even", ranks), "i64"))
    weight = p.constant(0.5, ranks.dtype, ranks.shape) if how == "midpoint" else p.same("sub", ranks, p.same("floor", ranks))
    return p.same("lerp", at(below), at(above), weight)


BUILDERS["quantile"], BUILDERS["nanquantile"] = quantile(False), quantile(True)


# ── searching ──
def searched(p, edges, x, right, out_int32):
    """How many of the edges, along their last axis, stand before each x (or, right, not behind it); x has that axis too.
    An order without NaN has it last."""
    n, m, lead = edges.shape[-1], x.shape[-1], x.shape[:-1]
    if not len(edges.shape) > 1:
        edges = p.spread(edges, lead + [n])
    k = len(lead)
    es = p.op("broadcast", edges, out=(edges.dtype, lead + [m, n]), dims=list(range(k)) + [k + 1])
    xs = p.op("broadcast", x, out=(x.dtype, lead + [m, n]), dims=list(range(k + 1)))
    beyond = p.op("gt" if right else "ge", es, xs, out=("bool", lead + [m, n]))
    return p.convert(p.reduce("count_nonzero", p.same("not", beyond), [k + 1], dtype="i64"), "i32" if out_int32 else "i64")


def search(p, edges, values, right, out_int32, sorter=None):
    t = pair(p, edges if isinstance(edges, Tensor) and edges.shape == [] else p.constant(0, edges.dtype), values)[2] if not isinstance(values, Tensor) else edges.dtype
    e, v = p.convert(p.tensor(edges), t), p.number(values, t)
    if sorter is not None:
        e = p.op("gather_elements", e, p.tensor(sorter), out=(e.dtype, e.shape), axis=len(e.shape) - 1)
    flat = v if len(e.shape) > 1 else p.reshape(v, [math.prod(v.shape)])
    return p.reshape(searched(p, e, flat, right, out_int32), v.shape)


@builds("searchsorted")
def searchsorted(p, sorted_sequence, input, out_int32=False, right=False, side=None, sorter=None):
    return search(p, sorted_sequence, input, side == "right" if side else right, out_int32, sorter)


@builds("bucketize")
def bucketize(p, input, boundaries, out_int32=False, right=False):
    return search(p, boundaries, input, right, out_int32)


# ── what values select ──
def rows_of_nonzero(p, x):
    """The indices of what is not 0, a row each, as many as PyTorch has."""
    x = p.convert(x, "bool") if is_complex(x.dtype) else x
    n, rank = math.prod(x.shape), len(x.shape)
    columns, count = p.op("nonzero", x, out=[("i64", [rank, n]), ("i64", [])])
    return columns, count


@builds("nonzero", "argwhere")
def nonzero(p, input, as_tuple=False):
    x = p.tensor(input)
    if as_tuple and not x.shape:
        x = p.reshape(x, [1])
    columns, count = rows_of_nonzero(p, x)
    columns = p.cut(columns, 1, p.theirs[0].shape[0], count)
    if not as_tuple:
        return p.transpose(columns, [1, 0])
    return [p.reshape(p.slice(columns, 0, k, k + 1), columns.shape[1:]) for k in range(len(x.shape))]


@builds("nonzero_static")
def nonzero_static(p, input, size, fill_value=-1):
    columns, count = rows_of_nonzero(p, p.tensor(input))
    rank, n = columns.shape
    if size > n:
        columns = p.op("pad", columns, p.constant(-1, "i64"), out=("i64", [rank, size]), low=[0, 0], high=[0, size - n])
    rows = p.transpose(p.slice(columns, 1, 0, size), [1, 0])
    return rows if fill_value == -1 else p.choose(p.binary("lt", p.iota("i64", rows.shape, 0), count), rows, fill_value)


def selected(p, x, m, n):
    """x's elements where m holds, n of them."""
    if is_complex(x.dtype):
        raise NotShared("masked_select takes no complex numbers")
    values, count = p.op("masked_select", x, m, out=[(x.dtype, [math.prod(x.shape)]), ("i64", [])])
    return p.cut(values, 0, n, count)


@builds("masked_select")
def masked_select(p, input, mask):
    x, m = p.tensor(input), p.tensor(mask)
    s = broadcast(x.shape, m.shape)
    return selected(p, p.spread(x, s), p.spread(m, s), p.theirs[0].shape[0])


def distinct(p, x, axis, sorted):
    """unique's results, the values and counts cut to PyTorch's number of them."""
    n = math.prod(x.shape) if axis == -1 else x.shape[axis]
    s = [n] if axis == -1 else x.shape
    return p.op("unique", x, out=[(x.dtype, s), ("i64", [n]), ("i64", [n]), ("i64", [n]), ("i64", [])], axis=axis, sorted=sorted)


def chosen(values, inverse, counts, return_inverse, return_counts):
    r = [values] + ([inverse] if return_inverse else []) + ([counts] if return_counts else [])
    return r[0] if len(r) == 1 else r


@builds("unique")
def unique(p, input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    x = p.tensor(input)
    if is_complex(x.dtype):
        raise NotShared("unique takes no complex numbers")
    axis = -1 if dim is None else axis_of(dim, len(x.shape))
    values, _, inverse, counts, count = distinct(p, x, axis, True)  # PyTorch's CPU sorts in any case
    m = p.theirs[0].shape[max(axis, 0)]
    return chosen(p.cut(values, max(axis, 0), m, count), p.reshape(inverse, x.shape) if dim is None else inverse, p.slice(counts, 0, 0, m), return_inverse, return_counts)


@builds("unique_consecutive")
def unique_consecutive(p, input, return_inverse=False, return_counts=False, dim=None):
    """Slices that differ from the one before begin a run; a slice's run is how many have begun."""
    x = p.tensor(input)
    if is_complex(x.dtype):
        raise NotShared("compress takes no complex numbers")
    y = p.reshape(x, [math.prod(x.shape)]) if dim is None else x
    d = axis_of(0 if dim is None else dim, len(y.shape))
    n, m = y.shape[d], p.theirs[0].shape[d]
    if not n:
        raise NotShared("runs of nothing")
    later, earlier = p.slice(y, d, 1, n), p.slice(y, d, 0, n - 1)
    differs = p.reduce("reduce_or", p.op("ne", later, earlier, out=("bool", later.shape)), [k for k in range(len(y.shape)) if k != d])
    begins = p.concat([p.constant(True, "bool", [1]), differs], 0)
    values, count = p.op("compress", y, begins, out=[(y.dtype, y.shape), ("i64", [])], axis=d)
    inverse = p.binary("sub", p.same("cumsum", p.convert(begins, "i64"), axis=0), 1)
    counts = p.same("scatter_add", p.constant(0, "i64", [n]), inverse, p.constant(1, "i64", [n]), axis=0)
    return chosen(p.cut(values, d, m, count), p.reshape(inverse, x.shape) if dim is None else inverse, p.slice(counts, 0, 0, m), return_inverse, return_counts)


@builds("isin")
def isin(p, elements, test_elements, assume_unique=False, invert=False):
    x, y = (p.reshape(p.tensor(t), [math.prod(t.shape)]) for t in (elements, test_elements))
    s = x.shape + y.shape
    equal = p.op("eq", *[p.op("broadcast", v, out=(v.dtype, s), dims=[k]) for k, v in enumerate((x, y))], out=("bool", s))
    found = p.reshape(p.reduce("reduce_or", equal, [1]), elements.shape)
    return p.same("not", found) if invert else found


@builds("bincount")
def bincount(p, input, weights=None, minlength=0):
    x, n = p.tensor(input), p.theirs[0].shape[0]
    updates = p.constant(1, "i64", x.shape) if weights is None else p.convert(p.tensor(weights), p.theirs[0].dtype)
    if not n:
        return p.constant(0, updates.dtype, [0])
    return p.same("scatter_add", p.constant(0, updates.dtype, [n]), p.convert(x, "i64"), updates, axis=0)


@builds("unravel_index")
def unravel_index(p, indices, shape):
    at, results, step = p.convert(p.tensor(indices), "i64"), [], 1
    for n in reversed(shape if isinstance(shape, (list, tuple)) else [shape]):
        results.insert(0, p.binary("remainder", p.binary("floor_div", at, step), n))
        step *= n
    return results


def positions(p, mask, rows):
    """The index tensors that a mask stands for, one for each of its axes, of PyTorch's number of rows."""
    columns, count = rows_of_nonzero(p, mask)
    columns = p.cut(columns, 1, rows, count)
    return [p.reshape(p.slice(columns, 0, k, k + 1), [rows]) for k in range(len(mask.shape))]
