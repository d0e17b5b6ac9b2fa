"""plumb grad: the program that it writes runs, and says where something has no derivative."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite

s = Suite()
loss = s.write("loss.plumb", """func @main(%x: f32[N], %k: i64[N]) -> (f32[]) {
  %0 = mul(%x, %x) : f32[N]
  %1 = reduce_sum(%0) {axes=[0]} : f32[]
  return %1
}
""")
out = loss.parent / "grad.plumb"
s.run("grad", loss, "-o", out, expect=0)
s.check("-> (f32[], f32[N])" in out.read_text(), f"value and gradient, sizes still named: {out.read_text()}")
s.check("RESULT pass" in s.run("run", out, "--random", 1, "--check", "full", expect=0).stdout, "the gradient program is right")
s.check("%ct0" in s.run("grad", s.source / "bench/programs/layernorm_fwd_f32.plumb", "--wrt", "weight,%bias", expect=0).stdout, "a result that is no scalar takes a cotangent")
s.check("mul" in s.run("explain", "--stage", "grad", loss, expect=0).stdout, "explain --stage grad")

endless = s.write("endless.plumb", """func @main(%x: f32[]) -> (f32[]) {
  %0 = while(%x) {cond=@below, body=@twice} : f32[]
  return %0
}
func @below(%x: f32[]) -> (bool[]) {
  %c = constant() {value=9} : f32[]
  %r = lt(%x, %c) : bool[]
  return %r
}
func @twice(%x: f32[]) -> (f32[]) {
  %r = add(%x, %x) : f32[]
  return %r
}
""")
for args, words in (((endless,), ("endless.plumb:2", "while")), ((loss, "--wrt", "y"), ("%y", "%x")), ((loss, "--wrt", "k"), ("%k", "i64")), ((), ("which program",))):
    p = s.run("grad", *args, expect=2)
    s.check(all(w in p.stderr for w in words), f"plumb grad {args}: {p.stderr}")
s.finish()
