#!/usr/bin/env python3
"""Times cumsum in its canonical order (--contract strict) on the cpu target against a kernel that only copies.

usage: bench/scans.py PLUMB [--rounds 5] [--repeat 9] [--threads 2] [--out bench/results/scans.json]

`ratio` is the scan's time over the time to read and write as many bytes (negation of the same tensor), both the median of
rounds that take turns; f32. Needs numpy, which ships in no part of Plumb.
"""
import argparse
import json
import platform
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy

CASES = [  # shape, axis
    ((1 << 24,), 0), ((64, 1 << 18), 1), ((4096, 4096), 1), ((65536, 256), 1), ((4096, 4096), 0), ((65536, 256), 0), ((16, 1024, 1024), 1),
]


def milliseconds(plumb, folder, name, inputs, threads, repeat):
    run = subprocess.run([plumb, "run", str(folder / name), "--inputs", str(folder / inputs), "--json", "--contract", "strict", "--threads", str(threads), "--repeat", str(repeat + 1)],
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["run_ms"][0]


def program(kind, shape):
    t = "f32[" + ",".join(map(str, shape)) + "]"
    return f"func @main(%x: {t}) -> ({t}) {{\n  %r = {kind} : {t}\n  return %r\n}}\n"


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plumb")
    args.add_argument("--rounds", type=int, default=5)
    args.add_argument("--repeat", type=int, default=9)
    args.add_argument("--threads", type=int, default=2)
    args.add_argument("--out", type=Path)
    args = args.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for shape, axis in CASES:
            numpy.save(folder / "x.npy", numpy.random.default_rng(7).standard_normal(shape, dtype=numpy.float32))
            (folder / "scan.plumb").write_text(program(f"cumsum(%x) {{axis={axis}}}", shape))
            (folder / "copy.plumb").write_text(program("neg(%x)", shape))
            times = {"scan.plumb": [], "copy.plumb": []}
            for _ in range(args.rounds):
                for name, seen in times.items():
                    seen.append(milliseconds(args.plumb, folder, name, "x.npy", args.threads, args.repeat))
            scan, copy = (statistics.median(times[n]) for n in ("scan.plumb", "copy.plumb"))
            rows.append({"shape": list(shape), "axis": axis, "scan_ms": round(scan, 3), "copy_ms": round(copy, 3), "ratio": round(scan / copy, 2)})
            print(f"{'x'.join(map(str, shape)):>16} axis {axis}: {scan:8.2f} ms, copy {copy:8.2f} ms, ratio {scan / copy:.2f}", flush=True)
    if args.out:
        args.out.write_text(json.dumps({"machine": platform.machine(), "threads": args.threads, "contract": "strict", "cases": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
