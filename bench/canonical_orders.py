#!/usr/bin/env python3
"""Do the canonical orders of sum, scan and dot run at full speed on this CPU?

usage: bench/canonical_orders.py PLUMB [--threads 2] [--rounds 5] [--repeat 15] [--out bench/results/canonical_orders_cpu.json]

Each case runs under strict, which follows the canonical order bit for bit, and under relaxed, in turns; a figure is the
median of the rounds' medians. `of floor` is the floor's time over strict's: the bytes read (and written) at the speed that
bench/ceilings.cpp reads (copies) with, or the multiply-adds at the rate it does them in registers. Above 1: the data came
from a cache. Needs g++ for the ceilings.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

CASES = [  # name, program, bytes, kind of floor, multiply-adds
    ("sum of 2^25", "func @main(%x: f32[33554432]) -> (f32[]) {\n  %r = reduce_sum(%x) {axes=[0]} : f32[]\n  return %r\n}", 4 << 25, "read_GBs", 0),
    ("row sums [8192,4096]", "func @main(%x: f32[8192,4096]) -> (f32[8192]) {\n  %r = reduce_sum(%x) {axes=[1]} : f32[8192]\n  return %r\n}", 4 << 25, "read_GBs", 0),
    ("row sums [32768,1000]", "func @main(%x: f32[32768,1000]) -> (f32[32768]) {\n  %r = reduce_sum(%x) {axes=[1]} : f32[32768]\n  return %r\n}", 4 * 32768000, "read_GBs", 0),
    ("column sums [8192,4096]", "func @main(%x: f32[8192,4096]) -> (f32[4096]) {\n  %r = reduce_sum(%x) {axes=[0]} : f32[4096]\n  return %r\n}", 4 << 25, "read_GBs", 0),
    ("bf16 row sums [8192,4096]", "func @main(%x: bf16[8192,4096]) -> (bf16[8192]) {\n  %r = reduce_sum(%x) {axes=[1]} : bf16[8192]\n  return %r\n}", 2 << 25, "read_GBs", 0),
    ("cumsum of rows [8192,4096]", "func @main(%x: f32[8192,4096]) -> (f32[8192,4096]) {\n  %r = cumsum(%x) {axis=1} : f32[8192,4096]\n  return %r\n}", 8 << 25, "copy_nt_GBs", 0),
    ("cumsum of columns [8192,4096]", "func @main(%x: f32[8192,4096]) -> (f32[8192,4096]) {\n  %r = cumsum(%x) {axis=0} : f32[8192,4096]\n  return %r\n}", 8 << 25, "copy_nt_GBs", 0),
    ("product 1024^3", "func @main(%x: f32[1024,1024], %w: f32[1024,1024]) -> (f32[1024,1024]) {\n  %r = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[1024,1024]\n  return %r\n}", 0, "", 1 << 30),
    ("product 256x8192x256", "func @main(%x: f32[256,8192], %w: f32[8192,256]) -> (f32[256,256]) {\n  %r = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[256,256]\n  return %r\n}", 0, "", 1 << 29),
]


def ceilings(threads, folder):
    program = folder / "ceilings"
    source = Path(__file__).with_name("ceilings.cpp")
    subprocess.run(["g++", "-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp", str(source), "-o", str(program)], check=True)
    run = subprocess.run([str(program)], capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    return json.loads(run.stdout)


def time_ms(plumb, program, contract, threads, repeat):
    run = subprocess.run([plumb, "run", str(program), "--random", "1", "--contract", contract, "--threads", str(threads), "--repeat", str(repeat + 1), "--json"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["run_ms"][0]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plumb")
    args.add_argument("--threads", type=int, default=os.cpu_count())
    args.add_argument("--rounds", type=int, default=5)
    args.add_argument("--repeat", type=int, default=15)
    args.add_argument("--out", type=Path, default=Path("bench/results/canonical_orders_cpu.json"))
    given = args.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ceiling = ceilings(given.threads, folder)
        for case, text, bytes_moved, floor, multiply_adds in CASES:
            program = folder / "case.plumb"
            program.write_text(text + "\n")
            times = {"strict": [], "relaxed": []}
            for _ in range(given.rounds):
                for contract, ms in times.items():
                    ms.append(time_ms(given.plumb, program, contract, given.threads, given.repeat))
            strict, relaxed = (statistics.median(times[c]) for c in ("strict", "relaxed"))
            floor_ms = 1e3 * bytes_moved / (ceiling[floor] * 1e9) if floor else 1e3 * 2 * multiply_adds / (ceiling["fma_GFLOPs"] * 1e9)
            rows.append({"case": case, "strict_ms": strict, "relaxed_ms": relaxed, "strict_of_relaxed": strict / relaxed, "floor_ms": floor_ms, "of_floor": floor_ms / strict, "spread": max(times["strict"]) / min(times["strict"])})
            print(f"{case:32} strict {strict:8.3f} ms   relaxed {relaxed:8.3f} ms   ratio {strict / relaxed:5.2f}   floor {floor_ms:8.3f} ms, {floor_ms / strict:5.2f} of it reached", flush=True)
    given.out.write_text(json.dumps({"threads": given.threads, "ceilings": ceiling, "rounds": given.rounds, "repeat": given.repeat, "results": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
