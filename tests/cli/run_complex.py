"""plumb run on complex tensors: .npy files in and out, random inputs, checks, and recorded answers compared by parts."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite

s = Suite()
product = s.write("product.plumb", """func @main(%x: c64[2,2], %w: c64[2]) -> (c64[2], f32[2]) {
  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : c64[2]
  %1 = abs(%0) : f32[2]
  return %0, %1
}
""")
X, W = [1 + 2j, 3 - 1j, 1j, 2], [2 - 1j, -1 + 1j]
RIGHT = [X[0] * W[0] + X[1] * W[1], X[2] * W[0] + X[3] * W[1]]


def flat(values):
    return [part for z in values for part in (z.real, z.imag)]


def complex_npy(name, shape, values, wide=False):
    header = s.npy(name, shape, flat(values), *(("d", "<c16") if wide else ("f", "<c8")))
    return header


x, w = complex_npy("x.npy", (2, 2), X), complex_npy("w.npy", (2,), W)
sizes = s.npy("sizes.npy", (2,), [abs(z) for z in RIGHT])
good, bad = complex_npy("good.npy", (2,), RIGHT), complex_npy("bad.npy", (2,), [RIGHT[0], RIGHT[1] + 0.01j])
for target in ("reference", "cpu", "simt"):
    for contract in ("strict", "relaxed"):
        out = s.dir / f"{target}-{contract}"
        p = s.run("run", product, "--inputs", x, w, "--expect", good, sizes, "--target", target, "--contract", contract, "--output", out, *(["--check", "full"] if target != "reference" else []), expect=0)
        s.result(p, "pass")
        s.check(b"'<c8'" in (out / "result0.npy").read_bytes()[:128], f"{target}: the result is not written as c64")
        s.check(s.read_npy(out / "result0.npy") == flat(RIGHT), f"{target}: {s.read_npy(out / 'result0.npy')} instead of {flat(RIGHT)}")
    s.result(s.run("run", product, "--inputs", x, w, "--expect", bad, sizes, "--target", target, expect=1), "fail")
p = s.run("run", product, "--inputs", x, w, expect=0)
shown = "[" + " ".join(f"{z.real:.0f}.{z.imag:+.0f}.j" for z in RIGHT) + "]"
s.check(shown in p.stdout, f"not printed as {shown}:\n{p.stdout}")
outputs = [s.run("run", product, "--random", seed, expect=0).stdout for seed in (3, 3, 4)]
s.result(s.run("run", product, "--random", 3, "--check", "kernel", expect=0), "pass")
s.check(outputs[0] == outputs[1] != outputs[2], "random complex inputs are not their seed's")

# Other dtypes and orders are bad input, each with a sentence.
wide = complex_npy("wide.npy", (2,), W, wide=True)
s.check("c128" in s.run("run", product, "--inputs", x, wide, expect=2).stderr, "c128 for c64 is not named")
s.check("c64" in s.run("run", product, "--inputs", x, s.npy("f.npy", (2,), [1, 2]), expect=2).stderr, "f32 for c64 is not named")
for op, result in (("lt(%x, %x)", "bool"), ("convert(%x)", "f32"), ("reduce_max(%x) {axes=[0]}", "c64")):
    shape = "[]" if "reduce" in op else "[3]"
    p = s.run("run", s.write("order.plumb", f"func @main(%x: c64[3]) -> ({result}{shape}) {{\n  %r = {op} : {result}{shape}\n  return %r\n}}\n"), "--random", 1, expect=2)
    s.check("real" in p.stderr, f"{op} on c64 does not say what to do:\n{p.stderr}")

# The compiled stages know parts alone.
p = s.run("explain", product, "--stage", "split_complex", expect=0)
s.check("c64" not in p.stdout and "f32[2,2,2]" in p.stdout, f"split_complex leaves complex numbers:\n{p.stdout}")

s.finish()
