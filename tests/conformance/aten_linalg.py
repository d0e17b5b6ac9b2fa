"""Builders for linear algebra. Vectors of eigh and svd are free up to sign or phase: PARTIAL says which results are compared."""
import math

from aten_complex import conjugate, to_complex
from aten_ops import BUILDERS, axis_of, builds
from aten_reduce import matmul
from aten_text import NotShared, Tensor, broadcast, is_complex, is_float, part, promote

PARTIAL = {"linalg.eigh": [0], "linalg.svd": [1], "svd": [1]}
L = "linalg."


def matrix(p, A):
    x = p.tensor(A)
    if len(x.shape) < 2 or x.dtype in ("f16", "bf16"):
        raise NotShared("not matrices of f32, f64 or complex numbers")
    return x


def swapped(shape):
    return shape[:-2] + [shape[-1], shape[-2]]


def transposed(p, x):
    n = len(x.shape)
    return p.transpose(x, list(range(n - 2)) + [n - 1, n - 2])


def adjoint(p, x):
    return transposed(p, conjugate(p, x))


def same_batch(p, a, b):
    """Two matrices, their batches broadcast and their dtypes promoted."""
    t = promote(a.dtype, b.dtype)
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    return [p.spread(to_complex(p, x) if is_complex(t) else p.convert(x, t), batch + x.shape[-2:]) for x in (a, b)]


def no_info(p, x):
    return p.constant(0, "i32", x.shape[:-2])


@builds("cholesky", L + "cholesky")
def cholesky(p, A, upper=False):
    x = matrix(p, A)
    return p.same("cholesky", x, lower=not upper)


@builds(L + "cholesky_ex")
def cholesky_ex(p, A, upper=False, check_errors=False):
    return [cholesky(p, A, upper), no_info(p, matrix(p, A))]


def triangular(p, a, b, upper, left=True, unit=False, form="none"):
    a, b = same_batch(p, a, b)
    return p.op("triangular_solve", a, b, out=(b.dtype, b.shape), left_side=left, lower=not upper, transpose=form, unit_diagonal=unit)


@builds("cholesky_solve")
def cholesky_solve(p, B, factor, upper=False):
    a, b = matrix(p, factor), matrix(p, B)
    first, second = ("conjugate", "none") if upper else ("none", "conjugate")
    return triangular(p, a, triangular(p, a, b, upper, form=first), upper, form=second)


@builds("cholesky_inverse")
def cholesky_inverse(p, factor, upper=False):
    a = matrix(p, factor)
    n = a.shape[-1]
    eye = p.binary("eq", p.iota("i64", [n, n], 0), p.iota("i64", [n, n], 1)) if n else p.constant(False, "bool", [n, n])
    return cholesky_solve(p, p.spread(p.convert(eye, a.dtype), a.shape), a, upper)


@builds(L + "inv")
def inv(p, A):
    return p.same("inverse", matrix(p, A))


@builds(L + "inv_ex")
def inv_ex(p, A, check_errors=False):
    return [inv(p, A), no_info(p, matrix(p, A))]


@builds(L + "det")
def det(p, A):
    x = matrix(p, A)
    return p.op("det", x, out=(x.dtype, x.shape[:-2]))


@builds(L + "slogdet")
def slogdet(p, A):
    x = matrix(p, A)
    return p.op("slogdet", x, out=[(x.dtype, x.shape[:-2]), (part(x.dtype), x.shape[:-2])])


@builds("logdet")
def logdet(p, A):
    if is_complex(matrix(p, A).dtype):
        raise NotShared("the logarithm of a complex determinant")
    sign, size = slogdet(p, A)
    return p.choose(p.binary("lt", sign, 0), math.nan, size)


@builds(L + "solve")
def solve(p, A, B, left=True):
    a, b = matrix(p, A), p.tensor(B)
    column = len(b.shape) == 1 or (len(b.shape) == len(a.shape) - 1 and b.shape == a.shape[:-1])
    if column:
        b = p.reshape(b, b.shape + [1])
    if not left:
        if column:
            raise NotShared("a vector at the right side")
        a, b = transposed(p, a), transposed(p, b)
    a, b = same_batch(p, a, b)
    x = p.op("solve", a, b, out=(b.dtype, b.shape))
    return p.reshape(x, x.shape[:-1]) if column else x if left else transposed(p, x)


@builds(L + "solve_ex")
def solve_ex(p, A, B, left=True, check_errors=False):
    x = solve(p, A, B, left)
    batch = matrix(p, A).shape[:-2]
    return [x, p.constant(0, "i32", batch)]


@builds(L + "solve_triangular")
def solve_triangular(p, A, B, upper, left=True, unitriangular=False):
    return triangular(p, matrix(p, A), matrix(p, B), upper, left, unitriangular)


@builds("triangular_solve")
def triangular_solve(p, B, A, upper=True, transpose=False, unitriangular=False):
    a, b = same_batch(p, matrix(p, A), matrix(p, B))
    return [triangular(p, a, b, upper, True, unitriangular, "transpose" if transpose else "none"), a]


@builds(L + "matrix_power")
def matrix_power(p, A, n):
    return p.same("matrix_power", matrix(p, A), n=n)


@builds("matrix_exp", L + "matrix_exp")
def matrix_exp(p, A):
    return p.same("expm", matrix(p, A))


def lu_parts(p, x):
    k = min(x.shape[-2:])
    return p.op("lu", x, out=[(x.dtype, x.shape), ("i32", x.shape[:-2] + [k]), ("i32", x.shape[:-1])])


@builds(L + "lu_factor", "lu")
def lu_factor(p, A, pivot=True, get_infos=False):
    if not pivot:
        raise NotShared("factors without pivots")
    x = matrix(p, A)
    lu, pivots, _ = lu_parts(p, x)
    found = [lu, p.binary("add", pivots, 1)]
    return found + [no_info(p, x)] if get_infos else found


@builds(L + "lu_factor_ex")
def lu_factor_ex(p, A, pivot=True, check_errors=False):
    return lu_factor(p, A, pivot, True)


@builds(L + "lu")
def lu(p, A, pivot=True):
    if not pivot:
        raise NotShared("factors without pivots")
    x = matrix(p, A)
    m, n = x.shape[-2:]
    k = min(m, n)
    both, _, perm = lu_parts(p, x)
    rank, batch = len(x.shape), x.shape[:-2]
    low = p.same("tril", p.slice(both, rank - 1, 0, k), diagonal=-1)
    ones = p.binary("eq", p.iota("i64", batch + [m, k], rank - 2), p.iota("i64", batch + [m, k], rank - 1))
    low = p.same("add", low, p.convert(ones, x.dtype))
    up = p.same("triu", p.slice(both, rank - 2, 0, k))
    where = p.op("broadcast", perm, out=("i32", batch + [m, m]), dims=list(range(rank - 2)) + [rank - 1])
    return [p.convert(p.binary("eq", where, p.iota("i32", batch + [m, m], rank - 2)), x.dtype), low, up]


@builds(L + "qr", "qr")
def qr(p, A, mode="reduced", some=True):
    raise NotShared("factors up to a sign or phase: Plumb's R has a diagonal that is not negative")


@builds(L + "eigvalsh")
def eigvalsh(p, A, UPLO="L"):
    return eigh(p, A, UPLO)[0]


@builds(L + "eigh")
def eigh(p, A, UPLO="L"):
    x = matrix(p, A)
    return p.op("eigh", x, out=[(part(x.dtype), x.shape[:-1]), (x.dtype, x.shape)], lower=UPLO.upper() == "L")


@builds(L + "svdvals")
def svdvals(p, A):
    return svd(p, A, False)[1]


@builds(L + "svd")
def svd(p, A, full_matrices=True):
    x = matrix(p, A)
    m, n = x.shape[-2:]
    k = min(m, n)
    lead = x.shape[:-2]
    u, vh = ([m, m], [n, n]) if full_matrices else ([m, k], [k, n])
    return p.op("svd", x, out=[(x.dtype, lead + u), (part(x.dtype), lead + [k]), (x.dtype, lead + vh)], full_matrices=full_matrices)


BUILDERS["svd"] = lambda p, input, some=True, compute_uv=True: svd(p, input, not some)


def bound(hermitian, tol, atol, rtol):
    if hermitian or tol is not None or atol is not None or isinstance(rtol, Tensor):
        raise NotShared("a bound of another form than one number times the greatest singular value, or eigenvalues in their place")
    return -1.0 if rtol is None else float(rtol)


@builds(L + "pinv", "pinverse")
def pinv(p, A, rcond=None, hermitian=False, atol=None, rtol=None):
    rtol = bound(hermitian, None, atol, rcond if rtol is None else rtol)
    x = matrix(p, A)
    return p.op("pinv", x, out=(x.dtype, swapped(x.shape)), rtol=rtol)


@builds(L + "matrix_rank")
def matrix_rank(p, A, tol=None, hermitian=False, atol=None, rtol=None):
    rtol = bound(hermitian, tol, atol, rtol)
    x = matrix(p, A)
    return p.op("matrix_rank", x, out=("i64", x.shape[:-2]), rtol=rtol)


def order(ord):
    """The order as a string of the text; None where Plumb has no such."""
    word = {None: "fro", "fro": "fro", "nuc": "nuc", 1: "1", -1: "-1", 2: "2", -2: "-2", math.inf: "inf", -math.inf: "-inf"}.get(ord)
    return word and f'"{word}"'


@builds(L + "matrix_norm")
def matrix_norm(p, A, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    x = matrix(p, A)
    if dtype:
        x = to_complex(p, x) if is_complex(dtype) else p.convert(x, dtype)
    a, b = (axis_of(d, len(x.shape)) for d in dim)
    if order(ord) is None or 0 in (x.shape[a], x.shape[b]):
        raise NotShared("another order, or an empty matrix")
    rest = [d for d in range(len(x.shape)) if d not in (a, b)]
    y = p.transpose(x, rest + [a, b])
    r = p.op("matrix_norm", y, out=(part(y.dtype), y.shape[:-2]), ord=order(ord))
    return p.reshape(r, [1 if d in (a, b) else n for d, n in enumerate(x.shape)]) if keepdim else r


@builds(L + "norm")
def norm(p, A, ord=None, dim=None, keepdim=False, dtype=None):
    x = p.tensor(A)
    many = isinstance(dim, (list, tuple)) and len(dim) == 2
    if ord is not None and (many or (dim is None and len(x.shape) == 2)) or isinstance(ord, str):
        return matrix_norm(p, A, ord, dim if many else (-2, -1), keepdim, dtype)
    if is_complex(x.dtype) or dtype and is_complex(dtype):
        x = p.op("abs", to_complex(p, x), out=(part(to_complex(p, x).dtype), x.shape))
        dtype = None
    return BUILDERS[L + "vector_norm"](p, x, 2 if ord is None else ord, dim, keepdim, dtype)


@builds(L + "cond")
def cond(p, A, p_=None):
    x = matrix(p, A)
    kind = order(2 if p_ is None else p_)
    if kind is None or 0 in x.shape[-2:]:
        raise NotShared("another order, or an empty matrix")
    return p.op("cond", x, out=(part(x.dtype), x.shape[:-2]), ord=kind)


@builds(L + "multi_dot")
def multi_dot(p, tensors):
    xs = [p.tensor(t) for t in tensors]
    r = xs[0]
    for x in xs[1:]:
        r = matmul(p, r, x)
    return r


@builds(L + "vecdot")
def vecdot(p, x, y, dim=-1):
    a, b = p.tensor(x), p.tensor(y)
    s = broadcast(a.shape, b.shape)
    a = conjugate(p, a)
    return p.reduce("reduce_sum", p.binary("mul", p.spread(a, s), p.spread(b, s)), [axis_of(dim, len(s))])


@builds("cross", L + "cross")
def cross(p, input, other, dim=None):
    x, y = p.tensor(input), p.tensor(other)
    s = broadcast(x.shape, y.shape)
    d = next((k for k, n in enumerate(s) if n == 3), None) if dim is None else axis_of(dim, len(s))
    if d is None:
        raise NotShared("no axis of 3")
    x, y = p.spread(x, s), p.spread(y, s)
    roll = lambda v, k: p.same("roll", v, shifts=[k], axes=[d])
    return p.same("sub", p.same("mul", roll(x, -1), roll(y, -2)), p.same("mul", roll(x, -2), roll(y, -1)))


BUILDERS[L + "cross"] = lambda p, input, other, dim=-1: cross(p, input, other, dim)


@builds(L + "tensorinv")
def tensorinv(p, A, ind=2):
    x = p.tensor(A)
    rows = math.prod(x.shape[:ind])
    return p.reshape(inv(p, p.reshape(x, [rows, rows])), x.shape[ind:] + x.shape[:ind])


@builds(L + "vander")
def vander(p, x, N=None):
    v = p.tensor(x)
    v = v if v.shape else p.reshape(v, [1])
    n = v.shape[-1] if N is None else N
    t = v.dtype if is_float(v.dtype) or is_complex(v.dtype) else "i64"
    shape = v.shape + [n]
    v = p.op("broadcast", p.convert(v, t), out=(t, shape), dims=list(range(len(v.shape))))
    first = p.binary("eq", p.iota("i64", shape, len(shape) - 1), 0)
    return p.same("cumprod", p.choose(first, 1, v), axis=len(shape) - 1)
