"""plumb run: results, checks, files in and out, and the line that scripts read."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite

s = Suite()
DOT = """func @main(%x: f32[2,3], %w: f32[3,4]) -> (f32[2,4]) {
  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[2,4]
  %1 = tanh(%0) : f32[2,4]
  return %1
}
"""
dot = s.write("dot.plumb", DOT)
add = s.write("add.plumb", "func @main(%x: f32[B,3], %y: f32[B,3]) -> (f32[B,3], i32[2]) {\n  %0 = add(%x, %y) : f32[B,3]\n"
              "  %1 = constant() {value=i32[2] [7, -1]} : i32[2]\n  return %0, %1\n}\n")
x = s.npy("x.npy", (2, 3), [1, 2, 3, 4, 5, 6])
y = s.npy("y.npy", (2, 3), [10, 20, 30, 40, 50, 60])

# Targets, checks and contracts.
for target in ("reference", "cpu"):
    for check in ("off", "sample", "kernel", "full"):
        p = s.run("run", dot, "--random", 7, "--target", target, "--check", check, expect=0)
        s.result(p, "pass")
        if target == "cpu" and check != "off":
            s.check("elements=0 " not in p.stdout, f"--check {check} looked at nothing")
for contract in ("strict", "relaxed", "fast"):
    s.result(s.run("run", dot, "--random", 1, "--contract", contract, "--check", "kernel", expect=0), "pass")

# Strict on the CPU gives the reference's bits.
exact = s.write("exact.plumb", "\n".join(l for l in DOT.splitlines() if "tanh" not in l).replace("return %1", "return %0"))
for target in ("reference", "cpu"):
    s.run("run", exact, "--random", 3, "--target", target, "--contract", "strict", "--output", s.dir / target, expect=0)
files = [sorted((s.dir / t).glob("*.npy")) for t in ("reference", "cpu")]
s.check(len(files[0]) == 1 and files[0][0].read_bytes() == files[1][0].read_bytes(), "strict differs between reference and cpu")

# The same seed gives the same inputs, another seed others.
outputs = [s.run("run", dot, "--random", seed).stdout for seed in (5, 5, 6)]
s.check(outputs[0] == outputs[1] != outputs[2], "--random is not a function of the seed")

# Inputs by position, by name, from an archive of ours, mixed; outputs as files.
for i, args in enumerate([(x, y), (f"y={y}", f"x={x}"), (f"y={y}", x)]):
    out = s.dir / f"out{i}"
    p = s.run("run", add, "--inputs", *args, "--output", out, expect=0)
    s.result(p, "pass")
    names = sorted(f.name for f in out.iterdir())
    s.check(names == ["result0.npy", "result1.npy"], f"outputs are {names}")
    s.check(s.read_npy(out / "result0.npy") == [11, 22, 33, 44, 55, 66], "wrong sum")
    s.check(s.read_npy(out / "result1.npy", "i") == [7, -1], "wrong constant")
s.check("[[11. 22. 33.]\n [44. 55. 66.]]" in p.stdout, "outputs are not printed as arrays:\n" + p.stdout)

# Expected outputs: right, wrong, wrong type.
right = s.dir / "out0" / "result0.npy"
ints = s.dir / "out0" / "result1.npy"
s.result(s.run("run", add, "--inputs", x, y, "--expect", right, ints, expect=0), "pass")
s.result(s.run("run", add, "--inputs", x, y, "--expect", f"result1={ints}", f"result0={right}", expect=0), "pass")
wrong = s.npy("wrong.npy", (2, 3), [11, 22, 33, 44, 55, 66.01])
p = s.run("run", add, "--inputs", x, y, "--expect", wrong, ints, expect=1)
s.result(p, "fail")
s.check("[1,2]" in p.stdout, "the wrong element is not named")
s.result(s.run("run", add, "--inputs", x, y, "--expect", s.npy("other.npy", (3, 2), [0] * 6), ints, expect=1), "fail")
wrong_ints = s.npy("wrong_ints.npy", (2,), [7, 1], "i", "<i4")
s.result(s.run("run", add, "--inputs", x, y, "--expect", right, wrong_ints, expect=1), "fail")
p = s.run("run", add, "--inputs", x, y, "--expect", right, s.npy("other_dtype.npy", (2,), [7, -1], "d", "<f8"), expect=2)
s.check("result1 is i32, the file holds f64[2]" in p.stderr, "an expected output of another dtype: " + p.stderr)

# Named dimensions.
p = s.run("run", add, "--random", 1, "--dim", "B=5", "--json", expect=0)
s.check([o["type"] for o in s.json(p).get("outputs", [])] == ["f32[5,3]", "i32[2]"], "--dim does not size B")

# JSON holds the same facts, and nothing else is printed.
j = s.json(s.run("run", dot, "--random", 7, "--check", "kernel", "--json", expect=0))
s.check(j.get("result") == "pass" and j["kernels"] >= 1 and j["elements"] >= 8 and 0 <= j["decided"] <= 100 and j["failures"] == [] and j["seconds"] > 0, f"JSON: {j}")
j = s.json(s.run("run", add, "--inputs", x, y, "--expect", wrong, ints, "--json", expect=1))
s.check(j.get("result") == "fail" and j["recorded"][0]["wrong"] == 1, f"JSON of a failure: {j}")

# A program without parameters just runs.
s.result(s.run("run", s.write("one.plumb", "func @main() -> (f32[]) {\n  %0 = constant() {value=f32[] 2.5} : f32[]\n  return %0\n}\n"), "--check", "kernel", expect=0), "pass")

# Folders in ONNX's backend-test layout.
for model in sorted((s.source / "examples" / "models").glob("*/model.onnx")):
    s.result(s.run("run", model.parent, "--check", "kernel", expect=0), "pass")
    s.result(s.run("run", model.parent, "--check", "sample", expect=0), "pass")

s.finish()
