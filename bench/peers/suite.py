"""All cases, by device."""
from __future__ import annotations

from case import MI, Case
from cases_compute import attention, convolution, matmul, matmul_bias_gelu
from cases_memory import (adam, bias_gelu, cross_entropy, cumsum, embedding, layer_norm, layer_norm_grad, pointwise, reduction, rms_norm,
                          softmax, transpose_add)
from cases_models import dispatch, gpt2_block, llama_block, mlp_step, resnet50


def suite(device: str) -> list[Case]:
    if device == "cuda":
        both = [case for dtype in ("f32", "bf16") for case in (
            pointwise(dtype, 64 * MI), bias_gelu(dtype, 8192, 8192), softmax(dtype, 16384, 4096),
            softmax(dtype, 4096, 50257), layer_norm(dtype, 16384, 4096), layer_norm_grad(dtype, 16384, 4096),
            rms_norm(dtype, 16384, 4096), reduction(dtype, 0, 16384, 8192), reduction(dtype, 1, 16384, 8192),
            reduction(dtype, None, 16384, 8192), transpose_add(dtype, 8192), cross_entropy(dtype, 8192, 50257),
            embedding(dtype, 65536, 50257, 1024), cumsum(dtype, 4096, 16384))]
        return [
            *both, adam(64 * MI), dispatch(), mlp_step(256), gpt2_block("bf16", 8, 1024, 768, 12),
            llama_block("bf16", 2, 2048, 4096, 32, 11008),
            matmul("bf16", 8192, 8192, 8192), matmul("bf16", 4096, 4096, 4096),
            matmul_bias_gelu("bf16", 8192, 8192, 8192),
            matmul("bf16", 16, 8192, 8192, name="mm_skinny16_bf16"),
            matmul("bf16", 512, 512, 512, 64, name="bmm_64x512_bf16"),
            matmul("f32", 4096, 4096, 4096), matmul("tf32", 4096, 4096, 4096),
            *(attention("bf16", 8, 32, 2048, 128, causal=causal, backward=backward)
              for backward in (False, True) for causal in (True, False)),
            convolution("bf16", 64, 256, 56), convolution("f32", 64, 256, 56), convolution("tf32", 64, 256, 56),
            resnet50("f16", 32), resnet50("f32", 32)]
    return [
        pointwise("f32", 4 * MI), softmax("f32", 4096, 4096), layer_norm("f32", 4096, 4096),
        layer_norm_grad("f32", 4096, 4096), matmul("f32", 1024, 1024, 1024), matmul("f32", 2048, 2048, 2048),
        matmul_bias_gelu("f32", 1024, 1024, 1024), dispatch(), mlp_step(256), gpt2_block("f32", 1, 256, 768, 12),
        *(attention("f32", 1, 8, 512, 64, causal=causal, backward=False) for causal in (True, False)),
        attention("f32", 1, 8, 512, 64, causal=True, backward=True), convolution("f32", 1, 64, 56),
        bias_gelu("f32", 2048, 2048), rms_norm("f32", 4096, 4096), reduction("f32", 0, 4096, 4096),
        reduction("f32", 1, 4096, 4096), reduction("f32", None, 4096, 4096), transpose_add("f32", 2048),
        cross_entropy("f32", 512, 50257), embedding("f32", 8192, 50257, 768), cumsum("f32", 1024, 4096), adam(4 * MI),
        pointwise("bf16", 4 * MI), softmax("bf16", 4096, 4096), layer_norm("bf16", 4096, 4096),
        matmul("bf16", 1024, 1024, 1024), resnet50("f32", 1)]
