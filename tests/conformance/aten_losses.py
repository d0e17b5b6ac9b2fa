"""Builders for losses that are no operations of Plumb, as the steps of their definitions; and distances."""
import math

from aten_nn import NN, float_operand, softmax
from aten_ops import BUILDERS, builds
from aten_text import NotShared, broadcast, is_complex, is_float


def reduced(p, loss, reduction, deprecated=(None, None)):
    if any(v is not None for v in deprecated):
        raise NotShared("a form of the loss that is deprecated")
    if reduction == "none":
        return loss
    return p.reduce("reduce_mean" if reduction == "mean" else "reduce_sum", loss, list(range(len(loss.shape))))


def same_shape(p, *xs):
    s = broadcast(*[x.shape for x in xs])
    return [p.spread(x, s) for x in xs]


def operands(p, *tensors):
    x = float_operand(p, tensors[0])
    return same_shape(p, x, *[p.convert(p.tensor(t), x.dtype) for t in tensors[1:]])


def at_least_zero(p, x):
    return p.same("maximum", x, p.constant(0, x.dtype, x.shape))


@builds(NN + "soft_margin_loss")
def soft_margin(p, input, target, size_average=None, reduce=None, reduction="mean"):
    x, y = operands(p, input, target)
    return reduced(p, p.same("log1p", p.same("exp", p.same("neg", p.same("mul", x, y)))), reduction, (size_average, reduce))


@builds(NN + "hinge_embedding_loss")
def hinge_embedding(p, input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """Of targets 1 x, of -1 what the margin leaves of it; both of others."""
    x, y = operands(p, input, target)
    beyond = at_least_zero(p, p.binary("add", p.same("neg", x), margin))
    of_one, of_minus_one = (p.choose(p.binary("ne", y, v), part, 0) for v, part in ((1, beyond), (-1, x)))
    return reduced(p, p.same("add", of_one, of_minus_one), reduction, (size_average, reduce))


@builds(NN + "margin_ranking_loss")
def margin_ranking(p, input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    a, b, y = operands(p, input1, input2, target)
    return reduced(p, at_least_zero(p, p.binary("add", p.same("mul", p.same("neg", y), p.same("sub", a, b)), margin)), reduction, (size_average, reduce))


@builds(NN + "cosine_embedding_loss")
def cosine_embedding(p, input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    """One less the cosine of targets 1, what it is above the margin of -1; 1e-12 is added to each square of a length."""
    a, b = operands(p, input1, input2)
    axis = [len(a.shape) - 1]
    dot = lambda v, w: p.reduce("reduce_sum", p.same("mul", v, w), axis)
    length = p.same("sqrt", p.same("mul", *[p.binary("add", dot(v, v), 1e-12) for v in (a, b)]))
    cosine = p.same("div", dot(a, b), length)
    y = p.spread(p.convert(p.tensor(target), a.dtype), cosine.shape)
    near, far = p.binary("add", p.same("neg", cosine), 1), at_least_zero(p, p.binary("sub", cosine, margin))
    loss = p.same("add", p.choose(p.binary("eq", y, 1), near, 0), p.choose(p.binary("eq", y, -1), far, 0))
    return reduced(p, loss, reduction, (size_average, reduce))


@builds(NN + "gaussian_nll_loss")
def gaussian_nll(p, input, target, var, full=False, eps=1e-6, reduction="mean"):
    x, y = operands(p, input, target)
    v = p.number(var, x.dtype)
    if v.shape and len(v.shape) == len(x.shape) - 1:
        v = p.reshape(v, v.shape + [1])
    v = p.same("maximum", v, p.constant(eps, x.dtype, v.shape))
    d = p.same("sub", x, y)
    loss = p.binary("mul", p.binary("add", p.binary("div", p.same("mul", d, d), v), p.same("log", v)), 0.5)
    return reduced(p, p.binary("add", loss, 0.5 * math.log(2 * math.pi)) if full else loss, reduction)


@builds(NN + "poisson_nll_loss")
def poisson_nll(p, input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """With full, Stirling's terms of targets above 1."""
    x, y = operands(p, input, target)
    loss = p.same("sub", p.same("exp", x), p.same("mul", y, x)) if log_input else p.same("sub", x, p.same("mul", y, p.same("log", p.binary("add", x, eps))))
    if full:
        terms = p.same("add", p.same("sub", p.same("mul", y, p.same("log", y)), y), p.binary("mul", p.same("log", p.binary("mul", y, 2 * math.pi)), 0.5))
        loss = p.same("add", loss, p.choose(p.binary("le", y, 1), p.constant(0, x.dtype, y.shape), terms))
    return reduced(p, loss, reduction, (size_average, reduce))


@builds(NN + "multi_margin_loss")
def multi_margin(p, input, target, p_=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    x, y = float_operand(p, input), p.tensor(target)
    single = len(x.shape) < 2
    c = x.shape[-1] if x.shape else 1
    x = p.reshape(x, [x.shape[0] if not single else 1, c])
    y = p.reshape(y, [x.shape[0]])
    at = p.op("broadcast", y, out=("i64", x.shape), dims=[0])
    is_class = p.op("eq", p.iota("i64", x.shape, 1), at, out=("bool", x.shape))
    own = p.op("gather_elements", x, p.reshape(y, y.shape + [1]), out=(x.dtype, y.shape + [1]), axis=1)
    z = at_least_zero(p, p.binary("add", p.binary("sub", x, own), margin))
    z = p.same("mul", z, z) if p_ == 2 else z
    if weight is not None:
        w = p.op("gather", p.tensor(weight), y, out=(x.dtype, y.shape), axis=0)
        z = p.same("mul", z, p.op("broadcast", w, out=(x.dtype, x.shape), dims=[0]))
    loss = p.binary("div", p.reduce("reduce_sum", p.choose(is_class, p.constant(0, x.dtype, x.shape), z), [1]), c)
    return p.reshape(loss, p.theirs[0].shape) if single else reduced(p, loss, reduction, (size_average, reduce))


@builds(NN + "multilabel_soft_margin_loss")
def multilabel_soft_margin(p, input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    x, y = operands(p, input, target)
    inside, outside = (p.same("log_sigmoid", v) for v in (x, p.same("neg", x)))
    loss = p.same("neg", p.same("add", p.same("mul", y, inside), p.same("mul", p.binary("add", p.same("neg", y), 1), outside)))
    loss = loss if weight is None else p.binary("mul", loss, p.tensor(weight))
    return reduced(p, p.reduce("reduce_mean", loss, [len(loss.shape) - 1]), reduction, (size_average, reduce))


@builds(NN + "pairwise_distance")
def pairwise_distance(p, x1, x2, p_=2.0, eps=1e-6, keepdim=False):
    a, b = operands(p, x1, x2)
    d = p.binary("add", p.same("sub", a, b), eps)
    axis = len(d.shape) - 1
    r = p.op("norm", d, out=(d.dtype, d.shape[:-1]), axes=[axis], p=float(p_))
    return p.reshape(r, r.shape + [1]) if keepdim else r


@builds(NN + "triplet_margin_loss")
def triplet_margin(p, anchor, positive, negative, margin=1.0, p_=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
    a, b, c = operands(p, anchor, positive, negative)
    near, far = pairwise_distance(p, a, b, p_, eps), pairwise_distance(p, a, c, p_, eps)
    if swap:
        far = p.same("minimum", far, pairwise_distance(p, b, c, p_, eps))
    return reduced(p, at_least_zero(p, p.binary("add", p.same("sub", near, far), margin)), reduction, (size_average, reduce))


# ── distances and norms ──
@builds("dist")
def dist(p, input, other, p_=2):
    x, y = p.tensor(input), p.tensor(other)
    if is_complex(x.dtype):
        raise NotShared("norm takes no complex numbers")
    return BUILDERS["linalg.vector_norm"](p, p.same("sub", *same_shape(p, x, y)), p_)


@builds("norm")
def norm(p, input, p_="fro", dim=None, keepdim=False, out=None, dtype=None):
    x = p.tensor(input)
    if is_complex(x.dtype) or not is_float(x.dtype):
        raise NotShared("norm takes no complex numbers")
    if p_ == "nuc":
        return BUILDERS["linalg.matrix_norm"](p, x, "nuc", (0, 1) if dim is None else dim, keepdim)
    return BUILDERS["linalg.vector_norm"](p, x, 2 if p_ in ("fro", None) else p_, dim, keepdim, dtype)


@builds("renorm")
def renorm(p, input, p_, dim, maxnorm):
    """Slices whose norm is above the bound, made as long as it: 1e-7 is added to the norm that divides."""
    x = p.tensor(input)
    if is_complex(x.dtype):
        raise NotShared("norm takes no complex numbers")
    d = dim % len(x.shape)
    t = "f32" if x.dtype in ("f16", "bf16") else x.dtype
    length = BUILDERS["linalg.vector_norm"](p, p.convert(x, t), p_, [k for k in range(len(x.shape)) if k != d], True)
    by = p.same("div", p.constant(maxnorm, t, length.shape), p.binary("add", length, 1e-7))
    factor = p.choose(p.binary("gt", length, maxnorm), by, p.constant(1, t, length.shape))
    return p.binary("mul", x, p.convert(factor, x.dtype))


@builds("torch.ops.aten._safe_softmax.default")
def safe_softmax(p, input, dim, dtype=None):
    """softmax, and 0 in rows of nothing but -inf."""
    x = p.tensor(input)
    if is_complex(x.dtype):
        raise NotShared("softmax takes no complex numbers")
    y = p.convert(x, dtype or x.dtype)
    d = dim % max(len(y.shape), 1)
    out = softmax("softmax")(p, y, dim)
    nothing = p.binary("eq", y, -math.inf) if is_float(y.dtype) else p.constant(False, "bool", y.shape)
    return p.choose(p.reduce("reduce_and", nothing, [d] if y.shape else [], True), 0, out)


@builds("_softmax_backward_data")
def softmax_backward(p, grad, output, dim, input_dtype):
    g, y = p.tensor(grad), p.tensor(output)
    d = dim % len(y.shape)
    gy = p.same("mul", g, y)
    return p.same("sub", gy, p.binary("mul", y, p.reduce("reduce_sum", gy, [d], True)))


@builds(NN + "multilabel_margin_loss")
def multilabel_margin(p, input, target, size_average=None, reduce=None, reduction="mean"):
    """Over each class named, up to the first -1, and each class not named: what 1 - (x of the first - x of the second) is above 0."""
    x, y = float_operand(p, input), p.tensor(target)
    single, c = len(x.shape) < 2, x.shape[-1] if x.shape else 1
    x, y = (p.reshape(v, [v.shape[0] if not single else 1, c]) for v in (x, y))
    n = x.shape[0]
    ends = p.same("cumsum", p.convert(p.binary("lt", y, 0), "i64"), axis=1)
    named = p.binary("eq", ends, 0)
    at = p.choose(named, y, 0)
    is_class = p.op("eq", p.op("broadcast", at, out=("i64", [n, c, c]), dims=[0, 1]), p.iota("i64", [n, c, c], 2), out=("bool", [n, c, c]))
    is_class = p.same("and", is_class, p.op("broadcast", named, out=("bool", [n, c, c]), dims=[0, 1]))
    any_class = p.reduce("reduce_or", is_class, [1])
    own = p.op("gather_elements", x, at, out=(x.dtype, [n, c]), axis=1)
    spread = lambda v, dims: p.op("broadcast", v, out=(v.dtype, [n, c, c]), dims=dims)
    z = at_least_zero(p, p.binary("add", p.same("sub", spread(x, [0, 2]), spread(own, [0, 1])), 1))
    counts = p.same("and", spread(named, [0, 1]), p.same("not", spread(any_class, [0, 2])))
    loss = p.binary("div", p.reduce("reduce_sum", p.choose(counts, z, 0), [1, 2]), c)
    return p.reshape(loss, p.theirs[0].shape) if single else reduced(p, loss, reduction, (size_average, reduce))
