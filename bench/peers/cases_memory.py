"""Cases that memory bounds."""
from __future__ import annotations

import math

import frameworks as fw
from case import BYTES, MI, Case, Work


def pointwise(dtype: str, count: int) -> Case:
    def chain(x, tanh):
        return 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)))

    return Case(
        f"pointwise_{dtype}", "memory", f"9-op pointwise chain (tanh gelu written out), {count // MI} Mi elements",
        dtype, 2 * count * BYTES[dtype], 0,
        lambda: Work(lambda x: chain(x, fw.torch.tanh), lambda: (fw.trand(count, dtype),)),
        lambda: Work(lambda x: chain(x, fw.jnp.tanh), lambda: (fw.jrand((count,), dtype),)))


def bias_gelu(dtype: str, rows: int, cols: int) -> Case:
    return Case(
        f"bias_gelu_{dtype}", "memory", f"gelu(x + bias) tanh form, x [{rows},{cols}]",
        dtype, 2 * rows * cols * BYTES[dtype], 0,
        lambda: Work(lambda x, b: fw.F.gelu(x + b, approximate="tanh"),
                     lambda: (fw.trand((rows, cols), dtype), fw.trand(cols, dtype))),
        lambda: Work(lambda x, b: fw.jax.nn.gelu(x + b), lambda: (fw.jrand((rows, cols), dtype), fw.jrand((cols,), dtype))))


def softmax(dtype: str, rows: int, cols: int) -> Case:
    return Case(
        f"softmax_{rows}x{cols}_{dtype}", "memory", f"softmax over rows of [{rows},{cols}]",
        dtype, 2 * rows * cols * BYTES[dtype], 0,
        lambda: Work(lambda x: fw.torch.softmax(x, -1), lambda: (fw.trand((rows, cols), dtype),)),
        lambda: Work(lambda x: fw.jax.nn.softmax(x, -1), lambda: (fw.jrand((rows, cols), dtype),)))


def jax_layer_norm(x, weight, bias):
    wide = x.astype(fw.jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    scaled = (wide - mean) * fw.jax.lax.rsqrt(fw.jnp.square(wide - mean).mean(-1, keepdims=True) + 1e-5)
    return (scaled * weight + bias).astype(x.dtype)


def layer_norm(dtype: str, rows: int, cols: int) -> Case:
    return Case(
        f"layernorm_fwd_{dtype}", "memory", f"layer_norm forward [{rows},{cols}], affine",
        dtype, 2 * rows * cols * BYTES[dtype], 0,
        lambda: Work(lambda x, w, b: fw.F.layer_norm(x, (cols,), w, b),
                     lambda: (fw.trand((rows, cols), dtype), fw.trand(cols, dtype), fw.trand(cols, dtype))),
        lambda: Work(jax_layer_norm,
                     lambda: (fw.jrand((rows, cols), dtype), fw.jrand((cols,), dtype), fw.jrand((cols,), dtype))))


def layer_norm_grad(dtype: str, rows: int, cols: int) -> Case:
    return Case(
        f"layernorm_fwdbwd_{dtype}", "memory", f"layer_norm forward, then gradients of x, weight, bias [{rows},{cols}]",
        dtype, 5 * rows * cols * BYTES[dtype], 0,
        lambda: Work(lambda x, w, b: fw.F.layer_norm(x, (cols,), w, b),
                     lambda: (fw.trand((rows, cols), dtype, grad=True), fw.trand(cols, dtype, grad=True),
                              fw.trand(cols, dtype, grad=True), fw.trand((rows, cols), dtype)),
                     fw.forward_backward, grad=True),
        lambda: Work(fw.jax_forward_backward(jax_layer_norm, 3),
                     lambda: (fw.jrand((rows, cols), dtype), fw.jrand((cols,), dtype), fw.jrand((cols,), dtype),
                              fw.jrand((rows, cols), dtype))))


def jax_rms_norm(x, weight):
    wide = x.astype(fw.jnp.float32)
    return (wide * fw.jax.lax.rsqrt(fw.jnp.square(wide).mean(-1, keepdims=True) + 1e-5) * weight).astype(x.dtype)


def rms_norm(dtype: str, rows: int, cols: int) -> Case:
    def written_out(x, weight):
        wide = x.float()
        return (wide * fw.torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5) * weight).to(x.dtype)

    return Case(
        f"rmsnorm_fwd_{dtype}", "memory", f"rms_norm forward [{rows},{cols}], written out as model code does",
        dtype, 2 * rows * cols * BYTES[dtype], 0,
        lambda: Work(written_out, lambda: (fw.trand((rows, cols), dtype), fw.trand(cols, dtype))),
        lambda: Work(jax_rms_norm, lambda: (fw.jrand((rows, cols), dtype), fw.jrand((cols,), dtype))))


def reduction(dtype: str, axis: int | None, rows: int, cols: int) -> Case:
    name, over = ("all", "everything") if axis is None else (f"dim{axis}", f"dim {axis}")
    return Case(
        f"sum_{name}_{dtype}", "memory", f"sum over {over} of [{rows},{cols}]",
        dtype, rows * cols * BYTES[dtype], 0,
        lambda: Work(lambda x: x.sum() if axis is None else x.sum(axis), lambda: (fw.trand((rows, cols), dtype),)),
        lambda: Work(lambda x: x.sum(axis), lambda: (fw.jrand((rows, cols), dtype),)))


def transpose_add(dtype: str, side: int) -> Case:
    return Case(
        f"transpose_add_{dtype}", "memory", f"x + y.T [{side},{side}]", dtype, 3 * side * side * BYTES[dtype], 0,
        lambda: Work(lambda x, y: x + y.t(), lambda: (fw.trand((side, side), dtype), fw.trand((side, side), dtype))),
        lambda: Work(lambda x, y: x + y.T, lambda: (fw.jrand((side, side), dtype), fw.jrand((side, side), dtype))))


def cross_entropy(dtype: str, rows: int, classes: int) -> Case:
    def torch_call(fn, args):
        logits, target = args
        return fw.torch.autograd.grad(fn(logits, target), logits)

    def jax_loss(logits, target):
        logs = fw.jax.nn.log_softmax(logits.astype(fw.jnp.float32), -1)
        return -fw.jnp.take_along_axis(logs, target[:, None], 1).mean()

    return Case(
        f"cross_entropy_fwdbwd_{dtype}", "memory", f"mean cross entropy and its gradient, logits [{rows},{classes}]",
        dtype, 2 * rows * classes * BYTES[dtype], 0,
        lambda: Work(fw.F.cross_entropy, lambda: (fw.trand((rows, classes), dtype, grad=True), fw.tints(classes, (rows,))),
                     torch_call, grad=True),
        lambda: Work(fw.jax.value_and_grad(jax_loss), lambda: (fw.jrand((rows, classes), dtype), fw.jints(classes, (rows,)))))


def embedding(dtype: str, tokens: int, vocab: int, width: int) -> Case:
    distinct = vocab * -math.expm1(-tokens / vocab)   # rows touched by uniform random ids
    return Case(
        f"embedding_fwdbwd_{dtype}", "memory",
        f"gather {tokens} rows of table [{vocab},{width}], then the table's dense gradient",
        dtype, (distinct + 2 * tokens + vocab) * width * BYTES[dtype] + 16 * tokens, 0,
        lambda: Work(lambda table, ids: fw.F.embedding(ids, table),
                     lambda: (fw.trand((vocab, width), dtype, grad=True), fw.tints(vocab, (tokens,)),
                              fw.trand((tokens, width), dtype)),
                     fw.forward_backward, grad=True),
        lambda: Work(fw.jax_forward_backward(lambda table, ids: table[ids], 1),
                     lambda: (fw.jrand((vocab, width), dtype), fw.jints(vocab, (tokens,)), fw.jrand((tokens, width), dtype))))


def cumsum(dtype: str, rows: int, cols: int) -> Case:
    return Case(
        f"cumsum_{dtype}", "memory", f"cumulative sum along rows of [{rows},{cols}]",
        dtype, 2 * rows * cols * BYTES[dtype], 0,
        lambda: Work(lambda x: x.cumsum(-1), lambda: (fw.trand((rows, cols), dtype),)),
        lambda: Work(lambda x: x.cumsum(-1), lambda: (fw.jrand((rows, cols), dtype),)))


def adam(count: int) -> Case:
    rate, beta1, beta2, eps, step = 1e-3, 0.9, 0.999, 1e-8, 7
    fix1, fix2 = 1 - beta1**step, 1 - beta2**step

    def in_place(param, grad, mean, square):
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        param.addcdiv_(mean, (square / fix2).sqrt_().add_(eps), value=-rate / fix1)

    def fused(param, grad, mean, square):
        fw.torch._fused_adam_([param], [grad], [mean], [square], [], [fw.torch.full((), 7.0, device=param.device)], lr=rate,
                           beta1=beta1, beta2=beta2, weight_decay=0.0, eps=eps, amsgrad=False, maximize=False)

    def functional(param, grad, mean, square):
        mean = beta1 * mean + (1 - beta1) * grad
        square = beta2 * square + (1 - beta2) * grad * grad
        return param - rate / fix1 * mean / (fw.jnp.sqrt(square / fix2) + eps), mean, square

    return Case(
        "adam_f32", "memory", f"one Adam update of {count // MI} Mi parameters", "f32", 7 * count * 4, 0,
        lambda: Work(in_place, lambda: (*(fw.trand(count, "f32") for _ in range(3)), fw.trand(count, "f32").abs()),
                     variants={"eager-fused": fused}),
        lambda: Work(functional, lambda: (*(fw.jrand((count,), "f32") for _ in range(3)), abs(fw.jrand((count,), "f32")))),
        extra=("eager-fused",))
