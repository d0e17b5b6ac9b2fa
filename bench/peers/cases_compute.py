"""Cases that arithmetic bounds."""
from __future__ import annotations

import math

import frameworks as fw
from case import BYTES, Case, Work


def matmul(dtype: str, m: int, n: int, k: int, batch: int = 1, name: str | None = None) -> Case:
    left, right = ((m, k), (k, n)) if batch == 1 else ((batch, m, k), (batch, k, n))
    label = name or f"mm_{m}_{dtype}"
    return Case(
        label, "compute", f"{list(left)} @ {list(right)}", dtype,
        batch * (m * k + k * n + m * n) * BYTES[dtype], 2.0 * batch * m * n * k,
        lambda: Work(fw.torch.matmul, lambda: (fw.trand(left, dtype), fw.trand(right, dtype))),
        lambda: Work(lambda a, b: fw.jnp.matmul(a, b, precision=fw.jax_precision(dtype)),
                     lambda: (fw.jrand(left, dtype), fw.jrand(right, dtype))),
        extra=("inductor-max",))


def matmul_bias_gelu(dtype: str, m: int, n: int, k: int) -> Case:
    return Case(
        f"mm_bias_gelu_{m}_{dtype}", "compute", f"gelu([{m},{k}] @ [{k},{n}] + bias), tanh form", dtype,
        (m * k + k * n + m * n) * BYTES[dtype], 2.0 * m * n * k,
        lambda: Work(lambda a, b, bias: fw.F.gelu(fw.torch.addmm(bias, a, b), approximate="tanh"),
                     lambda: (fw.trand((m, k), dtype), fw.trand((k, n), dtype, scale=k**-0.5), fw.trand(n, dtype))),
        lambda: Work(lambda a, b, bias: fw.jax.nn.gelu(fw.jnp.matmul(a, b, precision=fw.jax_precision(dtype)) + bias),
                     lambda: (fw.jrand((m, k), dtype), fw.jrand((k, n), dtype, scale=k**-0.5), fw.jrand((n,), dtype))),
        extra=("inductor-max",))


def attention(dtype: str, batch: int, heads: int, length: int, width: int, *, causal: bool, backward: bool) -> Case:
    shape = (batch, heads, length, width)
    forward_flops = 4.0 * batch * heads * length * length * width * (0.5 if causal else 1)
    count = batch * heads * length * width

    def torch_work() -> Work:
        def sdpa(q, k, v):
            return fw.F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        def pinned(backend: str):
            def run(q, k, v):
                with fw.torch.nn.attention.sdpa_kernel(getattr(fw.torch.nn.attention.SDPBackend, backend)):
                    return sdpa(q, k, v)
            return run

        def flex(q, k, v):
            return flex_attention(q, k, v, block_mask=mask)

        variants = {}
        if fw.DEVICE == "cuda":
            from torch.nn.attention.flex_attention import create_block_mask, flex_attention
            mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length) if causal else None
            variants = {"sdpa-flash": pinned("FLASH_ATTENTION"), "sdpa-cudnn": pinned("CUDNN_ATTENTION"),
                        "flex": flex, "flex-max": flex}

        def make():
            qkv = tuple(fw.trand(shape, dtype, grad=backward) for _ in range(3))
            return (*qkv, fw.trand(shape, dtype)) if backward else qkv

        return Work(sdpa, make, fw.forward_backward if backward else (lambda fn, args: fn(*args)), grad=backward,
                    variants=variants)

    def jax_work() -> Work:
        def attend(q, k, v):
            return fw.jax.nn.dot_product_attention(q, k, v, is_causal=causal,
                                                implementation="cudnn" if fw.DEVICE == "cuda" else None)

        layout = (batch, length, heads, width)
        make = lambda: tuple(fw.jrand(layout, dtype) for _ in range(4 if backward else 3))
        return Work(fw.jax_forward_backward(attend, 3) if backward else attend, make)

    gpu = ("sdpa-flash", "sdpa-cudnn", "flex", "flex-max") if fw.DEVICE == "cuda" else ()
    return Case(
        f"attention_{'causal' if causal else 'full'}_{'fwdbwd' if backward else 'fwd'}_{dtype}", "compute",
        f"attention B={batch} H={heads} S={length} D={width}{', causal' if causal else ''}"
        f"{', forward and backward' if backward else ', forward'}", dtype,
        (12 if backward else 4) * count * BYTES[dtype], forward_flops * (3.5 if backward else 1),
        torch_work, jax_work, extra=gpu)


def convolution(dtype: str, batch: int, channels: int, side: int) -> Case:
    image, kernel = (batch, channels, side, side), (channels, channels, 3, 3)
    channels_last = dtype in ("bf16", "f16")

    def make_torch():
        values = fw.trand(image, dtype), fw.trand(kernel, dtype, scale=(9 * channels) ** -0.5)
        return tuple(v.contiguous(memory_format=fw.torch.channels_last) for v in values) if channels_last else values

    return Case(
        f"conv3x3_{dtype}", "compute",
        f"3x3 convolution, N={batch} C={channels} {side}x{side}, {'NHWC' if channels_last else 'NCHW'}", dtype,
        (2 * math.prod(image) + math.prod(kernel)) * BYTES[dtype],
        2.0 * batch * side * side * channels * channels * 9,
        lambda: Work(lambda x, w: fw.F.conv2d(x, w, padding=1), make_torch),
        lambda: Work(lambda x, w: fw.jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", precision=fw.jax_precision(dtype)),
                     lambda: (fw.jrand(image, dtype), fw.jrand(kernel, dtype, scale=(9 * channels) ** -0.5))),
        extra=("inductor-max",) if channels_last else ())
