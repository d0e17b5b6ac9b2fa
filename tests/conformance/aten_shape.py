"""Builders for joins and cuts of several tensors, grids, ranges, and products written as sums over letters."""
import itertools
import math

from aten_index import at_least, joined, sizes
from aten_ops import BUILDERS, axis_of, builds
from aten_text import NARROW, NotShared, Tensor, broadcast, is_complex, is_float, promote


# ── grids and ranges ──
@builds("meshgrid")
def meshgrid(p, *tensors, indexing="ij"):
    xs = [p.tensor(t) for t in (tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors)]
    xs = [p.reshape(x, [math.prod(x.shape)]) for x in xs]
    order = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        order[:2] = [1, 0]
    shape = [xs[k].shape[0] for k in order]
    return [p.op("broadcast", x, out=(x.dtype, shape), dims=[order.index(k)]) for k, x in enumerate(xs)]


@builds("cartesian_prod")
def cartesian_prod(p, *tensors):
    if len(tensors) == 1:
        return p.tensor(tensors[0])
    grid = meshgrid(p, *tensors)
    n = math.prod(grid[0].shape)
    return p.concat([p.reshape(x, [n, 1]) for x in grid], 1)


@builds("combinations")
def combinations(p, input, r=2, with_replacement=False):
    x = p.tensor(input)
    rows = list((itertools.combinations_with_replacement if with_replacement else itertools.combinations)(range(x.shape[0]), r))
    if not rows or not r:
        raise NotShared("no combinations")
    at = p.reshape(p.vector([k for row in rows for k in row]), [len(rows), r])
    return p.op("gather", x, at, out=(x.dtype, [len(rows), r]), axis=0)


def scalar_of(x):
    return x.numbers()[0] if isinstance(x, Tensor) else x


@builds("arange")
def arange(p, start, end=None, step=1, dtype=None, device=None):
    start, end = (0, start) if end is None else (start, end)
    t = dtype or ("f32" if any(isinstance(v, float) for v in (start, end, step)) else "i64")
    n = p.theirs[0].shape[0]
    inner = t if is_float(t) and t not in NARROW else "f32" if is_float(t) else "i64"
    if inner == "i64":
        start, step = int(start), int(step)
    k = p.convert(p.iota("i64", [n]), inner)
    return p.convert(p.binary("add", p.binary("mul", k, step), start), t)


@builds("linspace")
def linspace(p, start, end, steps, dtype=None, device=None):
    """From both ends to the middle, each by steps of the same size, as PyTorch writes it."""
    start, end, t = scalar_of(start), scalar_of(end), dtype or "f32"
    if any(isinstance(v, complex) for v in (start, end)) or not (is_float(t) or t[0] in "iu"):
        raise NotShared("a range of complex numbers or bools")
    if steps < 2:
        return p.constant(start if is_float(t) else int(start), t, [steps])
    if not is_float(t):
        return whole_linspace(p, int(start), int(end), steps, t)
    inner = "f64" if t == "f64" else "f32"
    low, high = p.constant(start, inner), p.constant(end, inner)
    step = p.same("div", p.same("sub", high, low), p.constant(steps - 1, inner))
    k = p.iota("i64", [steps])
    up = p.binary("add", p.binary("mul", p.convert(k, inner), step), low)
    back = p.convert(p.binary("add", p.same("neg", k), steps - 1), inner)
    down = p.same("sub", p.spread(high, [steps]), p.binary("mul", back, step))
    return p.convert(p.choose(p.binary("lt", k, steps // 2), up, down), t)


def whole_linspace(p, start, end, steps, t):
    step = p.same("div", *[p.constant(v, "f32") for v in (end - start, steps - 1)])
    k = p.iota("i64", [steps])
    up = p.binary("add", p.binary("mul", p.convert(k, "f32"), step), start)
    back = p.convert(p.binary("add", p.same("neg", k), steps - 1), "f32")
    down = p.same("sub", p.constant(end, "f32", [steps]), p.binary("mul", back, step))
    return p.convert(p.choose(p.binary("lt", k, steps // 2), up, down), t)


for name, value in (("zeros", 0), ("ones", 1)):
    BUILDERS[name] = lambda p, *size, dtype=None, device=None, value=value: p.constant(value, dtype or "f32", sizes(size))
BUILDERS["zero_"] = lambda p, input: p.constant(0, input.dtype, input.shape)
BUILDERS["scalar_tensor"] = lambda p, s, dtype=None, device=None, requires_grad=False: p.constant(s, dtype or "f32")


def triangle(lower):
    def build(p, row, col, offset=0, dtype="i64", device=None):
        pairs = [(i, j) for i in range(row) for j in range(col) if (j - i <= offset if lower else j - i >= offset)]
        if not pairs:
            return p.constant(0, dtype, [2, 0])
        return p.reshape(p.vector([v for k in (0, 1) for v in (pair[k] for pair in pairs)], dtype), [2, len(pairs)])
    return build


BUILDERS["tril_indices"], BUILDERS["triu_indices"] = triangle(True), triangle(False)


# ── joins and cuts ──
for name, rank in (("atleast_1d", 1), ("atleast_2d", 2), ("atleast_3d", 3)):
    BUILDERS[name] = lambda p, *tensors, rank=rank: [at_least(p, t, rank) for t in (tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors)]


@builds("column_stack")
def column_stack(p, tensors):
    xs = [p.tensor(t) for t in tensors]
    return joined(p, [p.reshape(x, [math.prod(x.shape), 1]) if len(x.shape) < 2 else x for x in xs], 1)


@builds("broadcast_tensors")
def broadcast_tensors(p, *tensors):
    xs = [p.tensor(t) for t in tensors]
    s = broadcast(*[x.shape for x in xs])
    return [p.spread(x, s) for x in xs]


def bounds_of(how, n, uneven):
    """Where an axis of n is cut: at given places, or into parts of which the first may be one longer."""
    if isinstance(how, Tensor):
        how = how.numbers() if how.shape else how.numbers()[0]
    if isinstance(how, (list, tuple)):
        inside = [min(max(k + n if k < 0 else k, 0), n) for k in how]
        return [0, *inside, n]
    if not uneven and n % how:
        raise NotShared("parts of unlike sizes")
    return [0] + [(k + 1) * (n // how) + min(k + 1, n % how) for k in range(how)]


@builds("tensor_split")
def tensor_split(p, input, indices_or_sections, dim=0, uneven=True):
    x = p.tensor(input)
    d = axis_of(dim, len(x.shape))
    return [p.slice(x, d, a, max(a, b)) for a, b in itertools.pairwise(bounds_of(indices_or_sections, x.shape[d], uneven))]


for name, dim in (("hsplit", 1), ("vsplit", 0), ("dsplit", 2)):
    BUILDERS[name] = lambda p, input, how, dim=dim: tensor_split(p, input, how, min(dim, len(input.shape) - 1), False)


@builds("repeat_interleave")
def repeat_interleave(p, input, repeats, dim=None, output_size=None):
    x = p.tensor(input)
    y = p.reshape(x, [math.prod(x.shape)]) if dim is None else x
    d = axis_of(0 if dim is None else dim, len(y.shape))
    counts = repeats.numbers() if isinstance(repeats, Tensor) else [repeats]
    counts = counts * y.shape[d] if len(counts) == 1 else counts
    at = [k for k, n in enumerate(counts) for _ in range(n)]
    return p.op("gather", y, p.vector(at), out=(y.dtype, y.shape[:d] + [len(at)] + y.shape[d + 1:]), axis=d)


@builds("unfold", "unfold_copy")
def unfold(p, input, dimension, size, step):
    x = p.tensor(input)
    if not x.shape:
        return p.spread(p.reshape(x, [1]), [size])
    d = axis_of(dimension, len(x.shape))
    count = (x.shape[d] - size) // step + 1
    at = p.reshape(p.vector([k * step + j for k in range(count) for j in range(size)]), [count, size])
    found = p.op("gather", x, at, out=(x.dtype, x.shape[:d] + [count, size] + x.shape[d + 1:]), axis=d)
    return p.transpose(found, [k for k in range(len(found.shape)) if k != d + 1] + [d + 1])


@builds("sum_to_size")
def sum_to_size(p, input, *size):
    x, s = p.convert(p.tensor(input), p.theirs[0].dtype), sizes(size)
    lead = len(x.shape) - len(s)
    axes = [d for d, n in enumerate(x.shape) if d < lead or s[d - lead] == 1 and n != 1]
    return p.reshape(p.reduce("reduce_sum", x, axes), s) if axes else p.reshape(x, s)


@builds("to")
def to(p, input, *how, memory_format=None, dtype=None):
    types = [h for h in (*how, dtype) if isinstance(h, str) and h in ("bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128")]
    types += [h.dtype for h in how if isinstance(h, Tensor)]
    return p.convert(p.tensor(input), types[0] if types else input.dtype)


@builds("nn.functional.channel_shuffle")
def channel_shuffle(p, input, groups):
    x = p.tensor(input)
    n, c, rest = x.shape[0], x.shape[1], x.shape[2:]
    y = p.reshape(x, [n, groups, c // groups] + rest)
    return p.reshape(p.transpose(y, [0, 2, 1] + list(range(3, len(y.shape)))), x.shape)


# ── products as sums over letters ──
def spelled(equation, operands):
    """The operands' letters and the result's, an ellipsis as letters of its own."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    extra = [len(x.shape) - len(t.replace("...", "")) for t, x in zip(terms, operands)]
    most = max([e for e, t in zip(extra, terms) if "..." in t], default=0)
    dots = "0123456789"[:most]
    terms = [t.replace("...", dots[most - e:] if "..." in t else "") for t, e in zip(terms, extra)]
    letters = "".join(terms)
    if not arrow:
        right = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in dots))
    return terms, right.replace("...", dots)


def one_of_each(p, x, term):
    """A letter that stands twice names a diagonal."""
    while len(set(term)) < len(term):
        c = next(c for c in term if term.count(c) > 1)
        a, b = [k for k, d in enumerate(term) if d == c][:2]
        shape = [n for k, n in enumerate(x.shape) if k not in (a, b)] + [x.shape[a]]
        x = p.op("diagonal", x, out=(x.dtype, shape), offset=0, axis1=a, axis2=b)
        term = "".join(d for k, d in enumerate(term) if k not in (a, b)) + c
    return x, term


@builds("einsum")
def einsum(p, operands, equation):
    """Two by two from the left: letters that neither the result nor a later operand has are summed, which takes integers to i64."""
    xs = [p.convert(p.tensor(x), p.theirs[0].dtype) for x in operands]
    if any(x.dtype == "bool" for x in xs):
        raise NotShared("a product of bools")
    terms, result = spelled(equation, xs)
    xs, terms = zip(*[one_of_each(p, x, t) for x, t in zip(xs, terms)])
    x, term = xs[0], terms[0]
    for k in range(1, len(xs)):
        later = result + "".join(terms[k + 1:])
        x, term = product(p, x, term, xs[k], terms[k], later)
    rest = [k for k, c in enumerate(term) if c not in result]
    x, term = (p.reduce("reduce_sum", x, rest), "".join(c for c in term if c in result)) if rest else (x, term)
    return p.transpose(x, [term.index(c) for c in result])


def product(p, x, a, y, b, needed):
    def without_ones(v, t, other, w):  # an axis of 1 that meets a longer one is spread
        sizes = dict(zip(other, w.shape))
        return p.spread(v, [max(n, sizes.get(c, n)) if n == 1 else n for c, n in zip(t, v.shape)])
    x, y = without_ones(x, a, b, y), without_ones(y, b, a, x)
    both = [c for c in a if c in b]
    batch, summed = [c for c in both if c in needed], [c for c in both if c not in needed]
    free = [c for c in a if c not in both] + [c for c in b if c not in both]
    sizes = dict(zip(b, y.shape)) | dict(zip(a, x.shape))
    r = p.op("dot_general", x, y, out=(x.dtype, [sizes[c] for c in batch + free]), lhs_batch=[a.index(c) for c in batch], rhs_batch=[b.index(c) for c in batch],
             lhs_contract=[a.index(c) for c in summed], rhs_contract=[b.index(c) for c in summed])
    return r, "".join(batch + free)


@builds("inner")
def inner(p, input, other):
    x, y = p.tensor(input), p.tensor(other)
    if x.dtype == "bool":
        raise NotShared("a product of bools")
    if not x.shape or not y.shape:
        return p.binary("mul", p.spread(x, y.shape) if not x.shape else x, y)
    return p.op("dot_general", x, y, out=(x.dtype, x.shape[:-1] + y.shape[:-1]), lhs_contract=[len(x.shape) - 1], rhs_contract=[len(y.shape) - 1])


@builds("tensordot")
def tensordot(p, a, b, dims=2):
    x, y = p.tensor(a), p.tensor(b)
    if isinstance(dims, int):
        dims = [list(range(len(x.shape) - dims, len(x.shape))), list(range(dims))]
    l, r = [[axis_of(k, len(v.shape)) for k in d] for v, d in zip((x, y), dims)]
    for j, k in zip(l, r):  # a contracted axis of 1 is summed on the other side
        n = max(x.shape[j], y.shape[k])
        x, y = (p.spread(v, v.shape[:d] + [n] + v.shape[d + 1:]) for v, d in ((x, j), (y, k)))
    rest = [n for k, n in enumerate(x.shape) if k not in l] + [n for k, n in enumerate(y.shape) if k not in r]
    return p.op("dot_general", x, y, out=(x.dtype, rest), lhs_contract=l, rhs_contract=r)


@builds("kron")
def kron(p, input, other):
    x, y = p.tensor(input), p.tensor(other)
    rank = max(len(x.shape), len(y.shape))
    a, b = ([1] * (rank - len(v.shape)) + v.shape for v in (x, y))
    x = p.reshape(x, [n for k in a for n in (k, 1)])
    y = p.reshape(y, [n for k in b for n in (1, k)])
    t = promote(x.dtype, y.dtype)
    return p.reshape(p.binary("and" if t == "bool" else "mul", p.convert(x, t), p.convert(y, t)), [m * n for m, n in zip(a, b)])


@builds("addbmm", "addr")
def addbmm(p, input, batch1, batch2, beta=1, alpha=1):
    x, y = p.tensor(batch1), p.tensor(batch2)
    if is_complex(x.dtype) or x.dtype == "bool":
        raise NotShared("bools, or a factor that is complex")
    if x.dtype not in ("f32", "f64") and (beta != int(beta) or alpha != int(alpha)):
        raise NotShared("factors that are no integers")
    n = x.shape[-2] if len(x.shape) == 3 else x.shape[0]
    rank = len(x.shape) == 3
    left = p.reshape(p.transpose(x, [1, 0, 2]), [n, x.shape[0] * x.shape[2]]) if rank else p.reshape(x, [n, 1])
    right = p.reshape(y, [y.shape[0] * y.shape[1], y.shape[2]]) if rank else p.reshape(y, [1, y.shape[0]])
    return p.op("addmm", p.tensor(input), left, right, out=(x.dtype, [n, right.shape[1]]), beta=float(beta), alpha=float(alpha))


@builds("logspace")
def logspace(p, start, end, steps, base=10.0, dtype=None, device=None):
    """The base to the power of a linspace, of floats alone: integers round each way."""
    t = dtype or "f32"
    if not is_float(t):
        raise NotShared("powers that are cut to integers")
    at = linspace(p, start, end, steps, dtype="f64" if t == "f64" else "f32")
    return p.convert(p.same("pow", p.constant(base, at.dtype, at.shape), at), t)


@builds("_chunk_cat")
def chunk_cat(p, tensors, dim, num_chunks):
    """Each tensor is filled up with 0 to chunks of one size, flattened behind dim; the chunks stand beside one another."""
    parts = []
    for t in tensors:
        x = p.tensor(t)
        d = axis_of(dim, len(x.shape))
        size = -(-x.shape[d] // num_chunks)
        high = [size * num_chunks - n if k == d else 0 for k, n in enumerate(x.shape)]
        x = p.op("pad", x, p.constant(0, x.dtype), out=(x.dtype, [n + h for n, h in zip(x.shape, high)]), low=[0] * len(high), high=high)
        parts.append(p.reshape(x, x.shape[:d] + [num_chunks, size * math.prod(x.shape[d + 1:])]))
    return p.concat(parts, len(parts[0].shape) - 1)


@builds("resize_", "resize_as_")
def resize(p, input, *size, memory_format=None):
    """Of as many elements."""
    s = list(size[0].shape) if size and isinstance(size[0], Tensor) else sizes(size)
    if math.prod(s) != math.prod(input.shape):
        raise NotShared("memory without a value")
    return p.reshape(p.tensor(input), s)
