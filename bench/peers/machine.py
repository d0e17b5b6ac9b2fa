"""What a result was measured on."""
from __future__ import annotations

import contextlib
import os
import pathlib
import platform
import re
import subprocess
from typing import Any

import frameworks as fw
from case import MI


def distinct_cores(count: int) -> set[int]:
    """That many logical CPUs, on different physical cores while there are any."""
    allowed = sorted(os.sched_getaffinity(0))
    firsts = []
    for cpu in allowed:
        path = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        siblings = re.split("[,-]", path.read_text().strip()) if path.exists() else [str(cpu)]
        if int(siblings[0]) == cpu:
            firsts.append(cpu)
    rest = [cpu for cpu in allowed if cpu not in firsts]
    return set((firsts + rest)[:count])


def machine_facts(device: str) -> dict[str, Any]:
    info = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.*)", info)
    flags = re.search(r"flags\s*:\s*(.*)", info)
    wanted = ("avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16")
    facts = {"cpu": model.group(1) if model else platform.processor(), "logical_cpus": os.cpu_count(),
             "cpu_features": [flag for flag in wanted if flags and flag in flags.group(1).split()]}
    lscpu = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    for key, pattern in (("threads_per_core", r"Thread\(s\) per core:\s*(\d+)"), ("l2", r"L2 cache:\s*(.*)"),
                         ("l3", r"L3 cache:\s*(.*)")):
        if match := re.search(pattern, lscpu):
            facts[key] = match.group(1)
    if device == "cuda":
        got = fw.torch.cuda.get_device_properties(0)
        facts |= {"gpu": got.name, "multiprocessors": got.multi_processor_count, "l2_mib": got.L2_cache_size / MI,
                  "gpu_memory_gib": got.total_memory / 2**30}
    return facts


def torch_versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "torch": fw.torch.__version__, "cuda": str(fw.torch.version.cuda)}
    with contextlib.suppress(Exception):
        import triton
        found["triton"] = triton.__version__
    with contextlib.suppress(Exception):
        found["cudnn"] = str(fw.torch.backends.cudnn.version())
    return found
