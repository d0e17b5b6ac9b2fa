#!/usr/bin/env python3
"""Times models on Plumb's cpu target and on ONNX Runtime, on the same cores, in turns.

usage: bench/models.py PLUMB FOLDER… [--rounds 5] [--repeat 15] [--threads 2] [--out bench/results/models.json]

FOLDER is laid out as ONNX's backend tests; the first data set is run. In each round both sides run `repeat` times after a
warm-up, one side after the other; a round's figure is its median, a model's the median of its rounds. `floor` is the ratio
between the peer's slowest and fastest round: differences below it mean nothing. Needs onnxruntime, onnx and numpy.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import time
from pathlib import Path

import onnx
import onnxruntime
from onnx import numpy_helper


def peer(folder, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
    load_ms = 1e3 * (time.perf_counter() - start)
    feed = {}
    for k, declared in enumerate(session.get_inputs()):
        tensor = onnx.TensorProto()
        tensor.ParseFromString((folder / f"test_data_set_0/input_{k}.pb").read_bytes())
        feed[declared.name] = numpy_helper.to_array(tensor)
    return session, feed, load_ms


def time_peer(session, feed, repeat):
    session.run(None, feed)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        session.run(None, feed)
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def time_plumb(plumb, folder, threads, repeat):
    run = subprocess.run([plumb, "run", str(folder), "--json", "--threads", str(threads), "--repeat", str(repeat + 1)], capture_output=True, text=True, check=True)
    said = json.loads(run.stdout)
    return said["run_ms"][0], said["load_ms"][0]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plumb")
    args.add_argument("folders", nargs="+", type=Path)
    args.add_argument("--rounds", type=int, default=5)
    args.add_argument("--repeat", type=int, default=15)
    args.add_argument("--threads", type=int, default=os.cpu_count())
    args.add_argument("--out", type=Path, default=Path("bench/results/models.json"))
    given = args.parse_args()
    results = []
    for folder in given.folders:
        session, feed, peer_load = peer(folder, given.threads)
        ours, theirs, loads = [], [], []
        for _ in range(given.rounds):
            run, load = time_plumb(given.plumb, folder, given.threads, given.repeat)
            ours.append(run)
            loads.append(load)
            theirs.append(time_peer(session, feed, given.repeat))
        row = {"model": folder.name, "plumb_ms": statistics.median(ours), "onnxruntime_ms": statistics.median(theirs), "floor": max(theirs) / min(theirs),
               "plumb_load_ms": statistics.median(loads), "onnxruntime_load_ms": peer_load}
        row["ratio"] = row["plumb_ms"] / row["onnxruntime_ms"]
        results.append(row)
        print(f"{row['model']:18} plumb {row['plumb_ms']:9.3f} ms   onnxruntime {row['onnxruntime_ms']:9.3f} ms   ratio {row['ratio']:5.2f} (floor {row['floor']:.2f})   load {row['plumb_load_ms']:.0f} / {peer_load:.0f} ms", flush=True)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    machine = {"cpu": platform.processor() or platform.machine(), "threads": given.threads, "onnxruntime": onnxruntime.__version__}
    given.out.write_text(json.dumps({"machine": machine, "rounds": given.rounds, "repeat": given.repeat, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
