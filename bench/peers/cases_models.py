"""Cases of whole models, and of one call that does next to nothing."""
from __future__ import annotations

import frameworks as fw
from case import BYTES, Case, Work
from cases_memory import jax_layer_norm, jax_rms_norm


def gpt2_block(dtype: str, batch: int, length: int, width: int, heads: int) -> Case:
    tokens = batch * length
    flops = 24.0 * tokens * width**2 * 3 + 4.0 * batch * length**2 * width / 2 * 3.5

    def torch_work() -> Work:
        nn = fw.torch.nn

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

            def forward(self, x):
                q, k, v = (part.view(batch, length, heads, -1).transpose(1, 2)
                           for part in self.qkv(self.norm1(x)).split(width, -1))
                mixed = fw.F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
                x = x + self.project(mixed.reshape(batch, length, width))
                return x + self.down(fw.F.gelu(self.up(self.norm2(x)), approximate="tanh"))

        block = Block().to(fw.DEVICE, fw.tdtype(dtype))
        params = list(block.parameters())
        shape = (batch, length, width)
        return Work(block, lambda: (fw.trand(shape, dtype, grad=True), fw.trand(shape, dtype)),
                    lambda fn, args: fw.torch.autograd.grad(fn(args[0]), [args[0], *params], args[1]), grad=True, sets=4)

    def jax_work() -> Work:
        def block(x, p):
            q, k, v = fw.jnp.split(jax_layer_norm(x, p["n1w"], p["n1b"]) @ p["qkvw"] + p["qkvb"], 3, -1)
            q, k, v = (part.reshape(batch, length, heads, -1) for part in (q, k, v))
            mixed = fw.jax.nn.dot_product_attention(
                q, k, v, is_causal=True, implementation="cudnn" if fw.DEVICE == "cuda" else None)
            x = x + mixed.reshape(batch, length, width) @ p["pw"] + p["pb"]
            return x + fw.jax.nn.gelu(jax_layer_norm(x, p["n2w"], p["n2b"]) @ p["uw"] + p["ub"]) @ p["dw"] + p["db"]

        sizes = {"n1w": (width,), "n1b": (width,), "n2w": (width,), "n2b": (width,), "qkvw": (width, 3 * width),
                 "qkvb": (3 * width,), "pw": (width, width), "pb": (width,), "uw": (width, 4 * width),
                 "ub": (4 * width,), "dw": (4 * width, width), "db": (width,)}
        params = {name: fw.jrand(size, dtype, scale=0.02) for name, size in sizes.items()}
        shape = (batch, length, width)
        return Work(fw.jax_forward_backward(block, 2), lambda: (fw.jrand(shape, dtype), params, fw.jrand(shape, dtype)), sets=4)

    return Case(
        f"gpt2_block_fwdbwd_{dtype}", "model",
        f"GPT-2 block forward and backward, B={batch} S={length} d={width} h={heads}", dtype,
        (4 * tokens * width + 3 * 12 * width**2) * BYTES[dtype], flops, torch_work, jax_work,
        extra=("inductor-graphs",) if fw.DEVICE == "cuda" else ())


def llama_block(dtype: str, batch: int, length: int, width: int, heads: int, hidden: int) -> Case:
    tokens, head = batch * length, width // heads
    flops = 2.0 * tokens * (4 * width**2 + 3 * width * hidden) + 4.0 * batch * length**2 * width / 2
    sizes = {"n1": (width,), "n2": (width,), "q": (width, width), "k": (width, width), "v": (width, width),
             "o": (width, width), "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}

    def torch_work() -> Work:
        nn = fw.torch.nn

        class Norm(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(fw.torch.ones(width))

            def forward(self, x):
                wide = x.float()
                return (wide * fw.torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm1, self.norm2 = Norm(), Norm()
                linear = lambda i, o: nn.Linear(i, o, bias=False)
                self.q, self.k, self.v, self.o = (linear(width, width) for _ in range(4))
                self.gate, self.up, self.down = linear(width, hidden), linear(width, hidden), linear(hidden, width)
                angle = fw.torch.outer(fw.torch.arange(length), 10000.0 ** (-fw.torch.arange(0, head, 2) / head))
                self.register_buffer("cos", angle.cos())
                self.register_buffer("sin", angle.sin())

            def rotate(self, x):
                low, high = x.float().chunk(2, -1)
                return fw.torch.cat((low * self.cos - high * self.sin, high * self.cos + low * self.sin), -1).to(x.dtype)

            def forward(self, x):
                h = self.norm1(x)
                q, k, v = (part(h).view(batch, length, heads, head).transpose(1, 2)
                           for part in (self.q, self.k, self.v))
                mixed = fw.F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
                x = x + self.o(mixed.transpose(1, 2).reshape(batch, length, width))
                h = self.norm2(x)
                return x + self.down(fw.F.silu(self.gate(h)) * self.up(h))

        block = Block().to(fw.DEVICE, fw.tdtype(dtype))
        return Work(block, lambda: (fw.trand((batch, length, width), dtype),), sets=4)

    def jax_work() -> Work:
        angle = fw.jnp.outer(fw.jnp.arange(length), 10000.0 ** (-fw.jnp.arange(0, head, 2) / head))
        cos, sin = fw.jnp.cos(angle)[:, None, :], fw.jnp.sin(angle)[:, None, :]

        def rotate(x):
            low, high = fw.jnp.split(x.astype(fw.jnp.float32), 2, -1)
            return fw.jnp.concatenate((low * cos - high * sin, high * cos + low * sin), -1).astype(x.dtype)

        def block(x, p):
            h = jax_rms_norm(x, p["n1"])
            q, k, v = ((h @ p[name]).reshape(batch, length, heads, head) for name in "qkv")
            mixed = fw.jax.nn.dot_product_attention(
                rotate(q), rotate(k), v, is_causal=True, implementation="cudnn" if fw.DEVICE == "cuda" else None)
            x = x + mixed.reshape(batch, length, width) @ p["o"]
            h = jax_rms_norm(x, p["n2"])
            return x + (fw.jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]

        params = {name: fw.jrand(size, dtype, scale=0.02) for name, size in sizes.items()}
        return Work(block, lambda: (fw.jrand((batch, length, width), dtype), params), sets=4)

    return Case(
        f"llama_block_fwd_{dtype}", "model",
        f"Llama block forward (RMSNorm, RoPE, SwiGLU {hidden}), B={batch} S={length} d={width} h={heads}", dtype,
        (2 * tokens * width + 4 * width**2 + 3 * width * hidden) * BYTES[dtype], flops, torch_work, jax_work,
        extra=("inductor-max",))


def mlp_step(batch: int) -> Case:
    widths = [784, 1024, 1024, 10]
    weights = sum(i * o + o for i, o in zip(widths, widths[1:]))
    flops = 2.0 * batch * sum(i * o for i, o in zip(widths, widths[1:])) * 3 - 2.0 * batch * widths[0] * widths[1]

    def torch_work() -> Work:
        nn = fw.torch.nn

        def assemble(compiler, peer: str):
            model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                                  nn.Linear(1024, 10)).to(fw.DEVICE)
            optimiser = fw.torch.optim.Adam(model.parameters(), fused=True if peer == "eager-fused" else None)
            loss_of = compiler(lambda x, y: fw.F.cross_entropy(model(x), y))
            update = compiler(lambda: optimiser.step(), fullgraph=False)

            def step(x, y):
                loss = loss_of(x, y)
                loss.backward()
                update()
                optimiser.zero_grad(set_to_none=True)
                return loss

            return step

        return Work(None, lambda: (fw.trand((batch, 784), "f32"), fw.tints(10, (batch,))), grad=True, sets=8,
                    assemble=assemble)

    def jax_work() -> Work:
        def loss_of(params, x, y):
            for weight, bias in params[:-1]:
                x = fw.jax.nn.relu(x @ weight + bias)
            logs = fw.jax.nn.log_softmax(x @ params[-1][0] + params[-1][1])
            return -fw.jnp.take_along_axis(logs, y[:, None], 1).mean()

        def step(state, x, y):
            params, mean, square, count = state
            loss, grads = fw.jax.value_and_grad(loss_of)(params, x, y)
            count = count + 1
            each = fw.jax.tree.map
            mean = each(lambda m, g: 0.9 * m + 0.1 * g, mean, grads)
            square = each(lambda s, g: 0.999 * s + 0.001 * g * g, square, grads)
            fix1, fix2 = 1 - 0.9**count, 1 - 0.999**count
            params = each(lambda p, m, s: p - 1e-3 * (m / fix1) / (fw.jnp.sqrt(s / fix2) + 1e-8), params, mean, square)
            return (params, mean, square, count), loss

        params = [(fw.jrand((i, o), "f32", scale=i**-0.5), fw.jnp.zeros(o)) for i, o in zip(widths, widths[1:])]
        zeros = fw.jax.tree.map(fw.jnp.zeros_like, params)
        state = (params, zeros, zeros, fw.jnp.float32(0))
        return Work(step, lambda: (state, fw.jrand((batch, 784), "f32"), fw.jints(10, (batch,))), sets=8)

    return Case(
        "mlp_step_f32", "model", f"784-1024-1024-10 MLP, batch {batch}: loss, gradients, Adam", "f32",
        (7 * weights + batch * 784) * 4, flops, torch_work, jax_work,
        extra=("eager-fused", *(("inductor-graphs",) if fw.DEVICE == "cuda" else ())))


def resnet50(dtype: str, batch: int) -> Case:
    def torch_work() -> Work:
        import torchvision

        layout = fw.torch.channels_last if dtype != "f32" else fw.torch.contiguous_format
        model = torchvision.models.resnet50(weights=None).eval().to(fw.DEVICE, fw.tdtype(dtype)).to(memory_format=layout)
        return Work(model, lambda: (fw.trand((batch, 3, 224, 224), dtype).contiguous(memory_format=layout),), sets=4)

    return Case(
        f"resnet50_{dtype}", "model", f"ResNet-50 inference, batch {batch}, 224x224", dtype,
        (batch * 3 * 224 * 224 + 25.6e6) * BYTES[dtype], 2 * 4.09e9 * batch, torch_work, None)


def dispatch() -> Case:
    return Case(
        "dispatch_add1", "overhead", "a + b on one-element tensors: cost of one call", "f32", 12, 0,
        lambda: Work(lambda a, b: a + b, lambda: (fw.trand(1, "f32"), fw.trand(1, "f32")), sets=1),
        lambda: Work(lambda a, b: a + b, lambda: (fw.jrand((1,), "f32"), fw.jrand((1,), "f32")), sets=1))
