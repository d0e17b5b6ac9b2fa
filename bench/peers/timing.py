"""Batches of calls, timed."""
from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import frameworks as fw
from case import Work


def host_batch(run: Callable[[int], Any], count: int, finish: Callable[[Any], None]) -> float:
    begin = time.perf_counter()
    for i in range(count):
        out = run(i)
    finish(out)
    return time.perf_counter() - begin


def event_batch(run: Callable[[int], Any], count: int) -> float:
    begin, end = fw.torch.cuda.Event(enable_timing=True), fw.torch.cuda.Event(enable_timing=True)
    begin.record()
    for i in range(count):
        run(i)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def measure(batch: Callable[[int], float], seconds: float) -> dict[str, float]:
    """Times `batch(count)`, which runs count calls and returns their seconds, for about `seconds` in all."""
    guess = batch(1)
    warm = 0.0
    while warm < seconds / 3:                      # clocks rise, allocators settle
        count = max(1, min(200, int(0.01 / max(guess, 1e-7))))
        spent = batch(count)
        warm += spent
        guess = spent / count
    count = max(1, min(20000, math.ceil(seconds / 30 / guess)))
    batches = max(5, min(30, int(seconds / (count * guess))))
    each = sorted(batch(count) / count * 1e3 for _ in range(batches))
    return {"ms": statistics.median(each), "ms_min": each[0], "ms_p90": each[int(0.9 * (len(each) - 1))],
            "calls": count * batches}


def nbytes(value) -> int:
    if isinstance(value, (tuple, list)):
        return sum(map(nbytes, value))
    if isinstance(value, dict):
        return sum(map(nbytes, value.values()))
    return value.numel() * value.element_size() if fw.torch is not None and fw.torch.is_tensor(value) else value.nbytes


def input_sets(work: Work, device: str) -> list[tuple]:
    """Enough input sets that one turn through them passes the last-level cache several times over."""
    first = work.make()
    if work.sets:
        return [first] + [work.make() for _ in range(work.sets - 1)]
    enough = (1 << 29) if device == "cuda" else (3 << 28)
    wanted = max(2, min(64, math.ceil(enough / nbytes(first))))
    return [first] + [tuple(map(copy_of, first)) for _ in range(wanted - 1)]   # drawing each anew costs seconds


def copy_of(value):
    """The same numbers in other memory."""
    if fw.torch is not None:
        return value.detach().clone().requires_grad_(value.requires_grad)
    return fw.jnp.copy(value)
