"""Bad input and bad usage, as a user's mistakes and damaged files bring them: one message that names the place, exit 2 or 3."""
import io
import pathlib
import struct
import sys
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite
from onnx_writer import ints_tensor, model, node, value_info

s = Suite()
TEXT = """func @main(%x: f32[B,3], %w: f32[3,4]) -> (f32[B,4]) {
  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[B,4]
  return %0
}
"""
dot = s.write("dot.plumb", TEXT)
x, w, y = s.npy("x.npy", (2, 3), range(6)), s.npy("w.npy", (3, 4), range(12)), s.npy("y.npy", (2, 4), range(8))
given = ("--inputs", x, w)


def refused(*args, code=2, words=(), **more):
    """One message of plumb's own, with these words in it."""
    p = s.run(*args, expect=code, timeout=30, **more)
    what = f"plumb {' '.join(map(str, args))}"[:200]
    s.check(p.stderr.startswith("plumb: ") and p.stderr.count("\nplumb: ") == 0, f"{what}: not one message: {p.stderr}")
    s.check("internal" not in p.stderr, f"{what}: blames plumb: {p.stderr}")
    for word in words:
        s.check(word in p.stderr, f"{what}: the message does not say '{word}': {p.stderr}")


def survives(*args):
    """Damage may be harmless; else it is bad input."""
    p = s.run(*args, timeout=30)
    s.check(p.returncode in (0, 2, 3) and "internal" not in p.stderr, f"plumb {args}: exit {p.returncode}: {p.stderr}")


def archive(name, entries):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as z:
        for entry, content in entries:
            z.writestr(entry, content)
    return s.write(name, data.getvalue())


# Flags with values that are none.
for flag, values in {"--random": ("", "-1", "1e3", "0x10", " 1", "1.5", "99999999999999999999999"), "--threads": ("-1", "x", "1.5", "1025"), "--repeat": ("0", "-1", "x", "1e9")}.items():
    for value in values:
        more = () if flag == "--random" else given
        refused("run", dot, *more, flag, value, words=(flag[2:],))
for dim in ("B", "=3", "B=", "B=-1", "B=+2", "B=x", "B=1e3", "B=99999999999999999999", "C=3"):
    refused("run", dot, "--random", 1, "--dim", dim, words=("--dim",))
refused("run", dot, "--random", 1, "--dim", "B=2", "--dim", "B=3", words=("'B' twice",))
refused("run", dot, *given, "--output", "", words=("--output",))
refused("run", dot, dot, "--random", 1)
refused("run", dot, "--random", 1, "--random", 2)
refused("run", "x" * 5000, words=("there is no file",))
refused("run", "\x1b[31mred.plumb", words=("\\x1b[31mred",))
refused("explain", dot, "--stage", "import", "--target", "abacus", words=("abacus",))
refused("explain", dot, "--stage", "fuse", "--disable", "nothing", words=("nothing",))
refused("explain", dot, "--stage", "fuse", "--random", "-1", words=("--random",))
for flag, values in {"--seconds": ("-1", "0", "nan", "inf", "1e99", "x"), "--programs": ("0", "-1", "x")}.items():
    for value in values:
        refused("fuzz", flag, value, words=(flag[2:],))
refused("fuzz", "--programs", 1, "--seed", "-1", words=("--seed",))
if not s.sanitized:
    s.run("run", dot, *given, "--threads", 1024, expect=0, limit=2 << 30)  # more threads than memory has room for

# The same input twice, in each of the ways to give one.
both = archive("both.npz", [("x.npy", x.read_bytes()), ("w.npy", w.read_bytes())])
s.run("run", dot, "--inputs", both, expect=0)
for files in ((f"x={x}", f"x={x}", f"w={w}"), (both, f"x={x}"), (f"x={x}", both), (both, both)):
    refused("run", dot, "--inputs", *files, words=("'x' is given twice",))
refused("run", dot, "--inputs", archive("none.npz", []), words=("2 tensors are needed",))
refused("run", dot, "--inputs", archive("text.npz", [("readme.txt", "hi")]), words=("text.npz",))

# Inputs and expectations that do not fit.
refused("run", dot, "--inputs", w, x, words=("f32[3,4]",))
refused("run", dot, *given, "--expect", y, y, words=("1 tensors are needed",))
refused("run", dot, *given, "--expect", f"z={y}", words=("'z'",))
refused("run", dot, "--inputs", s.dir, w, words=(s.dir.name,))

# Folders that lack something.
example = s.source / "examples/models/digits_cnn"
onnx = (example / "model.onnx").read_bytes()
s.write("long/model.onnx", onnx)
(s.dir / "long" / ("test_data_set_" + "9" * 30)).mkdir()
refused("run", "long", words=("1 tensors are needed",))
s.write("bare/model.onnx", onnx)
s.write("bare/test_data_set_0/input_0.pb", (example / "test_data_set_0/input_0.pb").read_bytes())
refused("run", "bare", words=("output_0.pb",))
s.write("bare/test_data_set_0/input_0.pb", "")
refused("run", "bare", words=("input_0.pb",))
(s.dir / "folder.onnx").mkdir()
refused("run", "folder.onnx", "--random", 1, words=("folder.onnx",))

# Places that cannot be written.
s.write("file", "x")
for place in ("file", "file/below", "/proc/nothing", "n" * 300):
    refused("run", dot, *given, "--output", place, words=("--output",))
(s.dir / "taken" / "result0.npy").mkdir(parents=True)
refused("run", dot, *given, "--output", "taken", words=("result0.npy",))

# Texts cut short after each line, and single bytes replaced.
program = (s.source / "tests/reports/B137_threefry.plumb").read_text()
lines = program.splitlines(keepends=True)
for k in range(0, len(lines), 7):
    survives("run", s.write("cut.plumb", "".join(lines[:k])), "--target", "reference")
for k in range(0, len(program), 173):
    survives("run", s.write("byte.plumb", program[:k] + "}[%@\"\0"[k % 6] + program[k + 1 :]), "--target", "reference")
for name, text in {"empty": "", "junk": bytes(range(256)) * 4, "open": "func @main(" + "(" * 20000, "nested": "func @main() -> (f32[]) {\n %0 = constant() {value=" + "[" * 20000 + "} : f32[]\n return %0\n}"}.items():
    refused("run", s.write(name + ".plumb", text), "--random", 1, words=(name + ".plumb",))
for shape in ("3037000500,3037000500", "99999999999999999999", "-1", ",".join(["1"] * 1000)):
    refused("run", s.write("shape.plumb", f"func @main() -> (f32[{shape}]) {{\n  %0 = iota() {{axis=0}} : f32[{shape}]\n  return %0\n}}\n"), words=("shape.plumb",))

# Tensor files, cut and with wrong headers.
good = x.read_bytes()
for k in range(0, len(good), 13):
    refused("run", dot, "--inputs", s.write("cut.npy", good[:k]), w, words=("cut.npy",))
for k in range(0, 80, 7):
    survives("run", dot, "--inputs", s.write("flip.npy", good[:k] + bytes([good[k] ^ 1 << k % 8]) + good[k + 1 :]), w, "--target", "reference")
for descr, shape in (("|O", "2,3"), ("<c8", "2,3"), ("<f4", "2,-3"), ("<f4", "3037000500,3037000500"), ("<f4", "1099511627776,3"), ("<f4", "1," * 100)):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n"
    refused("run", dot, "--inputs", s.write("head.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + bytes(24)), w, words=("head.npy",))
packed = both.read_bytes()
for k in range(0, len(packed), 97):
    survives("run", dot, "--inputs", s.write("flip.npz", packed[:k] + bytes([packed[k] ^ 1 << k % 8]) + packed[k + 1 :]), "--target", "reference")
    refused("run", dot, "--inputs", s.write("cut.npz", packed[:k]), words=("cut.npz",))
pb = (example / "test_data_set_0/input_0.pb").read_bytes()
for k in range(0, 40, 7):
    survives("run", example / "model.onnx", "--inputs", s.write("flip.pb", pb[:k] + bytes([pb[k] ^ 1 << k % 8]) + pb[k + 1 :]), "--target", "reference")

# Models that are wrong.
vector = value_info("x", [2])
MODELS = [
    (model([node("Frobnicate", ["x"], ["y"], "here")], [vector], ["y"]), 3, ("Frobnicate", "opset 13", "here")),
    (model([node("Add", ["x", "b"], ["a"], "first"), node("Neg", ["a"], ["b"])], [vector], ["b"]), 2, ("first", "'b'", "cyclic")),
    (model([node("Abs", ["a"], ["y"], "early"), node("Neg", ["x"], ["a"])], [vector], ["y"]), 2, ("early", "'a'", "out of order")),
    (model([node("Abs", ["x"], ["y"])], [vector], ["z"]), 2, ("'z'",)),
    (model([node("Abs", ["x"], ["y"])], [vector], ["y"], opset=99), 3, ("opset 99", "1 to 22")),
    (model([node("Abs", ["x"], ["y"])], [value_info("x", [1] * 500)], ["y"]), 3, ("rank 500",)),
    (model([node("Abs", ["x"], ["y"])], [value_info("x", [2**31, 2**31, 4])], ["y"]), 2, ("'x'", "overflow")),
    (model([node("Abs", ["x"], ["y"])], [value_info("x", [2], 8)], ["y"]), 3, ("STRING",)),
    (model([node("Squeeze", ["x", "axes"], ["y"], "old")], [vector], ["y"], opset=11, tensors=[ints_tensor("axes", [0])]), 2, ("old", "opset 11")),
    (model([node("ConstantOfShape", ["n"], ["y"])], [], ["y"], tensors=[ints_tensor("n", [2**40, 2**20])]), 3, ("memory",)),
    (model([node("ConstantOfShape", ["n"], ["y"])], [], ["y"], tensors=[ints_tensor("n", [2**40, 2**40])]), 2, ("2^63",)),
]
for k, (data, code, words) in enumerate(MODELS):
    refused("run", s.write(f"model{k}.onnx", data), "--random", 1, code=code, words=words)
symbolic = s.write("symbolic.onnx", model([node("Abs", ["x"], ["y"])], [value_info("x", ["B", 1024])], ["y"]))
refused("run", symbolic, "--random", 1, "--dim", "B=1000000000000", code=3, words=("memory",))
refused("run", symbolic, "--random", 1, "--dim", "B=1000000000000000000", words=("'x'", "overflow"))
refused("run", symbolic, "--inputs", x, words=("'x'", "f32[B,1024]", "f32[2,3]"))

# Long and deep programs end in time and do not exhaust the stack.
chain = ["func @main(%v0: f32[4]) -> (f32[4]) {"] + [f"  %v{k + 1} = add(%v{k}, %v0) : f32[4]" for k in range(30000)] + ["  return %v30000", "}"]
for target in ("cpu", "simt"):
    s.run("run", s.write("chain.plumb", "\n".join(chain)), "--random", 1, "--target", target, expect=0, timeout=30)


def choices(depth):
    """Functions that name the next in both branches: 2^depth ways, depth functions."""
    text = f"func @main(%p: bool[]) -> (bool[]) {{\n  %r = if(%p, %p) {{then=@f1, else=@f1}} : bool[]\n  return %r\n}}\nfunc @f{depth}(%p: bool[]) -> (bool[]) {{\n  return %p\n}}\n"
    for k in range(1, depth):
        text += f"func @f{k}(%p: bool[]) -> (bool[]) {{\n  %r = if(%p, %p) {{then=@f{k + 1}, else=@f{k + 1}}} : bool[]\n  return %r\n}}\n"
    return s.write("choices.plumb", text)


for target in ("reference", "cpu", "simt"):
    s.run("run", choices(60), "--random", 1, "--target", target, expect=0, timeout=30)
    refused("run", choices(20000), "--random", 1, "--target", target, code=3, words=("deep",))
s.run("explain", choices(60), "--stage", "plan", expect=0, timeout=30)

s.finish()
