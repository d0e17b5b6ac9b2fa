"""Builders for networks' operations: activations, losses, convolutions, normalisations."""
from aten_ops import BUILDERS, axis_of, builds, float_of
from aten_reduce import scalar_axis, softmax
from aten_text import NARROW, NotShared, broadcast, is_complex, is_float

NN = "nn.functional."


def float_operand(p, input):
    x = p.tensor(input)
    if not is_float(x.dtype):
        raise NotShared("integers where Plumb takes floats")
    return x


# ── activations ──
@builds(NN + "relu")
def relu(p, input, inplace=False):
    return p.same("relu", p.tensor(input))


@builds(NN + "relu6")
def relu6(p, input, inplace=False):
    return p.same("hardtanh", p.tensor(input), low=0.0, high=6.0)


@builds(NN + "hardtanh")
def hardtanh(p, input, min_val=-1.0, max_val=1.0, inplace=False):
    return p.same("hardtanh", p.tensor(input), low=float(min_val), high=float(max_val))


@builds(NN + "elu")
def elu(p, input, alpha=1.0, inplace=False):
    return p.same("elu", float_operand(p, input), alpha=float(alpha))


@builds(NN + "celu")
def celu(p, input, alpha=1.0, inplace=False):
    return p.same("celu", float_operand(p, input), alpha=float(alpha))


@builds(NN + "leaky_relu")
def leaky_relu(p, input, negative_slope=0.01, inplace=False):
    x = float_operand(p, input)
    wide = p.convert(x, "f32") if x.dtype in NARROW else x
    return p.convert(p.same("leaky_relu", wide, slope=float(negative_slope)), x.dtype)


for name, plumb in {"selu": "selu", "hardsigmoid": "hard_sigmoid", "hardswish": "hard_swish", "mish": "mish"}.items():
    BUILDERS[NN + name] = lambda p, input, inplace=False, plumb=plumb: p.same(plumb, float_operand(p, input))
for name, plumb in {"logsigmoid": "log_sigmoid", "softsign": "softsign"}.items():
    BUILDERS[NN + name] = lambda p, input, plumb=plumb: p.same(plumb, p.convert(p.tensor(input), float_of(input.dtype)))


@builds(NN + "silu")
def silu(p, input, inplace=False):
    x = float_operand(p, input)
    return p.convert(p.same("silu", p.convert(x, "f32") if x.dtype in NARROW else x), x.dtype)


@builds(NN + "gelu")
def gelu(p, input, approximate="none"):
    x = float_operand(p, input)
    return p.convert(p.same("gelu", p.convert(x, "f32") if x.dtype in NARROW else x, approximate=approximate == "tanh"), x.dtype)


@builds(NN + "softplus")
def softplus(p, input, beta=1, threshold=20):
    return p.same("softplus", float_operand(p, input), beta=float(beta), threshold=float(threshold))


@builds(NN + "hardshrink")
def hardshrink(p, input, lambd=0.5):
    return p.same("shrink", float_operand(p, input), **{"lambda": float(lambd)})


@builds(NN + "softshrink")
def softshrink(p, input, lambd=0.5):
    return p.same("shrink", float_operand(p, input), **{"lambda": float(lambd), "bias": float(lambd)})


@builds(NN + "tanhshrink")
def tanhshrink(p, input):
    x = p.convert(p.tensor(input), float_of(input.dtype))
    return p.same("sub", x, p.same("tanh", x))


@builds(NN + "threshold")
def threshold(p, input, threshold, value, inplace=False):
    return p.same("threshold", p.tensor(input), threshold=float(threshold), value=float(value))


@builds(NN + "prelu")
def prelu(p, input, weight):
    x, w = float_operand(p, input), p.tensor(weight)
    if w.shape and w.shape != [1]:
        w = p.reshape(w, w.shape + [1] * max(len(x.shape) - 2, 0))
    elif not x.shape:
        w = p.reshape(w, [])
    return p.same("prelu", x, w)


@builds(NN + "glu")
def glu(p, input, dim=-1):
    x = float_operand(p, input)
    d = axis_of(dim, len(x.shape))
    return p.op("glu", x, out=(x.dtype, [n // 2 if k == d else n for k, n in enumerate(x.shape)]), axis=d)


@builds(NN + "softmin")
def softmin(p, input, dim, dtype=None):
    x = p.tensor(input)
    return softmax("softmax")(p, p.same("neg", x), dim, dtype)


# ── losses ──
def reduced(x, reduction):
    return (x.dtype, x.shape if reduction == "none" else [])


def pair_loss(plumb, **fixed):
    def build(p, input, target, size_average=None, reduce=None, reduction="mean", **given):
        if size_average is not None or reduce is not None or given.pop("weight", None) is not None:
            raise NotShared("a form of the loss that is deprecated, or weighted")
        x, y = float_operand(p, input), p.tensor(target)
        if is_complex(y.dtype):
            raise NotShared("a complex target")
        mean_of_batch = reduction == "batchmean"
        s = broadcast(x.shape, y.shape)
        x, y = p.spread(x, s), p.spread(p.convert(y, x.dtype), s)
        how = "sum" if mean_of_batch else reduction
        r = p.op(plumb, x, y, out=reduced(x, how), reduction=how, **{fixed.get(k, k): float(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else v for k, v in given.items()})
        return p.same("div", r, p.constant(x.shape[0], x.dtype)) if mean_of_batch else r
    return build


for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div"):
    BUILDERS[NN + name] = pair_loss(name)


@builds(NN + "binary_cross_entropy", NN + "binary_cross_entropy_with_logits")
def bce(p, input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None, logits=False):
    if size_average is not None or reduce is not None:
        raise NotShared("a form of the loss that is deprecated")
    x = float_operand(p, input)
    xs = [x, p.tensor(target)]
    if weight is not None or pos_weight is not None:
        xs.append(p.constant(1, x.dtype) if weight is None else p.tensor(weight))
    if pos_weight is not None:
        xs.append(p.tensor(pos_weight))
    return p.op("binary_cross_entropy" + ("_with_logits" if logits else ""), *[p.convert(v, x.dtype) for v in xs], out=reduced(x, reduction), reduction=reduction)


BUILDERS[NN + "binary_cross_entropy_with_logits"] = lambda p, input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None: bce(p, input, target, weight, size_average, reduce, reduction, pos_weight, True)


def class_loss(plumb, p, input, target, weight, ignore_index, reduction, **more):
    x, y = float_operand(p, input), p.tensor(target)
    xs = [x, y] + ([p.tensor(weight)] if weight is not None else [])
    d = 0 if len(x.shape) == 1 else 1
    shape = x.shape[:d] + x.shape[d + 1:]
    return p.op(plumb, *xs, out=(x.dtype, shape if reduction == "none" else []), reduction=reduction, ignore_index=ignore_index, **more)


@builds(NN + "nll_loss")
def nll_loss(p, input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return class_loss("nll_loss", p, input, target, weight, ignore_index, reduction)


@builds(NN + "cross_entropy")
def cross_entropy(p, input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    r = class_loss("cross_entropy", p, input, target, weight, ignore_index, reduction, label_smoothing=float(label_smoothing))
    return r


# ── convolutions and linear maps ──
def entries(v, n):
    v = [v] if isinstance(v, int) else list(v)
    return v * n if len(v) == 1 else v


def with_bias(p, y, bias, axis=1):
    if bias is None:
        return y
    b = p.tensor(bias)
    return p.same("add", y, p.op("broadcast", b, out=(y.dtype, y.shape), dims=[axis]))


def convolution(p, x, w, bias, stride, low, high, dilation, groups, lhs_dilation=None):
    n = len(w.shape) - 2
    single = len(x.shape) == n + 1
    if single:
        x = p.reshape(x, [1] + x.shape)
    inner = [(s - 1) * l + 1 for s, l in zip(x.shape[2:], lhs_dilation or [1] * n)]
    sizes = [(s + a + b - ((k - 1) * d + 1)) // t + 1 for s, a, b, k, d, t in zip(inner, low, high, w.shape[2:], dilation, stride)]
    y = p.op("convolution", x, w, out=(x.dtype, [x.shape[0], w.shape[0]] + sizes), stride=stride, low=low, high=high, rhs_dilation=dilation, lhs_dilation=lhs_dilation or [1] * n, groups=groups)
    y = with_bias(p, y, bias)
    return p.reshape(y, y.shape[1:]) if single else y


def conv(n):
    def build(p, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        x, w = p.tensor(input), p.tensor(weight)
        stride, dilation = entries(stride, n), entries(dilation, n)
        if padding == "same":
            total = [(k - 1) * d for k, d in zip(w.shape[2:], dilation)]
            low = [t // 2 for t in total]
            high = [t - a for t, a in zip(total, low)]
        else:
            low = high = [0] * n if padding == "valid" else entries(padding, n)
        return convolution(p, x, w, bias, stride, low, high, dilation, groups)
    return build


def conv_transpose(n):
    def build(p, input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        x, w = p.tensor(input), p.tensor(weight)
        stride, padding, extra, dilation = (entries(v, n) for v in (stride, padding, output_padding, dilation))
        i, o = w.shape[:2]  # [in, out / groups, window…] becomes [out, in / groups, window reversed…]
        w = p.reshape(w, [groups, i // groups, o] + w.shape[2:])
        w = p.reshape(p.transpose(w, [0, 2, 1] + list(range(3, n + 3))), [groups * o, i // groups] + w.shape[3:])
        w = p.same("reverse", w, axes=list(range(2, n + 2)))
        low = [(k - 1) * d - a for k, d, a in zip(w.shape[2:], dilation, padding)]
        return convolution(p, x, w, bias, [1] * n, low, [a + e for a, e in zip(low, extra)], dilation, groups, stride)
    return build


for n in (1, 2, 3):
    BUILDERS[f"{NN}conv{n}d"], BUILDERS[f"{NN}conv_transpose{n}d"] = conv(n), conv_transpose(n)


@builds(NN + "linear")
def linear(p, input, weight, bias=None):
    x, w = p.tensor(input), p.tensor(weight)
    y = p.op("dot_general", x, w, out=(x.dtype, x.shape[:-1] + w.shape[:-1]), lhs_contract=[len(x.shape) - 1], rhs_contract=[len(w.shape) - 1])
    return y if bias is None else p.same("add", y, p.spread(p.tensor(bias), y.shape))


@builds(NN + "embedding")
def embedding(p, weight, input, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        raise NotShared("max_norm changes the table in place")
    at, w = p.tensor(input), p.tensor(weight)
    return p.op("gather", w, at, out=(w.dtype, at.shape + w.shape[1:]), axis=0)


# ── normalisations ──
def affine(p, x, weight, bias):
    """Scale and bias where there is one of them."""
    if weight is None and bias is None:
        return []
    c = x.shape[1]
    return [p.constant(v, x.dtype, [c]) if t is None else p.convert(p.tensor(t), x.dtype) for t, v in ((weight, 1), (bias, 0))]


@builds(NN + "group_norm")
def group_norm(p, input, num_groups, weight=None, bias=None, eps=1e-5):
    x = float_operand(p, input)
    s = (x.dtype, [x.shape[0], num_groups])
    return p.op("group_norm", x, *affine(p, x, weight, bias), out=[(x.dtype, x.shape), s, s], groups=num_groups, epsilon=eps)[0]


@builds("aten.native_group_norm")
def native_group_norm(p, input, weight, bias, N, C, HxW, group, eps):
    x = p.tensor(input)
    s = (x.dtype, [N, group])
    return p.op("group_norm", x, *affine(p, x, weight, bias), out=[(x.dtype, x.shape), s, s], groups=group, epsilon=eps)


@builds(NN + "instance_norm")
def instance_norm(p, input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    if not use_input_stats:
        raise NotShared("running statistics")
    x = float_operand(p, input)
    return p.same("instance_norm", x, *affine(p, x, weight, bias), epsilon=eps)


@builds(NN + "batch_norm")
def batch_norm(p, input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    x = float_operand(p, input)
    if len(x.shape) < 2:
        raise NotShared("x without a channel axis")
    c = (x.dtype, [x.shape[1]])
    if training:
        return p.op("batch_norm_training", x, *affine(p, x, weight, bias), out=[(x.dtype, x.shape), c, c], epsilon=eps)[0]
    scale, shift = affine(p, x, weight, bias) or [p.constant(v, *c) for v in (1, 0)]
    return p.same("batch_norm", x, scale, shift, *[p.convert(p.tensor(t), x.dtype) for t in (running_mean, running_var)], epsilon=eps)


@builds("aten._native_batch_norm_legit_no_training")
def batch_norm_legit(p, input, weight, bias, mean, var, momentum, eps):
    return [batch_norm(p, input, mean, var, weight, bias, False, momentum, eps)] + [p.constant(0, "f32", [0])] * 2


@builds(NN + "layer_norm")
def layer_norm(p, input, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = float_operand(p, input)
    tail = list(normalized_shape)
    xs = [p.constant(v, x.dtype, tail) if t is None else p.convert(p.tensor(t), x.dtype) for t, v in ((weight, 1), (bias, 0))]
    wide = [p.convert(v, "f32") for v in (x, *xs)] if x.dtype in NARROW else [x, *xs]
    return p.convert(p.same("layer_norm", *wide, axis=len(x.shape) - len(tail), epsilon=eps), x.dtype)


@builds("native_layer_norm", "aten.native_layer_norm")
def native_layer_norm(p, input, normalized_shape, weight, bias, eps):
    x = p.tensor(input)
    axes = list(range(len(x.shape) - len(normalized_shape), len(x.shape)))
    inner = p.convert(x, "f32") if x.dtype in NARROW else x
    shape = x.shape[:axes[0]]
    var, mean = p.op("var_mean", inner, out=[(inner.dtype, shape)] * 2, axes=axes, correction=0.0)
    rstd = p.same("reciprocal", p.same("sqrt", p.same("add", var, p.constant(eps, inner.dtype, shape))))
    kept = shape + [1] * len(axes)
    return [layer_norm(p, x, normalized_shape, weight, bias, eps)] + [p.convert(p.reshape(v, kept), x.dtype) for v in (mean, rstd)]


@builds(NN + "rms_norm")
def rms_norm(p, input, normalized_shape, weight=None, eps=None):
    x = float_operand(p, input)
    if eps is None:
        eps = {"f64": 2.0 ** -52}.get(x.dtype, 2.0 ** -23)
    return p.same("rms_norm", x, *([] if weight is None else [p.tensor(weight)]), axis=len(x.shape) - len(normalized_shape), epsilon=eps)


@builds(NN + "local_response_norm")
def local_response_norm(p, input, size, alpha=1e-4, beta=0.75, k=1.0):
    return p.same("local_response_norm", float_operand(p, input), size=size, alpha=float(alpha), beta=float(beta), k=float(k), low_side=False)


@builds(NN + "normalize")
def normalize(p, input, p_=2.0, dim=1, eps=1e-12, out=None):
    x = float_operand(p, input)
    y = p.reshape(x, scalar_axis(x))
    return p.reshape(p.same("normalize", y, axis=axis_of(dim, len(y.shape)), p=float(p_), epsilon=eps), x.shape)


@builds(NN + "one_hot")
def one_hot(p, tensor, num_classes=-1):
    classes = p.theirs[0].shape[-1]
    x = p.tensor(tensor)
    return p.op("one_hot", x, out=("i64", x.shape + [classes]), classes=classes)


@builds(NN + "bilinear")
def bilinear(p, input1, input2, weight, bias=None):
    """Sums over both inputs' last axes, one after the other."""
    x, y, w = p.tensor(input1), p.tensor(input2), p.tensor(weight)
    lead = x.shape[:-1]
    m, (o, i, j) = 1, w.shape
    for n in lead:
        m *= n
    x, y = p.reshape(x, [m, i]), p.reshape(y, [m, j])
    xw = p.op("dot_general", x, w, out=(x.dtype, [m, o, j]), lhs_contract=[1], rhs_contract=[1])
    r = p.op("dot_general", xw, y, out=(x.dtype, [m, o]), lhs_batch=[0], rhs_batch=[0], lhs_contract=[2], rhs_contract=[1])
    r = p.reshape(r, lead + [o])
    return r if bias is None else p.binary("add", r, p.tensor(bias))


@builds(NN + "embedding_bag")
def embedding_bag(p, weight, input, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Bags are the rows of input, or begin at the offsets."""
    if max_norm is not None:
        raise NotShared("max_norm changes the table in place")
    at = p.tensor(input)
    begins = p.vector(range(0, at.shape[0] * at.shape[1], at.shape[1])) if len(at.shape) == 2 else p.convert(p.tensor(offsets), "i64")
    flat = lambda v: v if v is None else p.reshape(p.tensor(v), [at.shape[0] * at.shape[1]]) if len(at.shape) == 2 else p.tensor(v)
    return BUILDERS["aten._embedding_bag"](p, weight, flat(at), begins, False, ("sum", "mean", "max").index(mode), False, flat(per_sample_weights), include_last_offset, -1 if padding_idx is None else padding_idx % weight.shape[0])
