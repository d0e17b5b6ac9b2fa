"""PyTorch and JAX, loaded when asked for, and what cases need of them: no process holds both."""
from __future__ import annotations

import contextlib
import os
from typing import Any

torch: Any = None   # loaded by load_torch / load_jax, so that one process never holds both frameworks
F: Any = None
jax: Any = None
jnp: Any = None

DEVICE = "cuda"


def load_torch(device: str, threads: int | None) -> None:
    global torch, F
    import torch as torch_module
    import torch.nn.functional as functional

    torch, F = torch_module, functional
    if threads:
        torch.set_num_threads(threads)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False   # a case that wants TF32 turns it on
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = device == "cuda"


def load_jax(device: str) -> None:
    global jax, jnp
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    os.environ["JAX_PLATFORMS"] = device
    import jax as jax_module
    import jax.numpy as jax_numpy

    jax, jnp = jax_module, jax_numpy
    jax.config.update("jax_default_matmul_precision", "highest")
    jax.config.update("jax_enable_compilation_cache", False)


def tdtype(name: str):
    return {"f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[name]


def jdtype(name: str):
    return {"f32": jnp.float32, "tf32": jnp.float32, "bf16": jnp.bfloat16, "f16": jnp.float16}[name]


def trand(shape, dtype: str, *, scale: float = 1.0, grad: bool = False):
    return (torch.randn(shape, device=DEVICE, dtype=torch.float32) * scale).to(tdtype(dtype)).requires_grad_(grad)


_jax_seed = 0


def jrand(shape, dtype: str, *, scale: float = 1.0):
    global _jax_seed
    _jax_seed += 1
    return (jax.random.normal(jax.random.key(_jax_seed), shape, jnp.float32) * scale).astype(jdtype(dtype))


def tints(high: int, shape):
    return torch.randint(0, high, shape, device=DEVICE)


def jints(high: int, shape):
    global _jax_seed
    _jax_seed += 1
    return jax.random.randint(jax.random.key(_jax_seed), shape, 0, high, jnp.int32)


def forward_backward(fn, args):
    """Runs fn on all but the last argument, then its gradient for every input that wants one; last is the cotangent."""
    *inputs, cotangent = args
    wanted = [value for value in inputs if value.requires_grad]
    return torch.autograd.grad(fn(*inputs), wanted, cotangent)


def jax_forward_backward(fn, wanted: int):
    """A JAX function of (inputs…, cotangent) giving fn's value and the gradients of its first `wanted` inputs."""

    def both(*args):
        *inputs, cotangent = args
        value, pull = jax.vjp(lambda *leading: fn(*leading, *inputs[wanted:]), *inputs[:wanted])
        return value, pull(cotangent)

    return both


@contextlib.contextmanager
def torch_tf32(enabled: bool):
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = enabled
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def jax_precision(dtype: str):
    return jax.lax.Precision.DEFAULT if dtype == "tf32" else jax.lax.Precision.HIGHEST
