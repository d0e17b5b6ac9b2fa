#!/usr/bin/env python3
"""The command line's contract: exit codes, the RESULT line, --json, and one clear message for bad input.

usage: run_contract.py PLUMB REPOSITORY
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

plumb, repository = sys.argv[1], pathlib.Path(sys.argv[2])
work = pathlib.Path(tempfile.mkdtemp())
faults = []
RESULT = re.compile(r"^RESULT (pass|fail|unsupported) kernels=\d+ elements=\d+ decided=\d+(\.\d+)?%$")


def run(*args):
    return subprocess.run([plumb, *map(str, args)], capture_output=True, text=True, cwd=work, timeout=300)


def check(what, holds, r=None):
    if not holds:
        faults.append(f"{what}" + (f"\n  exit {r.returncode}\n  stdout: {r.stdout[-500:]}\n  stderr: {r.stderr[-500:]}" if r else ""))


def npy(path, shape, values, dtype="<f4"):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({''.join(f'{d},' for d in shape)}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    code = {"<f4": "f", "<i8": "q"}[dtype]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values))


program = work / "p.plumb"
program.write_text("func @main(%x: f32[B,3], %w: f32[3,4]) -> (f32[B,4]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[B,4]\n  return %0\n}\n")
npy(work / "x.npy", (2, 3), [1, 2, 3, 4, 5, 6])
npy(work / "w.npy", (3, 4), [1] * 12)
npy(work / "y.npy", (2, 4), [6, 6, 6, 6, 15, 15, 15, 15])
npy(work / "bad.npy", (2, 4), [6, 6, 6, 6, 15, 15, 15, 16])
npy(work / "i.npy", (2, 3), [1] * 6, "<i8")

r = run("--help")
check("--help exits 0 and lists run", r.returncode == 0 and "run" in r.stdout, r)
for command in ("run", "explain", "targets", "ops", "fuzz", "compile", "prove", "equal", "gate", "bench", "reduce", "bisect", "faults"):
    r = run(command, "--help")
    check(f"{command} --help exits 0", r.returncode == 0 and "usage" in r.stdout, r)

for target in ("reference", "cpu"):
    for mode in ("off", "sample", "kernel", "full"):
        r = run("run", program, "--inputs", "x.npy", "w.npy", "--expect", "y.npy", "--target", target, "--check", mode)
        last = r.stdout.strip().splitlines()[-1] if r.stdout.strip() else ""
        check(f"{target} {mode} passes", r.returncode == 0 and RESULT.match(last) and last.startswith("RESULT pass"), r)
r = run("run", program, "--inputs", "x.npy", "w.npy", "--expect", "bad.npy")
check("a wrong expectation fails with exit 1", r.returncode == 1 and "RESULT fail" in r.stdout, r)
r = run("run", program, "--inputs", "x.npy", "w.npy", "--contract", "fast", "--allow", "tf32,ftz", "--allow", "approximate", "--check", "kernel")
check("allowances go with fast", r.returncode == 0 and "RESULT pass" in r.stdout, r)
for flags in (("--allow", "tf32"), ("--contract", "strict", "--allow", "ftz")):
    r = run("run", program, "--inputs", "x.npy", "w.npy", *flags)
    check(f"{flags} exits 2 and names fast", r.returncode == 2 and "--contract fast" in r.stderr, r)
r = run("run", program, "--inputs", "x.npy", "w.npy", "--contract", "fast", "--allow", "fp16")
check("an unknown allowance exits 2 and lists those that are", r.returncode == 2 and "tf32, ftz and approximate" in r.stderr, r)
r = run("run", program, "--inputs", "w=w.npy", "x=x.npy", "--output", "out")
check("inputs by name; outputs written", r.returncode == 0 and (work / "out" / "result0.npy").exists(), r)
r = run("run", program, "--random", "7", "--check", "kernel", "--json")
try:
    facts = json.loads(r.stdout)
    check("--json holds the facts", facts["result"] == "pass" and facts["kernels"] >= 1 and facts["decided"] > 0, r)
except (ValueError, KeyError):
    check("--json is one object", False, r)
check("a seed gives one answer", run("run", program, "--random", "7").stdout == run("run", program, "--random", "7").stdout)

model = (repository / "examples/models/digits_cnn/model.onnx").read_bytes()
(work / "truncated.onnx").write_bytes(model[: len(model) // 2])
(work / "empty.onnx").write_bytes(b"")
(work / "cyclic.plumb").write_text("func @main(%x: f32[2]) -> (f32[2]) {\n  %a = add(%b, %x) : f32[2]\n  %b = neg(%a) : f32[2]\n  return %b\n}\n")
(work / "huge.plumb").write_text("func @main(%x: f32[4294967296,4294967296]) -> (f32[1]) {\n  return %x\n}\n")
(work / "memory.plumb").write_text("func @main() -> (f32[1099511627776,64]) {\n  %0 = iota() {axis=0} : f32[1099511627776,64]\n  return %0\n}\n")
(work / "unknown.plumb").write_text("func @main(%x: f32[2]) -> (f32[2]) {\n  %a = frobnicate(%x) : f32[2]\n  return %a\n}\n")
bad = [
    (("run",), 2, "program"), (("run", "nothing.plumb"), 2, "nothing.plumb"), (("run", "truncated.onnx"), 2, ""), (("run", "empty.onnx"), 2, ""),
    (("run", program), 2, "inputs"), (("run", program, "--inputs", "x.npy"), 2, "w"), (("run", program, "--inputs", "x.npy", "w.npy", "y.npy"), 2, "2 tensors"),
    (("run", program, "--inputs", "x.npy", "x.npy"), 2, "f32[2,3]"), (("run", program, "--inputs", "i.npy", "w.npy"), 2, "i64"), (("run", program, "--inputs", "x.npy", "gone.npy"), 2, "gone.npy"),
    (("run", program, "--inputs", "x.npy", "w.npy", "--check", "maybe"), 2, "--check"), (("run", program, "--inputs", "x.npy", "w.npy", "--contract", "lax"), 2, "--contract"),
    (("run", program, "--random", "1", "--target", "abacus"), 2, "abacus"), (("run", program, "--frob"), 2, "frob"), (("run", program, "--random", "x"), 2, "random"),
    (("run", "cyclic.plumb", "--random", "1"), 2, "cyclic.plumb:2"), (("run", "huge.plumb", "--random", "1"), 2, "overflow"), (("run", "unknown.plumb", "--random", "1"), 2, "frobnicate"),
    (("run", "memory.plumb"), 3, "memory"), (("run", program, "--random", "1", "--target", "cuda"), 3, "cuda"), (("nonsense",), 2, "nonsense"), ((), 2, "usage"),
    (("prove", "--rules"), 3, ""), (("explain", program, "--stage", "nowhere"), 2, "nowhere"),
]
for args, code, words in bad:
    r = run(*args)
    check(f"plumb {' '.join(map(str, args))}: exit {code} and a message with '{words}'", r.returncode == code and words in r.stderr and r.stderr.strip() and "terminate" not in r.stderr, r)

for stage in ("import", "decompose", "fused", "plan", "memory", "timings", "llvm", "asm"):
    r = run("explain", program, "--stage", stage)
    check(f"explain --stage {stage}", r.returncode == 0 and len(r.stdout) > 20, r)
check("targets --json", json.loads(run("targets", "--json").stdout)[0]["name"] == "reference")

for flip in range(0, len(model), max(1, len(model) // 25)):
    damaged = bytearray(model)
    damaged[flip] ^= 1 << (flip % 8)
    (work / "flipped.onnx").write_bytes(damaged)
    r = run("run", "flipped.onnx", "--random", "1", "--dim", "batch=2", "--target", "reference")
    check(f"bit flip at {flip}: exit 0, 2 or 3", r.returncode in (0, 2, 3), r)

print("\n".join(faults) or "the command keeps its contract")
sys.exit(1 if faults else 0)
