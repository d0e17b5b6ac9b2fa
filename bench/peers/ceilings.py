"""What the machine can do at most: floors of cases are shares of it."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any

import frameworks as fw
from case import Case
from timing import event_batch, host_batch, measure


def gpu_ceilings() -> dict[str, float]:
    found = {}
    source = fw.torch.randn(1 << 29, device="cuda")
    target = fw.torch.empty_like(source)
    timed = measure(lambda count: event_batch(lambda i: target.copy_(source), count), 0.3)
    found["copy_GBs"] = 2 * source.nbytes / timed["ms"] / 1e6
    del source, target
    for name in ("bf16", "f16", "tf32", "f32"):
        with fw.torch_tf32(name == "tf32"):
            pairs = [(fw.trand((8192, 8192), name), fw.trand((8192, 8192), name)) for _ in range(2)]
            timed = measure(lambda count: event_batch(lambda i: fw.torch.mm(*pairs[i % 2]), count), 0.5)
            found[f"mm8192_{name}_TFLOPs"] = found[f"rate_{name}_TFLOPs"] = 2 * 8192**3 / timed["ms"] / 1e9
    return found


def cpu_ceilings(threads: int) -> dict[str, float]:
    found = {}
    source = fw.torch.randn(1 << 28)
    target = fw.torch.empty_like(source)
    timed = measure(lambda count: host_batch(lambda i: target.copy_(source), count, lambda _: None), 0.7)
    found["torch_copy_GBs"] = 2 * source.numel() * 4 / timed["ms"] / 1e6
    del source, target
    for name, side in (("f32", 4096), ("bf16", 4096)):
        a, b = fw.trand((side, side), name), fw.trand((side, side), name)
        timed = measure(lambda count: host_batch(lambda i: fw.torch.mm(a, b), count, lambda _: None), 0.7)
        found[f"mm4096_{name}_TFLOPs"] = found[f"rate_{name}_TFLOPs"] = 2 * side**3 / timed["ms"] / 1e9
    found |= native_ceilings(threads)
    found["copy_GBs"] = max(found["torch_copy_GBs"], found.get("copy_nt_GBs", 0.0), found.get("copy_GBs", 0.0))
    found["rate_f32_TFLOPs"] = max(found["rate_f32_TFLOPs"], found.get("fma_GFLOPs", 0.0) / 1e3)
    return found


def native_ceilings(threads: int) -> dict[str, float]:
    """What bench/ceilings.cpp measures; nothing where there is no compiler."""
    source, compiler = pathlib.Path(__file__).parent.with_name("ceilings.cpp"), shutil.which("g++")
    if compiler is None or not source.exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/ceilings"
        subprocess.run([compiler, "-std=c++20", "-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp",
                        str(source), "-o", program], check=True)
        done = subprocess.run([program], check=True, capture_output=True, text=True,
                              env=os.environ | {"OMP_NUM_THREADS": str(threads)})
    return json.loads(done.stdout)


def add_floor(record: dict[str, Any], case: Case, ceilings: dict[str, float]) -> None:
    """The case's floor, its best peer, and how Plumb stands to each."""
    timed = {peer: got["ms"] for peer, got in record["peers"].items() if "ms" in got}
    ours = timed.pop("plumb", None)
    if timed:
        record["best_peer"] = min(timed, key=timed.get)
        record["best_ms"] = timed[record["best_peer"]]
        if ours:
            record["plumb_over_best"] = ours / record["best_ms"]
    if case.group == "overhead":   # neither bytes nor operations bound a call that does next to nothing
        return
    by_memory = case.bytes / ceilings["copy_GBs"] / 1e6
    by_compute = case.flops / ceilings[f"rate_{case.dtype}_TFLOPs"] / 1e9
    record["floor_ms"] = max(by_memory, by_compute)
    record["floor_by"] = "memory" if by_memory >= by_compute else "compute"
    if timed:
        record["best_over_floor"] = record["best_ms"] / record["floor_ms"]
    if ours:
        record["plumb_over_floor"] = ours / record["floor_ms"]
