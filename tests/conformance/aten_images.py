"""Builders for what reads images: pools, resizing, patches, distances, attention; and gradients."""
import math

from aten_ops import BUILDERS, axis_of, builds
from aten_nn import NN, affine, entries, float_operand
from aten_text import NARROW, NotShared, broadcast


# ── pools ──
def window(n, kernel_size, stride, padding, dilation=1):
    k = entries(kernel_size, n)
    s = k if stride in (None, [], ()) else entries(stride, n)
    pad = entries(padding, n)
    return dict(kernel=k, stride=s, low=pad, high=pad, dilation=entries(dilation, n))


def pooled(x, w, ceil_mode):
    n = len(w["kernel"])
    out = []
    for size, k, s, low, high, d in zip(x.shape[-n:], *w.values()):
        free = size + low + high - ((k - 1) * d + 1)
        o = free // s + 1
        if ceil_mode:
            o = -(-free // s) + 1
            o -= (o - 1) * s >= size + low
        out.append(o)
    return x.shape[:-n] + out


def max_pool(n):
    def build(p, input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        x, w = p.tensor(input), window(n, kernel_size, stride, padding, dilation)
        s = pooled(x, w, ceil_mode)
        r = p.op("max_pool", x, out=[(x.dtype, s), ("i64", s)], ceil_mode=ceil_mode, **w)
        return r if return_indices else r[0]
    return build


def avg_pool(n):
    def build(p, input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        x, w = float_operand(p, input), window(n, kernel_size, stride, padding)
        return p.op("avg_pool", x, out=(x.dtype, pooled(x, w, ceil_mode)), ceil_mode=ceil_mode, count_include_pad=count_include_pad, divisor=divisor_override or 0, **w)
    return build


def adaptive(n):
    def build(p, input, output_size):
        x = float_operand(p, input)
        size = [x.shape[-n + k] if s is None else s for k, s in enumerate(entries(output_size, n) if output_size is not None else [None] * n)]
        return p.op("adaptive_avg_pool", x, out=(x.dtype, x.shape[:-n] + size), size=size)
    return build


for n in (1, 2, 3):
    BUILDERS[f"{NN}max_pool{n}d"], BUILDERS[f"{NN}avg_pool{n}d"], BUILDERS[f"{NN}adaptive_avg_pool{n}d"] = max_pool(n), avg_pool(n), adaptive(n)
    BUILDERS[f"aten.max_pool{n}d_with_indices"] = lambda p, *args, n=n: max_pool(n)(p, *args, return_indices=True)
BUILDERS["aten._adaptive_avg_pool3d"] = adaptive(3)


# ── resizing ──
MODES = {"nearest": "nearest", "nearest-exact": "nearest_exact", "linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}


def resized(p, x, size, mode, align_corners, scales):
    return p.op("upsample", x, out=(x.dtype, x.shape[:2] + size), size=size, mode=mode, align_corners=bool(align_corners), scales=[float(s) for s in scales or []])


@builds(NN + "interpolate", NN + "upsample_bilinear", NN + "upsample_nearest")
def interpolate(p, input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    x = p.tensor(input)
    n = len(x.shape) - 2
    if antialias:
        raise NotShared("antialias")
    if not mode.startswith("nearest"):
        float_operand(p, input)
    if mode == "area":
        sizes = entries(size, n) if size is not None else [math.floor(s * f) for s, f in zip(x.shape[2:], [scale_factor] * n if isinstance(scale_factor, (int, float)) else scale_factor)]
        return adaptive(n)(p, input, sizes)
    if size is not None:
        return resized(p, x, entries(size, n), MODES[mode], align_corners, None)
    scales = [float(scale_factor)] * n if isinstance(scale_factor, (int, float)) else list(scale_factor)
    return resized(p, x, [math.floor(s * f) for s, f in zip(x.shape[2:], scales)], MODES[mode], align_corners, None if recompute_scale_factor else scales)


BUILDERS[NN + "upsample_bilinear"] = lambda p, input, size=None, scale_factor=None: interpolate(p, input, size, scale_factor, "bilinear", True)


def upsample_vec(mode):
    def build(p, input, size, *rest):
        align, scales = rest if len(rest) == 2 else (False, *rest)
        x = p.tensor(input)
        return resized(p, x, list(size) if size else [math.floor(s * f) for s, f in zip(x.shape[2:], scales)], mode, align, scales)
    return build


for name, mode in (("nearest", "nearest"), ("bilinear", "linear"), ("bicubic", "cubic")):
    BUILDERS[f"aten.upsample_{name}2d.vec"] = upsample_vec(mode)


@builds("grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(p, input, grid, mode, padding, align_corners):
    x, g = float_operand(p, input), p.tensor(grid)
    return p.op("grid_sample", x, g, out=(x.dtype, x.shape[:2] + g.shape[1:-1]), mode=("linear", "nearest", "cubic")[mode], padding=("zeros", "border", "reflection")[padding], align_corners=align_corners, by_tap=True)


@builds(NN + "grid_sample")
def grid_sample(p, input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    return grid_sampler(p, input, grid, ("bilinear", "nearest", "bicubic").index(mode), ("zeros", "border", "reflection").index(padding_mode), bool(align_corners))


@builds(NN + "pixel_shuffle")
def pixel_shuffle(p, input, upscale_factor, inverse=False):
    x, r = p.tensor(input), upscale_factor
    c, h, w = x.shape[-3:]
    return p.op("pixel_shuffle", x, out=(x.dtype, x.shape[:-3] + ([c * r * r, h // r, w // r] if inverse else [c // (r * r), h * r, w * r])), factor=r, inverse=inverse)


BUILDERS[NN + "pixel_unshuffle"] = lambda p, input, downscale_factor: pixel_shuffle(p, input, downscale_factor, True)


def patches(sizes, kernel, dilation, padding, stride):
    return math.prod((s + 2 * a - (k - 1) * d - 1) // t + 1 for s, k, d, a, t in zip(sizes, kernel, dilation, padding, stride))


@builds(NN + "unfold", "aten.im2col")
def unfold(p, input, kernel_size, dilation=1, padding=0, stride=1):
    x = p.tensor(input)
    if x.dtype == "bool":
        raise NotShared("bools where Plumb takes numbers")
    kernel, dilation, padding, stride = (entries(v, 2) for v in (kernel_size, dilation, padding, stride))
    single = len(x.shape) == 3
    x = p.reshape(x, [1] + x.shape) if single else x
    shape = [x.shape[0], x.shape[1] * math.prod(kernel), patches(x.shape[2:], kernel, dilation, padding, stride)]
    y = p.op("im2col", x, out=(x.dtype, shape), kernel=kernel, stride=stride, padding=padding, dilation=dilation)
    return p.reshape(y, shape[1:]) if single else y


@builds("aten.col2im")
def col2im(p, input, size, kernel, dilation, padding, stride):
    x = p.tensor(input)
    return p.op("col2im", x, out=(x.dtype, [x.shape[0], x.shape[1] // math.prod(kernel)] + list(size)), size=list(size), kernel=list(kernel), stride=list(stride), padding=list(padding), dilation=list(dilation))


# ── distances and attention ──
@builds("cdist", "aten._cdist_forward")
def cdist(p, x1, x2, p_=2.0, compute_mode=None):
    x, y = p.tensor(x1), p.tensor(x2)
    return p.op("cdist", x, y, out=(x.dtype, broadcast(x.shape[:-2], y.shape[:-2]) + [x.shape[-2], y.shape[-2]]), p=float(p_))


@builds(NN + "pdist", "aten._pdist_forward")
def pdist(p, input, p_=2.0):
    x = p.tensor(input)
    n = x.shape[0]
    return p.op("pdist", x, out=(x.dtype, [n * (n - 1) // 2]), p=float(p_))


@builds(NN + "cosine_similarity")
def cosine_similarity(p, x1, x2, dim=1, eps=1e-8):
    x, y = float_operand(p, x1), p.tensor(x2)
    s = broadcast(x.shape, y.shape) or [1]
    d = axis_of(dim, len(s))
    return p.op("cosine_similarity", p.spread(x, s), p.spread(y, s), out=(x.dtype, s[:d] + s[d + 1:]), axis=d, epsilon=eps)


@builds(NN + "scaled_dot_product_attention")
def attention(p, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if dropout_p:
        raise NotShared("dropout")
    q, k, v = (p.tensor(t) for t in (query, key, value))
    mask = [] if attn_mask is None else [p.tensor(attn_mask)]
    return p.op("scaled_dot_product_attention", q, k, v, *mask, out=(q.dtype, q.shape[:-1] + v.shape[-1:]), causal=is_causal, scale=float(scale or 0))


@builds("aten._embedding_bag")
def embedding_bag(p, weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=-1):
    w, at, begin = p.tensor(weight), p.tensor(indices), p.tensor(offsets)
    if include_last_offset:
        begin = p.slice(begin, 0, 0, begin.shape[0] - 1)
    more = [p.tensor(per_sample_weights)] if per_sample_weights is not None else []
    return p.op("embedding_bag", w, at, begin, *more, out=(w.dtype, [begin.shape[0], w.shape[1]]), mode=("sum", "mean", "max")[mode], padding_index=padding_idx)


# ── gradients ──
@builds("aten.convolution_backward")
def convolution_backward(p, grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask):
    dy, x, w = (p.tensor(t) for t in (grad, input, weight))
    return p.op("convolution_backward", dy, x, w, out=[(x.dtype, x.shape), (w.dtype, w.shape), (x.dtype, [dy.shape[1]])], stride=list(stride), padding=list(padding), dilation=list(dilation), transposed=transposed, groups=groups)


@builds("aten.avg_pool2d_backward")
def avg_pool_backward(p, grad, input, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    dy, x = p.tensor(grad), p.tensor(input)
    return p.op("avg_pool_backward", dy, x, out=(x.dtype, x.shape), ceil_mode=ceil_mode, count_include_pad=count_include_pad, divisor=divisor or 0, **window(2, kernel, stride, padding))


@builds("aten.max_pool2d_with_indices_backward", "max_pool2d_with_indices_backward")
def max_pool_backward(p, grad, input, kernel, stride, padding, dilation, ceil_mode, indices):
    dy = p.tensor(grad)
    return p.op("max_pool_backward", dy, p.tensor(indices), out=(dy.dtype, input.shape), size=input.shape[-2:])


@builds("aten._adaptive_avg_pool2d_backward")
def adaptive_backward(p, grad, input):
    dy, x = p.tensor(grad), p.tensor(input)
    return p.op("adaptive_avg_pool_backward", dy, x, out=(x.dtype, x.shape), axes=2)


@builds("aten.native_layer_norm_backward")
def layer_norm_backward(p, grad, input, normalized_shape, mean, rstd, weight, bias, mask):
    dy, x, m, r, w = (p.tensor(t) for t in (grad, input, mean, rstd, weight))
    axis = len(x.shape) - len(normalized_shape)
    m, r = (p.reshape(v, x.shape[:axis]) for v in (m, r))
    return p.op("layer_norm_backward", dy, x, m, r, w, out=[(x.dtype, x.shape), (w.dtype, w.shape), (w.dtype, w.shape)], axis=axis)


@builds("aten.native_group_norm_backward")
def group_norm_backward(p, grad, input, mean, rstd, weight, N, C, HxW, group, mask):
    dy, x, m, r, w = (p.tensor(t) for t in (grad, input, mean, rstd, weight))
    return p.op("group_norm_backward", dy, x, m, r, w, out=[(x.dtype, x.shape), (w.dtype, w.shape), (w.dtype, w.shape)], groups=group)


@builds("aten.embedding_dense_backward")
def embedding_backward(p, grad, indices, rows, padding, by_frequency):
    dy, at = p.tensor(grad), p.tensor(indices)
    return p.op("embedding_backward", dy, at, out=(dy.dtype, [rows, dy.shape[-1]]), rows=rows, padding_index=padding, by_frequency=by_frequency)


@builds("aten._native_batch_norm_legit.no_stats")
def batch_norm_no_stats(p, input, weight, bias, training, momentum, eps):
    x = p.tensor(input)
    c = (x.dtype, [x.shape[1]])
    y, mean, var = p.op("batch_norm_training", x, *affine(p, x, weight, bias), out=[(x.dtype, x.shape), c, c], epsilon=eps)
    return [y, mean, p.same("reciprocal", p.same("sqrt", p.same("add", var, p.constant(eps, *c))))]


@builds("_native_batch_norm_legit", "native_batch_norm")
def native_batch_norm(p, input, weight, bias, *more):
    """Running statistics or none of them, training, momentum, epsilon; PyTorch's CPU gives none of its own without training."""
    *running, training, momentum, eps = more
    if len(input.shape) < 2 or not training:
        raise NotShared("x without a channel axis, or inference, whose statistics are empty")
    x = p.tensor(input)
    wide = "f32" if x.dtype in NARROW else x.dtype  # the statistics' dtype
    return [p.convert(v, t.dtype) for v, t in zip(batch_norm_no_stats(p, p.convert(x, wide), weight, bias, training, momentum, eps), p.theirs)]


def adaptive_max(n):
    """One axis after another: the parts that adaptive_avg_pool cuts, the greatest of each."""
    def build(p, input, output_size, return_indices=False):
        x = p.tensor(input)
        first = len(x.shape) - n
        wanted = output_size if isinstance(output_size, (list, tuple)) else [output_size] * n
        y = x
        for d, want in zip(range(first, len(x.shape)), wanted):
            size = y.shape[d]
            want = size if want is None else want
            bounds = [(k * size // want, -(-(k + 1) * size // want)) for k in range(want)]
            y = p.concat([p.reduce("reduce_max", p.slice(y, d, a, b), [d], True) for a, b in bounds], d)
        if not return_indices:
            return y
        flat = lambda v: p.reshape(v, v.shape[:first] + [math.prod(v.shape[first:])])
        return [y, p.reshape(p.place_of(flat(x), first, flat(y), 1), y.shape)]
    return build


def max_unpool(n):
    """Each value at its place of the image, flattened; of several at one place the last, as in memory."""
    def build(p, input, indices, kernel_size, stride=None, padding=0, output_size=None):
        x, at, s = p.tensor(input), p.tensor(indices), p.theirs[0].shape
        first = len(x.shape) - n
        flat = lambda v: p.reshape(v, v.shape[:first] + [math.prod(v.shape[first:])])
        image = p.constant(0, x.dtype, s[:first] + [math.prod(s[first:])])
        return p.reshape(p.same("scatter_elements", image, flat(at), flat(x), axis=first), s)
    return build


for n in (1, 2, 3):
    BUILDERS[f"{NN}adaptive_max_pool{n}d"], BUILDERS[f"{NN}max_unpool{n}d"] = adaptive_max(n), max_unpool(n)
