#!/usr/bin/env python3
"""aten_samples.py on samples made by hand: what it accepts, what it calls a difference, and what a rule does.

usage: aten_samples_test.py BATCH
"""
import contextlib
import io
import json
import math
import pathlib
import struct
import sys
import tempfile
import zipfile

import aten_samples
from aten_text import promote, result_type, Tensor

FORMAT = {"float32": "f", "int64": "q", "bool": "?", "int32": "i", "complex64": "f", "complex32": "f"}


class Samples:
    """A folder as aten_dump.py writes it."""

    def __init__(self):
        self.blob, self.samples = bytearray(), []

    def tensor(self, dtype, shape, values):
        self.blob += b"\0" * (-len(self.blob) % 8)
        at = len(self.blob)
        self.blob += struct.pack(f"<{len(values)}{FORMAT[dtype]}", *values)
        return {"t": [dtype, shape, at]}

    def add(self, op, args, out, dtype="float32", **kwargs):
        self.samples.append({"op": op, "variant": "", "dtype": dtype, "args": args, "kwargs": kwargs, "out": out})

    def write(self, folder):
        def npy(data):
            head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(data)},), }}"
            head += " " * (-(len(head) + 11) % 64) + "\n"
            return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data
        with zipfile.ZipFile(pathlib.Path(folder, "aten_0.npz"), "w") as z:
            z.writestr("index.npy", npy(json.dumps({"samples": self.samples, "core": []}).encode()))
            z.writestr("blob.npy", npy(bytes(self.blob)))


def run(batch, samples, rules=""):
    """The exit code and what is printed, on the reference and on the CPU, which must agree."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        samples.write(folder)
        file = pathlib.Path(folder, "rules")
        file.write_text(rules)
        for target in ("reference", "cpu"):
            sys.argv = ["aten_samples.py", batch, folder, "--target", target, "--rules", str(file)]
            with contextlib.redirect_stdout(io.StringIO()) as out:
                results.append((aten_samples.main(), out.getvalue()))
    assert results[0][0] == results[1][0], results
    return results[0]


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def one(op, xs, ys, dtype="float32", out_dtype=None, **kwargs):
    s = Samples()
    shape = [len(ys)] if isinstance(ys, list) else []
    s.add(op, [s.tensor(dtype, [len(xs)], xs)], s.tensor(out_dtype or dtype, shape, ys if isinstance(ys, list) else [ys]), dtype, **kwargs)
    return s


def check(holds, what):
    if not holds:
        raise SystemExit(f"not so: {what}")


def main():
    batch = sys.argv[1]
    code, text = run(batch, one("abs", [-1.5, 2, -0.0, math.nan], [1.5, 2, 0, math.nan]))
    check(code == 0 and "1 equal" in text, f"a right answer is equal: {text}")
    wrong = one("abs", [-1.5, 2], [1.5, 2.0000002])
    code, text = run(batch, wrong)
    check(code == 1 and "UNEXPLAINED abs" in text and "[1]: ours 2, theirs 2.0000002" in text, f"an exact operation admits no other answer: {text}")
    code, text = run(batch, wrong, "abs | float32 | theirs 2.0000002 | because\n")
    check(code == 0 and "explained: 1 × because" in text, f"a rule explains: {text}")
    for rules in ("abs | int64 | * | because\n", "sign | * | * | because\n", "abs | * | theirs 3 | because\n"):
        check(run(batch, wrong, rules)[0] == 1, f"a rule of other dtype, operation or detail does not: {rules}")
    code, text = run(batch, one("abs", [-1.5], [1.5]), "abs | * | * | because\n")
    check(code == 1 and "explains nothing" in text, f"an idle rule is an error: {text}")
    x = f32(math.exp(1.25))
    unit = math.ulp(1.0) * 2**30  # of f32 in [2, 4)
    for units, verdict in ((1, "1 enclosed"), (5, "1 near"), (40, "1 wrong")):
        code, text = run(batch, one("exp", [1.25], [x + units * unit]))
        check(verdict in text and code == (1 if units == 40 else 0), f"exp, {units} units off: {text}")
    terms = [f32(0.1 * k) for k in range(1, 9)]
    total = f32(math.fsum(terms))
    code, text = run(batch, one("sum", terms, f32(total + 2**-22)))
    check(code == 0 and "1 enclosed" in text, f"a sum in another order: {text}")
    check(run(batch, one("sum", terms, f32(total - terms[0])))[0] == 1, "a sum that lacks a term")
    check(run(batch, one("sum", [1, 2], 4, "int64"))[0] == 1, "an integer that differs")
    code, text = run(batch, one("argmax", [1.0, 3.0], 1, "float32", "int32"))
    check(code == 1 and "it is i32[], ours i64[]" in text, f"another dtype: {text}")
    code, text = run(batch, one("lgamma", [1.0], [0.0]))
    check(code == 0 and "0 samples of 0 operations judged" in text and "1 samples left out" in text, f"an operation without a program is left out: {text}")
    code, text = run(batch, one("abs", [1.0, 1.0], [1.0], "complex32"))
    check(code == 0 and "1 samples left out" in text, f"a dtype without a program is left out: {text}")
    for size, verdict in ((5, "1 equal"), (6, "1 wrong")):
        s = Samples()
        s.add("abs", [s.tensor("complex64", [1], [3, -4])], s.tensor("float32", [1], [size]), "complex64")
        code, text = run(batch, s)
        check(verdict in text and code == (0 if size == 5 else 1), f"|3 - 4i| is 5: {text}")
    for im, verdict in ((4, "1 equal"), (-4, "1 wrong")):
        s = Samples()
        s.add("conj", [s.tensor("complex64", [1], [3, -4])], s.tensor("complex64", [1], [3, im]), "complex64")
        check(verdict in run(batch, s)[1], "complex answers are judged by their parts")
    for rows, verdict in (([0, 2], "1 equal"), ([0, 1], "1 wrong"), ([0], "1 wrong"), ([0, 2, -1], "1 wrong")):
        s = Samples()
        s.add("nonzero", [s.tensor("float32", [4], [5, 0, math.nan, -0.0])], s.tensor("int64", [len(rows), 1], rows))
        check(verdict in run(batch, s)[1], f"the places of what is not 0, and how many they are: {rows}")
    for places, verdict in (([2, 0], "1 equal"), ([2, 3], "1 equal"), ([2, 1], "1 wrong")):
        s = Samples()
        s.add("topk", [s.tensor("float32", [4], [7, 1, 9, 7]), 2], {"tuple": [s.tensor("float32", [2], [9, 7]), s.tensor("int64", [2], places)]})
        check(verdict in run(batch, s)[1], f"places are right where they hold the values: {places}")
    vector, scalar = Tensor("float16", [2], 0), Tensor("float32", [], 0)
    check(result_type(vector, scalar) == "f16" and result_type(vector, 1.5) == "f16" and result_type(Tensor("int64", [2], 0), 1.5) == "f32", "promotion by kind")
    check(result_type(Tensor("int64", [2], 0), Tensor("float64", [], 0)) == "f64" and promote("f16", "bf16") == "f32" and promote("u8", "i8") == "i16", "promotion by category")
    print("aten_samples.py tells right from wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
