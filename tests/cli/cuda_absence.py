#!/usr/bin/env python3
"""What the cuda target says where a GPU cannot be had, on a driver that fails as told (tests/support/fake_cuda.cpp).

usage: FAKE_CUDA=LIBRARY cuda_absence.py PLUMB REPOSITORY
"""
import os

from support.harness import Suite

s = Suite()
os.environ["PLUMB_CUDA_DRIVER"] = os.environ["FAKE_CUDA"]
program = s.write("p.plumb", "func @main(%x: f32[8]) -> (f32[8]) {\n  %0 = add(%x, %x) : f32[8]\n  return %0\n}\n")
log = s.dir / "calls"


def run(setting, expect, *words):
    """plumb run on cuda with the driver set so; the message holds the words, and the cpu target is none the worse."""
    os.environ["PLUMB_FAKE_CUDA"] = setting
    p = s.run("run", program, "--random", "1", "--target", "cuda", expect=expect)
    for word in words:
        s.check(word in p.stderr + p.stdout, f"{setting}: no '{word}' in {p.stdout}{p.stderr}")
    if expect == 3:
        s.result(p, "unsupported")
    targets = {t["name"]: t for t in s.json(s.run("targets", "--json", expect=0))}
    s.check(targets["cpu"]["available"], f"{setting}: cpu is to be had")
    return targets["cuda"]


# A device that does all that it is asked: named with what it has, and nothing is left on it.
found = run(f"log={log}", 0, "RESULT pass")
s.check(found["available"], f"a device is found: {found}")
for word in ("Pretend 0", "sm_90", "132 multiprocessors", "1 GiB", "13.0"):
    s.check(word in found["description"], f"targets says {word}: {found}")
s.run("run", program, "--random", "1", "--target", "cuda", expect=0)
counts = dict(line.split() for line in log.read_text().splitlines())
s.check(counts["live"] == "0" and counts["modules"] == "0" and counts["cuLaunchKernel"] == "1", f"what is taken is given back: {counts}")

# Each absence, with what was found and the mend.
for setting, words in {
    "fail=cuInit:1:100": ("CUDA_ERROR_NO_DEVICE", "--target cpu"),
    "fail=cuInit:1:803": ("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "restart the machine"),
    "devices=0": ("no NVIDIA GPU", "CUDA_VISIBLE_DEVICES"),
    "version=11080": ("too old", "11.8", "12.0"),
    "major=7,minor=5": ("Pretend 0", "sm_75", "sm_80"),
}.items():
    found = run(setting, 3, *words)
    s.check(not found["available"] and words[0] in found["description"], f"{setting}: targets says why: {found}")
run("fail=cuModuleLoadDataEx:1:218", 3, "CUDA_ERROR_INVALID_PTX", "newer")
run("fail=cuModuleLoadDataEx:1:222", 3, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "newer")
run("lost=cuLaunchKernel:1:700", 3, "launching", "CUDA_ERROR_ILLEGAL_ADDRESS", "lost", "start it again")
run("lost=cuStreamSynchronize:1:999", 3, "lost")

# Memory: the pool's cache is given back before an allocation fails; the message says what was asked, what is free and who holds the rest.
os.environ["PLUMB_FAKE_CUDA"] = f"fail=cuMemAllocAsync:2:2,log={log}"
s.run("run", program, "--random", "1", "--target", "cuda", expect=0)
s.check("cuMemPoolTrimTo 1" in log.read_text().splitlines(), "one failure: the cache is given back, and asked once more")
large = s.write("large.plumb", "func @main(%x: f32[262144]) -> (f32[262144]) {\n  %0 = add(%x, %x) : f32[262144]\n  return %0\n}\n")
os.environ["PLUMB_FAKE_CUDA"] = f"memory=1572865,log={log}"
p = s.run("run", large, "--random", "1", "--target", "cuda", expect=3)
for word in ("out of memory on Pretend 0", "1.0 MiB asked for results of @main", "of 1.5 MiB, 0.5 MiB are free and this program holds 1.0 MiB", "1.0 MiB for input %x"):
    s.check(word in p.stderr + p.stdout, f"out of memory: no '{word}' in {p.stdout}{p.stderr}")
s.check("live 0" in log.read_text().splitlines(), "what was held is given back")

# A device that fails while it is opened is closed again.
run(f"fail=cuStreamCreate:1:2,log={log}", 3, "making a stream")
counts = dict(line.split() for line in log.read_text().splitlines())
s.check(counts["cuDevicePrimaryCtxRetain"] == counts["cuDevicePrimaryCtxRelease"], f"the context is given back: {counts}")

# Devices by number; libraries that are none, and one that is no driver.
os.environ["PLUMB_FAKE_CUDA"] = ""
s.run("run", program, "--random", "1", "--target", "cuda:1", expect=0)
s.check("2 GPUs" in s.run("run", program, "--random", "1", "--target", "cuda:2", expect=3).stderr, "cuda:2 of two devices")
for library, word in (("/nonexistent/libcuda.so", "cannot be loaded"), ("libm.so.6", "has no cuInit")):
    os.environ["PLUMB_CUDA_DRIVER"] = library
    run("", 3, library, word, "--target cpu")
s.finish()
