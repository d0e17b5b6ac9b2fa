#!/usr/bin/env python3
"""Writes PyTorch's operator samples, with what PyTorch answers to them on the CPU, to files that aten_samples.py reads.

usage: aten_dump.py --out FOLDER [--seconds N] [--parts N] [--ops REGEX] [--part K]

Needs PyTorch 2.11 or later, and numpy. One process a part; a part writes FOLDER/aten_K.npz, less than 8 MB, again
after each dtype, so that a process that dies leaves what it had. A file holds two byte arrays: `index`, JSON, and `blob`, the
tensors one after another, row-major, in the machine's (little) byte order; a bool is one byte, bf16 two.

index: {"torch", "cpu", "samples": [{"op", "variant", "dtype", "args", "kwargs", "out"}], "counts", "problems", "core"}
core, in part 0: the schemas of the operations that PyTorch tags as core.
A value: a tensor {"t": [dtype, shape, offset]}, with "strides" where it was not row-major; {"tuple": […]}, a list; {"dict": …}; {"slice": [start, stop, step]};
{"dtype": name}; {"f": "nan"|"inf"|"-inf"}; {"c": [re, im]}; {"ellipsis": 1}; {"repr": text} for what has no other form.
"""
import argparse
import hashlib
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time
import types
import unittest
import warnings

import numpy

DTYPES = "float32 int64 bool float64 complex64 float16 bfloat16 int32 uint8 int8 int16 complex128".split()
BLOB_BYTES = 7_200_000     # of a part
PAIR_BYTES = 12_000        # of one operation and dtype; float32 may have three times as much
SAMPLE_BYTES = 4_000       # larger samples are left out, unless an operation has no smaller one
MOST = {"float32": 40, "float64": 12}  # samples of one operation; other dtypes: 10
SKIP = re.compile(r"empty|^rand|randn|bernoulli|normal$|multinomial|dropout|uniform|exponential|cauchy|geometric|log_normal|rrelu|"
                  r"sparse|jiterator|data_ptr|nested|pin_memory|_flash_|_efficient_|_fused_")


def import_torch():
    """PyTorch and its sample database. The database imports a test library that is not always there; none of it is used."""
    sys.argv = sys.argv[:1]
    try:
        import expecttest  # noqa: F401
    except ImportError:
        stub = types.ModuleType("expecttest")
        stub.TestCase = unittest.TestCase
        stub.assert_expected_inline = stub.hash_file = None
        sys.modules["expecttest"] = stub
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
    torch.set_num_threads(1)
    return torch, op_db


class Store:
    """Tensors of a part, each content once."""

    def __init__(self, torch):
        self.torch, self.blob, self.known = torch, bytearray(), {}

    def bytes_of(self, tensor):
        torch = self.torch
        t = tensor.detach().resolve_conj().resolve_neg().contiguous().cpu()
        if t.dtype == torch.bfloat16:
            t = t.view(torch.int16)
        return t.numpy().tobytes()

    def tensor(self, tensor):
        if tensor.layout != self.torch.strided or tensor.is_quantized:
            raise TypeError(f"a tensor of layout {tensor.layout}")
        data = self.bytes_of(tensor)
        key = hashlib.blake2b(data, digest_size=16).digest()
        if key not in self.known:
            self.blob += b"\0" * (-len(self.blob) % 8)
            self.known[key] = len(self.blob)
            self.blob += data
        entry = {"t": [str(tensor.dtype).removeprefix("torch."), list(tensor.shape), self.known[key]]}
        return entry if tensor.is_contiguous() else entry | {"strides": list(tensor.stride())}

    def value(self, v):
        torch = self.torch
        if isinstance(v, torch.Tensor):
            return self.tensor(v)
        if v is None or isinstance(v, (bool, str)):
            return v
        if isinstance(v, (int, numpy.integer)):
            return int(v)
        if isinstance(v, (float, numpy.floating)):
            return float(v) if math.isfinite(v) else {"f": "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"}
        if isinstance(v, complex):
            return {"c": [self.value(v.real), self.value(v.imag)]}
        if isinstance(v, torch.dtype):
            return {"dtype": str(v).removeprefix("torch.")}
        if isinstance(v, slice):
            return {"slice": [self.value(x) for x in (v.start, v.stop, v.step)]}
        if v is Ellipsis:
            return {"ellipsis": 1}
        if isinstance(v, list) or isinstance(v, torch.Size):
            return [self.value(x) for x in v]
        if isinstance(v, tuple):
            return {"tuple": [self.value(x) for x in v]}
        if isinstance(v, dict):
            return {"dict": {str(k): self.value(x) for k, x in v.items()}}
        if isinstance(v, numpy.ndarray):
            return self.tensor(torch.from_numpy(v))
        return {"repr": repr(v)[:200]}


def bytes_in(torch, v):
    if isinstance(v, torch.Tensor):
        return v.numel() * v.element_size()
    if isinstance(v, (list, tuple)):
        return sum(bytes_in(torch, x) for x in v)
    if isinstance(v, dict):
        return sum(bytes_in(torch, x) for x in v.values())
    return 8


class Part:
    def __init__(self, torch, number, parts, folder, deadline):
        self.torch, self.number, self.parts, self.folder, self.deadline = torch, number, parts, folder, deadline
        self.store, self.samples, self.counts, self.problems, self.core = Store(torch), [], {}, {}, []

    def late(self):
        return time.time() > self.deadline or len(self.store.blob) > BLOB_BYTES

    def problem(self, op, error):
        text = f"{type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"
        seen = self.problems.setdefault(op, {})
        if text in seen or len(seen) < 4:
            seen[text] = seen.get(text, 0) + 1

    def drawn(self, make, most):
        """At most `most` of an iterable's items, taken evenly from the first few hundred."""
        items, give_up = [], time.time() + 8
        for item in make():
            items.append(item)
            if len(items) >= 400 or time.time() > give_up:
                break
        return items if len(items) <= most else [items[k * len(items) // most] for k in range(most)]

    def run(self, name, variant, dtype, call, args, kwargs):
        """Records one call; gives how many bytes it took."""
        torch, before = self.torch, len(self.store.blob)
        entry = {"op": name, "variant": variant, "dtype": dtype, "args": self.store.value(tuple(args))["tuple"], "kwargs": self.store.value(kwargs)["dict"]}
        torch.manual_seed(7)
        with torch.no_grad():
            entry["out"] = self.store.value(call(*args, **kwargs))
        self.samples.append(entry)
        self.counts.setdefault(name, {}).setdefault(dtype, 0)
        self.counts[name][dtype] += 1
        return len(self.store.blob) - before

    def operation(self, op, dtype):
        torch = self.torch
        t = getattr(torch, dtype)
        if t not in op.supported_dtypes("cpu"):
            return
        most, room = MOST.get(dtype, 10), PAIR_BYTES * (3 if dtype == "float32" else 1)
        found = self.drawn(lambda: op.sample_inputs("cpu", t, requires_grad=False), most)
        if dtype in ("float32", "int64", "complex64") and op.reference_inputs_func is not None:
            found += self.drawn(lambda: op.reference_inputs("cpu", t, requires_grad=False), most // 2)
        sized = [(bytes_in(torch, (s.input, s.args, s.kwargs)), s) for s in found]
        small = [s for size, s in sized if size <= SAMPLE_BYTES]
        if not small:
            small = [s for size, s in sorted(sized, key=lambda x: x[0])[:2] if size <= 200_000]
        for s in small:
            if room <= 0 or self.late():
                break
            kept = len(self.store.blob)
            try:
                room -= self.run(op.name, op.variant_test_name, dtype, op.op, (s.input, *s.args), dict(s.kwargs))
            except Exception as e:  # an operation that throws is counted and named
                del self.store.blob[kept:]
                self.store.known = {k: v for k, v in self.store.known.items() if v < kept}
                self.problem(op.name, e)

    def save(self):
        index = {"torch": self.torch.__version__, "cpu": getattr(self.torch.backends.cpu, "get_cpu_capability", lambda: "?")(),
                 "samples": self.samples, "counts": self.counts, "problems": self.problems, "core": self.core}
        to = self.folder / f"aten_{self.number}.npz"
        temporary = self.folder / f".aten_{self.number}.tmp.npz"
        numpy.savez_compressed(temporary, index=numpy.frombuffer(json.dumps(index).encode(), numpy.uint8), blob=numpy.frombuffer(bytes(self.store.blob), numpy.uint8))
        os.replace(temporary, to)
        return to.stat().st_size


def core_calls(torch):
    """Makers of calls of core ATen operations that the database has no, or few, samples of: each gives (call, args[, kwargs])."""
    a = torch.ops.aten

    def f(*shape):
        return torch.randn(*shape)

    def layer_norm(mask):
        x, w, b = f(4, 6), f(6), f(6)
        _, mean, rstd = a.native_layer_norm(x, [6], w, b, 1e-5)
        return a.native_layer_norm_backward, (f(4, 6), x, [6], mean, rstd, w, b, mask)

    def group_norm(mask):
        x, w, b = f(2, 6, 5), f(6), f(6)
        _, mean, rstd = a.native_group_norm(x, w, b, 2, 6, 5, 3, 1e-5)
        return a.native_group_norm_backward, (f(2, 6, 5), x, mean, rstd, w, 2, 6, 5, 3, mask)

    def convolution(x, w, stride, padding, dilation, transposed, output_padding, groups):
        y = a.convolution(x, w, None, stride, padding, dilation, transposed, output_padding, groups)
        bias = [w.shape[1] * groups if transposed else w.shape[0]]
        return a.convolution_backward, (torch.randn_like(y), x, w, bias, stride, padding, dilation, transposed, output_padding, groups, [True, True, True])

    def max_pool(x, *how):
        y, at = a.max_pool2d_with_indices(x, *how)
        return a.max_pool2d_with_indices_backward, (torch.randn_like(y), x, *how, at)

    def avg_pool(x, kernel, stride, padding, ceil, count, divisor):
        y = a.avg_pool2d(x, kernel, stride, padding, ceil, count, divisor)
        return a.avg_pool2d_backward, (torch.randn_like(y), x, kernel, stride, padding, ceil, count, divisor)

    t = torch.tensor
    masks = [True, True, True]
    return [
        lambda: layer_norm(masks), lambda: group_norm(masks),
        lambda: convolution(f(2, 3, 8), f(4, 3, 3), [2], [1], [1], False, [0], 1),
        lambda: convolution(f(2, 4, 7, 6), f(6, 2, 3, 2), [2, 1], [1, 0], [1, 2], False, [0, 0], 2),
        lambda: convolution(f(2, 4, 5, 4), f(4, 3, 3, 2), [2, 1], [1, 0], [1, 1], True, [1, 0], 2),
        lambda: convolution(f(1, 2, 4, 5, 3), f(3, 2, 2, 2, 2), [1, 2, 1], [0, 1, 0], [1, 1, 1], False, [0, 0, 0], 1),
        lambda: max_pool(f(2, 3, 7, 6), [3, 2], [2, 2], [1, 0], [1, 2], False),
        lambda: max_pool(f(1, 2, 7, 7), [3, 3], [2, 2], [1, 1], [1, 1], True),
        lambda: max_pool(f(1, 1, 6, 6), [3, 3], [1, 1], [0, 0], [1, 1], False),
        lambda: avg_pool(f(2, 3, 7, 6), [3, 2], [2, 2], [1, 0], False, True, None),
        lambda: avg_pool(f(1, 2, 7, 7), [3, 3], [2, 2], [1, 1], True, False, None),
        lambda: avg_pool(f(1, 2, 6, 6), [2, 3], [1, 2], [0, 1], True, True, 5),
        lambda: (a.embedding_dense_backward, (f(5, 3), t([0, 2, 2, 1, 0]), 4, -1, False)),
        lambda: (a.embedding_dense_backward, (f(5, 3), t([0, 2, 2, 1, 0]), 4, 2, True)),
        lambda: (a._adaptive_avg_pool2d_backward, (f(2, 3, 3, 4), f(2, 3, 7, 6))),
        lambda: (a._adaptive_avg_pool2d_backward, (f(1, 2, 2, 2), f(1, 2, 4, 4))),
        lambda: (a._adaptive_avg_pool3d, (f(1, 2, 5, 4, 3), [2, 3, 2])),
        *[lambda p=p: (a._cdist_forward, (f(4, 3), f(5, 3), p, None)) for p in (0.0, 1.0, 1.5, 2.0, math.inf)],
        lambda: (a._cdist_forward, (f(2, 4, 3), f(2, 5, 3), 1.0, None)),
        *[lambda p=p: (a._pdist_forward, (f(5, 3), p)) for p in (0.0, 1.0, 1.5, 2.0, math.inf)],
        *[lambda mode=mode: (a._embedding_bag, (f(6, 3), t([0, 2, 5, 2, 1]), t([0, 2, 2]), False, mode)) for mode in (0, 1, 2)],
        lambda: (a._embedding_bag, (f(6, 3), t([0, 2, 5, 2, 1]), t([0, 2, 5]), False, 0, False, f(5), True, 2)),
        lambda: (a._native_batch_norm_legit.no_stats, (f(3, 2, 4), f(2), f(2), True, 0.1, 1e-5)),
        lambda: (a._native_batch_norm_legit_no_training, (f(3, 2, 4), f(2), f(2), f(2), f(2).abs(), 0.1, 1e-5)),
        lambda: (a.native_layer_norm, (f(4, 6), [6], f(6), f(6), 1e-5)),
        lambda: (a.native_group_norm, (f(2, 6, 5), f(6), f(6), 2, 6, 5, 3, 1e-5)),
        lambda: (a.max_pool2d_with_indices, (f(2, 3, 7, 6), [3, 2], [2, 2], [1, 0], [1, 2], False)),
        lambda: (a.max_pool3d_with_indices, (f(1, 2, 5, 6, 4), [2, 3, 2], [2, 1, 2], [1, 1, 0], [1, 1, 1], True)),
        *[lambda align=align, scale=scale: (a.upsample_bilinear2d.vec, (f(1, 2, 3, 4), None if scale else [5, 9], align, scale))
          for align in (False, True) for scale in (None, [1.7, 2.3])],
        *[lambda scale=scale: (a.upsample_nearest2d.vec, (f(1, 2, 3, 4), None if scale else [5, 9], scale)) for scale in (None, [1.7, 2.3])],
        *[lambda align=align: (a.upsample_bicubic2d.vec, (f(1, 2, 3, 4), [5, 9], align, None)) for align in (False, True)],
        lambda: (a.reflection_pad1d, (f(2, 5), [2, 3])), lambda: (a.reflection_pad2d, (f(1, 4, 5), [2, 1, 1, 3])),
        lambda: (a.reflection_pad3d, (f(1, 3, 4, 5), [2, 1, 1, 3, 2, 0])),
        lambda: (a.replication_pad2d, (f(1, 4, 5), [2, 1, 1, 3])), lambda: (a.replication_pad3d, (f(1, 3, 4, 5), [2, 1, 1, 3, 2, 0])),
        lambda: (a.constant_pad_nd, (f(2, 5), [1, -2, -1, 3], 1.5)),
        lambda: (a.col2im, (f(1, 12, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1])),
        lambda: (a.im2col, (f(1, 3, 5, 6), [2, 3], [2, 1], [1, 0], [1, 2])),
        lambda: (a.as_strided, (f(12), [3, 4], [2, 1], 2)),
        lambda: (a.var_mean.correction, (f(3, 4), [1]), {"correction": 1}),
        lambda: (a._softmax, (f(3, 4), 1, False)), lambda: (a._log_softmax, (f(3, 4), 1, False)),
        *[lambda how=how: (a.scatter_reduce.two, (f(4, 3), 0, t([[0, 1, 1], [2, 2, 2]]), f(2, 3), how)) for how in ("sum", "prod", "mean", "amax", "amin")],
        lambda: (a.scatter_reduce.two, (f(4, 3), 0, t([[0, 1, 1], [2, 2, 2]]), f(2, 3), "mean"), {"include_self": False}),
        lambda: (a.index_put, (f(4, 3), [t([0, 2, 0])], f(3, 3), True)), lambda: (a.index_put, (f(4, 3), [t([0, 2]), t([1, 1])], f(2), False)),
        lambda: (a.index.Tensor, (f(4, 3, 5), [t([0, 2, 0]), None, t([1, 4, 4])])), lambda: (a.index.Tensor, (f(4, 3, 5), [None, t([[0, 2], [1, 1]])])),
    ]


def core_schemas(torch):
    found = []
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::"):
            continue
        packet = getattr(torch.ops.aten, schema.name.removeprefix("aten::"), None)
        overload = getattr(packet, schema.overload_name or "default", None)
        if overload is not None and torch.Tag.core in overload.tags:
            found.append(str(schema))
    return sorted(found)


def run_part(number, parts, folder, deadline, pattern):
    torch, op_db = import_torch()
    warnings.simplefilter("ignore")
    part = Part(torch, number, parts, folder, deadline)
    mine = [op for op in op_db if pattern.search(op.name) and not SKIP.search(op.name)]
    mine = sorted(mine, key=lambda op: (op.name, op.variant_test_name))[number::parts]
    if number == 0:
        torch.manual_seed(1)
        try:
            part.core = core_schemas(torch)
        except Exception as e:
            part.problem("core schemas", e)
        for k, make in enumerate(core_calls(torch)):
            try:
                call, args, *more = make()
                part.run("aten." + str(call).removeprefix("aten."), "", "float32", call, args, more[0] if more else {})
            except Exception as e:
                part.problem(f"core call {k}", e)
    for dtype in DTYPES:
        for op in mine:
            if part.late():
                break
            torch.manual_seed(1)
            numpy.random.seed(1)
            try:
                part.operation(op, dtype)
            except Exception as e:
                part.problem(op.name, e)
        size = part.save()
        print(f"part {number}: {dtype}: {len(part.samples)} samples of {len(part.counts)} operations, {size} bytes", flush=True)
    if part.problems:
        print(f"part {number}: problems: {json.dumps(part.problems)[:1500]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=480, help="for all of it")
    parser.add_argument("--parts", type=int, default=8, help="processes, and files")
    parser.add_argument("--ops", default="", help="a regular expression of operations' names")
    parser.add_argument("--part", type=int, help="only this part, in this process")
    o = parser.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    deadline = time.time() + o.seconds
    if o.part is not None:
        run_part(o.part, o.parts, o.out, deadline, re.compile(o.ops))
        return 0
    command = [sys.executable, __file__, "--out", str(o.out), "--seconds", str(o.seconds), "--parts", str(o.parts), "--ops", o.ops]
    running = [subprocess.Popen([*command, "--part", str(k)]) for k in range(o.parts)]
    codes = []
    for p in running:
        try:
            codes.append(p.wait(max(1.0, deadline + 40 - time.time())))
        except subprocess.TimeoutExpired:
            p.kill()
            codes.append("out of time")
    print("parts ended with", codes, flush=True)
    return 0 if any(o.out.glob("aten_*.npz")) else 1


if __name__ == "__main__":
    sys.exit(main())
