"""JAX's side of a comparison: `case ID`, `measure SECONDS` and `drop` on standard input, a line of JSON for each.

    serve_jax.py DEVICE
"""
from __future__ import annotations

import gc
import json
import sys
import time

import frameworks as fw
from suite import suite
from timing import host_batch, input_sets, measure


class Loaded:
    def __init__(self, case, device):
        work = case.jax_work()
        self.precision = "tensorfloat32" if case.dtype == "tf32" else "highest"
        self.sets = input_sets(work, device)
        fw.jax.block_until_ready(self.sets)
        with fw.jax.default_matmul_precision(self.precision):
            self.fn = fw.jax.jit(work.fn)
            begin = time.perf_counter()
            fw.jax.block_until_ready(self.fn(*self.sets[0]))
        self.facts = {"input_sets": len(self.sets), "compile_s": time.perf_counter() - begin}

    def measure(self, seconds):
        run = lambda i: self.fn(*self.sets[i % len(self.sets)])
        with fw.jax.default_matmul_precision(self.precision):
            return measure(lambda count: host_batch(run, count, fw.jax.block_until_ready), seconds)


def main():
    device = fw.DEVICE = sys.argv[1]
    fw.load_jax(device)
    cases = {case.id: case for case in suite(device)}
    loaded = None
    for line in sys.stdin:
        word, *rest = line.split()
        try:
            if word == "case":
                loaded = Loaded(cases[rest[0]], device)
                answer = loaded.facts
            elif word == "measure":
                answer = loaded.measure(float(rest[0]))
            else:
                loaded, answer = None, {}
                gc.collect()
        except Exception as error:  # a case that fails is an answer, not the end
            loaded, answer = None, {"error": f"{type(error).__name__}: {str(error).strip()[:300]}"}
        print(json.dumps(answer), flush=True)


main()
