#!/usr/bin/env python3
"""plumb prove --functions: every function in every dtype, a sample of f32 arguments and all narrower ones; parts, the results file, bad input.

usage: prove.py PLUMB REPOSITORY
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite

s = Suite()
UNARY = "sqrt rsqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc sigmoid".split()
BINARY = "pow atan2 hypot div floor_div remainder fmod".split()
NARROW = {"f8e4m3fn": 256, "f8e5m2": 256, "bf16": 65536, "f16": 65536}
scale = 20 if s.sanitized else 1


def rows(path):
    return json.loads((s.dir / path).read_text())["functions"]


def row(path, contract, **fields):
    found = [r for r in rows(path) if r["contract"] == contract and all(r[k] == v for k, v in fields.items())]
    s.check(len(found) == 1, f"{path}: {len(found)} rows of {contract} {fields}")
    return found[0] if found else {}


# All of the narrow dtypes, a million f32 arguments of each function.
s.run("prove", "--functions", "--inputs", 1000000 // scale, "--dtype", "f32", "--out", "all.json", expect=0)
s.run("prove", "--functions", "--inputs", 100000 // scale, *(w for t in NARROW for w in ("--dtype", t)), "--out", "all.json", expect=0)
seen = {(r["function"], r["dtype"], r["contract"]) for r in rows("all.json")}
wanted = {(f, t, c) for f in UNARY + BINARY for t in (*NARROW, "f32") for c in ("strict", "relaxed")}
s.check(seen == wanted and len(rows("all.json")) == len(wanted), f"rows: {sorted(seen ^ wanted)}")
for r in rows("all.json"):
    what = f"{r['function']} {r['dtype']} {r['contract']}"
    every = r["function"] in UNARY and r["dtype"] in NARROW
    s.check(r["exhaustive"] == every and (not every or r["inputs"] == NARROW[r["dtype"]]), f"{what}: exhaustive {r['exhaustive']} with {r['inputs']} arguments")
    s.check(r.get("misrounded", 0) == 0 and r.get("outside", 0) == 0, f"{what}: wrong answers")
    s.check(r["contract"] == "strict" or 0 <= r["worst_ulp"] <= r["bound_ulp"], f"{what}: {r.get('worst_ulp')} of {r['bound_ulp']} ulp")
    s.check(r["vector_bits"] in (128, 256, 512) and r["machine"], f"{what}: on {r['machine']}")

# Parts, added to one file or merged from three, are the whole.
common = ("prove", "--functions", "--function", "exp", "--dtype", "f32", "--inputs", 400000)
s.run(*common, "--out", "whole.json", expect=0)
for i in range(3):
    s.run(*common, "--shard", f"{i}/3", "--out", "added.json", expect=0)
    s.run(*common, "--shard", f"{i}/3", "--out", f"part{i}.json", expect=0)
    s.check(row("added.json", "strict", function="exp")["inputs"] < 400000 or i == 2, "a part is the whole")
s.run("prove", "--functions", "--merge", "part2.json", "part0.json", "part1.json", "--out", "merged.json", expect=0)
for path in ("added.json", "merged.json"):
    for contract, fields in (("strict", ("inputs", "of", "ranges", "misrounded", "exhaustive")), ("relaxed", ("inputs", "of", "ranges", "worst_ulp", "worst_at", "outside"))):
        a, b = row("whole.json", contract), row(path, contract)
        s.check(all(a.get(f) == b.get(f) for f in fields), f"{path}: {b}, not {a}")
s.check(row("merged.json", "strict")["ranges"] == [[0, 400000]], "ranges are not joined")
s.run("prove", "--functions", "--merge", "part0.json", "part0.json", "--out", "twice.json", expect=0)
s.check(row("twice.json", "strict")["inputs"] == row("part0.json", "strict")["inputs"], "the same part counts twice")
s.run("prove", "--functions", "--merge", "whole.json", "all.json", "--out", "larger.json", expect=0)
s.check(row("larger.json", "strict", function="exp", dtype="f32")["of"] == max(400000, 1000000 // scale), "the larger sample stays")

# A whole piece of 2^32: every argument's part, its reference had without MPFR nearly everywhere.
s.run("prove", "--functions", "--function", "exp", "--function", "sin", "--dtype", "f32", "--inputs", 0, "--shard", "5/4096", "--out", "piece.json", expect=0)
for function in ("exp", "sin"):
    r = row("piece.json", "strict", function=function)
    s.check(r["inputs"] == 1 << 20 and r["of"] == 1 << 32 and not r["exhaustive"], f"a part of all: {r}")
    by = r["reference_by"]
    s.check(sum(by.values()) == 1 << 20 and by["mpfr"] < 1000, f"the reference was had by {by}")

# A wrong answer in a file is an exit of 1.
bad = rows("whole.json")
bad[0]["misrounded" if bad[0]["contract"] == "strict" else "outside"] = 1
s.write("bad.json", json.dumps({"functions": bad}))
s.run("prove", "--functions", "--merge", "bad.json", "--out", "out.json", expect=1)

s.write("no.json", "{}")
for args, word in [
    (("--shard", "3/3"), "--shard"), (("--shard", "-1/3"), "--shard"), (("--shard", "1"), "--shard"), (("--shard", "0/0"), "--shard"), (("--merge", "whole.json"), "--out"), (("--merge", "none.json", "--out", "x.json"), "none.json"),
    (("--merge", "no.json", "--out", "x.json"), "no.json"), (("--function", "add"), "--function"), (("--dtype", "i8"), "--dtype"), (("--inputs", -1), "--inputs"), (("--vector-bits", 100), "--vector-bits"),
]:
    p = s.run("prove", "--functions", *args, expect=2)
    s.check(word in p.stderr and len(p.stderr.splitlines()) == 1, f"{args}: {p.stderr}")
s.check("monotone" in s.run("prove", "--help", expect=0).stdout, "the help does not say how it is proved")

s.finish()
