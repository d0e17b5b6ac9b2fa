"""Quantised products are exact: every pair of 8-bit operands, and dots of three, against Python's integers, on each target."""
import itertools
import pathlib
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite
from onnx_writer import field, model, node, value_info

s = Suite()
TYPES = {"i8": (3, "b", "|i1", range(-128, 128)), "u8": (2, "B", "|u1", range(256))}  # TensorProto.DataType, struct's code, NumPy's name
TARGETS = ("reference", "cpu", "simt")


def scalar(name, kind, value):
    return field(2, kind[0]) + field(9, struct.pack("<" + kind[1], value)) + field(8, name)


FLOAT = (1, "f")


def operands(lhs, rhs, terms):
    """Rows [256, terms] and columns [terms, 256]: the first terms meet in every pair, the others are shuffled."""
    shuffle = random.Random(1).sample
    rows = list(zip(*[lhs[3]] + [shuffle(list(lhs[3]), 256) for _ in range(terms - 1)]))
    columns = list(zip(*[rhs[3]] + [shuffle(list(rhs[3]), 256) for _ in range(terms - 1)]))
    return rows, columns


def answers(name, onnx, rows, columns, lhs, rhs, result):
    """{target: what the model gives}"""
    terms = len(rows[0])
    path = s.write(f"{name}.onnx", onnx)
    a = s.npy(f"{name}_a.npy", (256, terms), list(itertools.chain(*rows)), lhs[1], lhs[2])
    b = s.npy(f"{name}_b.npy", (terms, 256), [c[k] for k in range(terms) for c in columns], rhs[1], rhs[2])
    given = {}
    for target in TARGETS:
        out = s.dir / f"{name}_{target}"
        p = s.run("run", path, "--inputs", a, b, "--target", target, "--check", "kernel", "--output", out, expect=0)
        s.result(p, "pass")
        files = sorted(out.glob("**/*.npy"))
        if s.check(len(files) == 1, f"{name} on {target}: {files}"):
            given[target] = s.read_npy(files[0], result)
    return given


def compare(name, given, expected):
    for target, values in given.items():
        wrong = [(k, got, want) for k, (got, want) in enumerate(zip(values, expected)) if got != want]
        s.check(len(values) == 65536 and not wrong, f"{name} on {target}: {len(wrong)} wrong, first {wrong[:1]}")


def clamp(x, numbers):
    return max(numbers[0], min(numbers[-1], x))


def half_even(x, by):
    """x / by, to the nearest integer, ties to even."""
    whole, rest = divmod(x, by)
    return whole + (2 * rest > by or (2 * rest == by and whole % 2))


for (left, lhs), (right, rhs) in itertools.product(TYPES.items(), TYPES.items()):
    for terms, (za, zb) in ((1, (lhs[3][0], rhs[3][-1])), (3, (lhs[3][100], rhs[3][131]))):
        rows, columns = operands(lhs, rhs, terms)
        sums = [sum((x - za) * (y - zb) for x, y in zip(r, c)) for r in rows for c in columns]
        inputs = [value_info("a", [256, terms], lhs[0]), value_info("b", [terms, 256], rhs[0])]
        zeros = [scalar("za", lhs, za), scalar("zb", rhs, zb)]
        name = f"{left}_{right}_{terms}"
        whole = model([node("MatMulInteger", ["a", "b", "za", "zb"], ["y"])], inputs, ["y"], 10, zeros)
        compare(name, answers(name, whole, rows, columns, lhs, rhs, "i"), sums)
        # Scales are powers of two, so that the one factor, 2^-9, is exact: what is rounded is the exact quotient.
        parts = zeros + [scalar("sa", FLOAT, 0.5), scalar("sb", FLOAT, 0.25), scalar("sy", FLOAT, 64), scalar("zy", lhs, lhs[3][110])]
        linear = model([node("QLinearMatMul", ["a", "sa", "za", "b", "sb", "zb", "sy", "zy"], ["y"])], inputs, ["y"], 21, parts)
        expected = [clamp(half_even(x, 512) + lhs[3][110], lhs[3]) for x in sums]
        compare("linear_" + name, answers("linear_" + name, linear, rows, columns, lhs, rhs, lhs[1]), expected)

s.finish()
