"""Times Plumb and its peers on one fixed suite of tensor programs, in turns, and says how far each is from the floor.

    python3 bench/peers --plumb build/release/bin/plumb --device cuda --out bench/results/h200.json
    python3 bench/peers --plumb build/release/bin/plumb --device cpu --threads 2 --cases 'softmax|mm_' --out cpu2.json

Peers
    plumb             plumb bench CASE --serve, where bench/programs has the case
    eager             PyTorch, one kernel an operation
    eager-fused       PyTorch with its hand-fused optimiser kernel (Adam cases)
    sdpa-flash/-cudnn PyTorch's attention call, pinned to one hand-written kernel (attention cases)
    inductor          torch.compile, default mode
    inductor-max      torch.compile(mode='max-autotune-no-cudagraphs') (matrix-product cases)
    inductor-graphs   torch.compile(mode='reduce-overhead'): CUDA graphs (launch-bound cases)
    flex, flex-max    torch.compile of flex_attention, in those two modes (attention cases)
    jax               jax.jit, where the case is simple to state in JAX

All peers of a case are made ready first; then, in each round, one after the other measures calls back to back that rotate
among input sets which together exceed the last-level cache (device events on a GPU under PyTorch, the host clock around
a batch otherwise). `ms` is the median of a peer's rounds, `rounds` all of them; `noise` of a case is the largest ratio
between two rounds of one peer: smaller differences mean nothing. compile_s is the first call of a freshly compiled function
with empty compiler caches in a warm process (Plumb: from text to a loaded program); peak_mib the device memory that one
call needs above its inputs.

A case's floor is the larger of fewest bytes moved / measured copy bandwidth, and operations / measured rate of the library's
large matrix product in that number format (f32 on a CPU: or of multiply-adds in registers, whichever is higher). Fewest
bytes counts each input read once and each output written once; where forward and backward are separate calls, each is.
"""
from __future__ import annotations

import argparse
import datetime
import gc
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import time

import frameworks as fw
from case import COMPILE_MODES, PEERS
from ceilings import add_floor, cpu_ceilings, gpu_ceilings
from machine import distinct_cores, machine_facts, torch_versions
from runners import JaxRunner, PlumbRunner, TorchRunner
from suite import suite


class OutOfTime(Exception):
    pass


def ring(*_):
    raise OutOfTime("over its time limit")


def failure(error) -> dict:
    return {"error": f"{type(error).__name__}: {str(error).strip()[:300]}"}


def ready(case, peer, options):
    if peer == "plumb":
        return PlumbRunner(case, options.device, options.plumb, options.threads, options.contract)
    if peer == "jax":
        return JaxRunner(case, options.device, options.threads)
    return TorchRunner(case, peer, options.device)


def limited(seconds, body):
    """Runs body, which OutOfTime ends after that many seconds."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return body()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def compare(case, peers, options) -> dict:
    """Every peer's facts and rounds."""
    found, runners = {}, {}
    fw.torch._dynamo.reset()
    for peer in peers:
        try:
            runners[peer] = limited(options.case_limit, lambda: ready(case, peer, options))
            found[peer] = dict(runners[peer].facts)
        except Exception as error:  # one peer's failure is a result, not the end of the run
            found[peer] = failure(error)
    times = {peer: [] for peer in runners}
    for turn in range(options.rounds):
        order = list(runners)
        for peer in order if turn % 2 == 0 else order[::-1]:
            try:
                times[peer].append(limited(options.case_limit, lambda: runners[peer].measure(options.seconds)))
            except Exception as error:
                found[peer] |= failure(error)
                del runners[peer]
    for peer, rounds in times.items():
        if rounds and "error" not in found[peer]:
            each = [r["ms"] for r in rounds]
            found[peer] |= rounds[-1] | {"ms": statistics.median(each), "ms_min": min(r["ms_min"] for r in rounds), "rounds": each}
    for runner in runners.values():
        runner.close()
    runners.clear()
    gc.collect()
    if options.device == "cuda":
        fw.torch.cuda.empty_cache()
    return found


def summary(record) -> str:
    floor = record.get("floor_ms")
    def one(peer, got):
        if "ms" not in got:
            return f"{peer} {got.get('error', 'no result')[:60]}"
        return f"{peer} {got['ms']:.4f}" + (f" ({got['ms'] / floor:.2f})" if floor else "")
    return "; ".join(one(*item) for item in record["peers"].items())


def options_from_command():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plumb", help="the plumb command; without it only peers are timed")
    parser.add_argument("--contract", default="relaxed", help="Plumb's numeric contract")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--threads", type=int, help="CPU threads (and cores) to use; default all")
    parser.add_argument("--cases", default=".", help="regular expression over case names")
    parser.add_argument("--peers", default=",".join(PEERS), help="comma-separated peers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.15, help="time spent measuring one case under one peer in a round")
    parser.add_argument("--case-limit", type=float, default=75, help="seconds that one case may take to be ready, or a round, under one peer")
    parser.add_argument("--budget", type=float, default=3600, help="seconds after which no further case starts")
    parser.add_argument("--list", action="store_true", help="print the suite and stop")
    parser.add_argument("--out", default="peers.json")
    return parser.parse_args()


def main() -> None:
    options = options_from_command()
    cases = [case for case in suite(options.device) if re.search(options.cases, case.id)]
    if options.list:
        for case in cases:
            print(f"{case.id:34} {case.group:9} {case.what}  [{', '.join(case.peers())}]")
        return
    fw.DEVICE = options.device
    if options.device == "cpu":
        options.threads = options.threads or len(os.sched_getaffinity(0))
        os.sched_setaffinity(0, distinct_cores(options.threads))
        os.environ["OMP_NUM_THREADS"] = str(options.threads)
    deadline = time.monotonic() + options.budget
    signal.signal(signal.SIGALRM, ring)
    fw.load_torch(options.device, options.threads)
    wanted = [peer for peer in PEERS if peer in options.peers.split(",") and (peer != "plumb" or options.plumb)]
    report = {"date": datetime.date.today().isoformat(), "device": options.device, "machine": machine_facts(options.device), "versions": torch_versions(), "threads": options.threads,
              "rounds": options.rounds, "seconds": options.seconds, "contract": options.contract}
    if options.plumb:
        report["versions"]["plumb"] = subprocess.run([options.plumb, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    report["ceilings"] = gpu_ceilings() if options.device == "cuda" else cpu_ceilings(options.threads)
    report["cases"] = {}
    if any(peer in COMPILE_MODES for peer in wanted):   # a process's first compile starts workers, and builds a header on a CPU
        fw.torch.compile(lambda x: fw.torch.relu(x) + 1)(fw.torch.ones(8, device=options.device))
    for case in cases:
        if time.monotonic() > deadline:
            print(f"out of time before {case.id}", flush=True)
            break
        begin = time.monotonic()
        record = {"group": case.group, "what": case.what, "dtype": case.dtype, "bytes": case.bytes, "flops": case.flops,
                  "peers": compare(case, [peer for peer in wanted if peer in case.peers()], options)}
        each = [got["rounds"] for got in record["peers"].values() if "rounds" in got]
        record["noise"] = max((max(r) / min(r) for r in each), default=None)
        add_floor(record, case, report["ceilings"])
        report["cases"][case.id] = record
        print(f"{case.id:32} {summary(record)}  [{time.monotonic() - begin:.0f} s]", flush=True)
        pathlib.Path(options.out).write_text(json.dumps(report, indent=1) + "\n")


main()
