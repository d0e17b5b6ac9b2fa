"""Exit codes and messages: help, bad usage, bad input, what this build does not have."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite

s = Suite()
COMMANDS = ("run", "explain", "targets", "ops", "compile", "fuzz", "reduce", "bisect", "faults", "grad", "prove", "sensitivity", "spec", "equal", "gate", "bench")

p = s.run("--help", expect=0)
for c in COMMANDS:
    s.check(f"\n  {c} " in p.stdout, f"--help does not list {c}")
    s.check("usage: plumb " + c in s.run(c, "--help", expect=0).stdout, f"{c} --help")
s.check(s.run("--version", expect=0).stdout.startswith("plumb "), "--version")
s.run(expect=2)
s.run("frobnicate", expect=2)

one = s.write("one.plumb", "func @main(%x: f32[2,3]) -> (f32[2,3]) {\n  %0 = exp(%x) : f32[2,3]\n  return %0\n}\n")
x = s.npy("x.npy", (2, 3), [0] * 6)
good = x.read_bytes()
wide = s.npy("wide.npy", (2, 3), [0] * 6, "d", "<f8")
long = s.npy("long.npy", (3, 3), [0] * 9)
bad = s.write("bad.plumb", "func @main(%x: f32[2,3]) -> (f32[2,3]) {\n  %0 = expp(%x) : f32[2,3]\n  return %0\n}\n")
empty = s.write("empty/readme.txt", "")
no_set = s.write("no_set/model.onnx", (s.source / "examples/models/digits_cnn/model.onnx").read_bytes()).parent
onnx = (s.source / "examples/models/digits_cnn/model.onnx").read_bytes()

# (arguments of run, a word that the message has)
BAD = [
    ((), "which program"),
    (("missing.plumb", "--random", 1), "missing.plumb"),
    ((empty, "--random", 1), "readme.txt"),
    ((empty.parent,), "model.onnx"),
    ((no_set,), "test_data_set"),
    ((bad, "--random", 1), "expp"),
    ((one,), "--random"),
    ((one, "--random", "x"), "--random"),
    ((one, "--random", "-1"), "--random"),
    ((one, "--random", 1, "--dim", "B"), "NAME=SIZE"),
    ((one, "--random", 1, "--dim", "B=3"), "B"),
    ((one, "--random", 1, "--inputs", x), "exclude"),
    ((one, "--random", 1, "--target", "tpu"), "tpu"),
    ((one, "--random", 1, "--check", "all"), "--check"),
    ((one, "--random", 1, "--contract", "loose"), "--contract"),
    ((one, "--random", 1, "--threads", -1), "--threads"),
    ((one, "--random", 1, "--threads", "many"), "threads"),
    ((one, "--random", 1, "--disable", "nothing"), "nothing"),
    ((one, "--random", 1, "--frobnicate"), "frobnicate"),
    ((one, "--random", 1, "--chec", "off"), "chec"),
    ((one, "--inputs", x, x), "2 were given"),
    ((one, "--inputs", "missing.npy"), "missing.npy"),
    ((one, "--inputs", empty), "readme.txt"),
    ((one, "--inputs", f"z={x}"), "'z'"),
    ((one, "--inputs", wide), "f64[2,3]"),
    ((one, "--inputs", long), "f32[3,3]"),
    ((one, "--inputs", s.write("cut.npy", good[:-3])), "cut.npy"),
    ((one, "--inputs", s.write("cut.npz", b"PK\3\4")), "cut.npz"),
    ((one, "--inputs", s.write("cut.pb", b"\xff\xff")), "cut.pb"),
    ((one, "--inputs", x, "--expect", x, x), "2 were given"),
    ((s.write("cut.onnx", onnx[: len(onnx) // 2]), "--random", 1), "cut.onnx"),
    ((s.write("text.onnx", "hello"), "--random", 1), "text.onnx"),
    ((one, "--inputs", x, "--output", one / "below"), "--output"),
    ((s.write("huge.plumb", "func @main(%x: f32[4294967296,4294967296]) -> (f32[4294967296,4294967296]) {\n  return %x\n}\n"), "--random", 1), "overflow"),
]
for args, word in BAD:
    p = s.run("run", *args, expect=2)
    s.check(word in p.stderr, f"run {args}: the message does not say '{word}': {p.stderr}")
    s.check(p.stderr.startswith("plumb: ") and p.stderr.count("plumb: ") == 1, f"run {args}: not one message: {p.stderr}")
    s.check("RESULT" not in p.stdout, f"run {args}: prints a RESULT")

for args, word in [
    (("explain", one, "--stage", "kernels", "--disable", "nothing"), "nothing"),
    (("fuzz", "--programs", 0), "--programs"),
    (("fuzz", "--programs", -1), "--programs"),
    (("fuzz", "--seconds", 0), "--seconds"),
]:
    p = s.run(*args, expect=2)
    s.check(word in p.stderr, f"{args}: the message does not say '{word}': {p.stderr}")
s.write("no_set/test_data_set_99999999999999999999/readme.txt", "")
p = s.run("run", no_set, expect=2)
s.check("inputs" in p.stderr or "needed" in p.stderr, f"a data set without inputs: {p.stderr}")

# One word of a file at a time is wrong: never a crash.
for k in range(0, len(onnx), max(1, len(onnx) // 25)):
    s.run("run", s.write("flipped.onnx", onnx[:k] + bytes([onnx[k] ^ 0x55]) + onnx[k + 1 :]), "--random", 1, "--target", "reference")

for args in [("compile", one, "-o", "x"), ("reduce", "x"), ("bisect", "x"), ("faults",), ("prove", "sensitivity", "--rules"), ("equal", one, one), ("gate", "x")]:
    p = s.run(*args, expect=3)
    s.check(len(p.stderr.splitlines()) == 1 and args[0] in p.stderr, f"{args}: {p.stderr}")

# Targets that are not here are unsupported, and said so.
targets = {t["name"]: t for t in s.json(s.run("targets", "--json", expect=0))}
s.check(set(targets) >= {"reference", "cpu", "simt", "cuda", "rocm", "level_zero"}, f"targets: {targets}")
s.check(targets["reference"]["available"] and targets["cpu"]["available"], "reference and cpu are always there")
s.check(all(t["description"] for t in targets.values()), "a target without a description")
for name, t in targets.items():
    if t["available"]:
        continue
    p = s.run("run", one, "--inputs", x, "--target", name, expect=3)
    s.result(p, "unsupported")
    s.check(name in p.stderr, f"{name}: {p.stderr}")
    j = s.json(s.run("run", one, "--inputs", x, "--target", name, "--json", expect=3))
    s.check(j.get("result") == "unsupported" and j.get("error"), f"{name}: {j}")
s.check("cpu" in s.run("targets", expect=0).stdout, "targets")
ops = {o["name"]: o for o in s.json(s.run("ops", "--json", expect=0))}
s.check(ops["softmax"] == {"name": "softmax", "class": "composite", "operands": ["x"], "attributes": [{"name": "axis", "kind": "integer"}], "doc": ops["softmax"]["doc"]}, "ops --json describes softmax")
s.check(ops["concat"]["operands"] == ["xs..."] and ops["cumsum"]["attributes"][1] == {"name": "exclusive", "kind": "boolean", "default": "false"}, "ops --json has variadic operands and defaults")
s.check("softmax(x) {axis}   composite: " in s.run("ops", expect=0).stdout, "ops")

# More than any machine has.
big = s.write("big.plumb", "func @main() -> (f32[]) {\n  %0 = iota() {dtype=f32, shape=[1048576,1048576,64], axis=0} : f32[1048576,1048576,64]\n  %1 = sin(%0) : f32[1048576,1048576,64]\n"
              "  %2 = sort(%1) {axis=0} : f32[1048576,1048576,64]\n  %3 = reduce_sum(%2) {axes=[0,1,2]} : f32[]\n  return %3\n}\n")
p = s.run("run", big)
s.check(p.returncode in (2, 3) and p.stderr.startswith("plumb: "), f"a tensor larger than memory: exit {p.returncode}: {p.stderr}")

# Less memory than a program needs: a message, not a crash.
grow = s.write("grow.plumb", "func @main() -> (f32[]) {\n  %0 = iota() {dtype=f32, shape=[30000000], axis=0} : f32[30000000]\n  %1 = sort(%0) {axis=0} : f32[30000000]\n"
               "  %2 = reduce_sum(%1) {axes=[0]} : f32[]\n  return %2\n}\n")
for target in () if s.sanitized else ("reference",):
    p = s.run("run", grow, "--target", target, limit=400 << 20)
    s.check(p.returncode in (2, 3) and "memory" in p.stderr, f"out of memory on {target}: exit {p.returncode}: {p.stderr}")

# explain.
stages = [line.split()[0] for line in s.run("explain", "--stage", "list", expect=0).stdout.splitlines()]
s.check(set(stages) >= {"import", "decompose", "fuse", "memory", "kernels", "plan", "timings", "llvm", "asm"}, f"stages: {stages}")
for stage in stages + ["fused"]:
    s.check(s.run("explain", one, "--stage", stage, expect=0).stdout.strip(), f"--stage {stage} prints nothing")
s.check("define" in s.run("explain", one, "--stage", "llvm").stdout, "llvm is not LLVM IR")
s.run("explain", one, "--stage", "nothing", expect=2)
s.run("explain", "--stage", "import", expect=2)
s.run("explain", one, "--stage", "fuse", "--target", "reference", expect=2)
s.check("exp(%x)" in s.run("explain", one, "--stage", "remove_dead", "--target", "reference", expect=0).stdout, "explain shows no tensor stage of the reference")
again = s.write("again.plumb", s.run("explain", one, "--stage", "import").stdout)
s.run("run", again, "--random", 1, expect=0)

s.finish()
