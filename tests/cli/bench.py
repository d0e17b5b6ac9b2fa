"""plumb bench: what it counts (bytes and operations by hand), how it takes turns, what it refuses."""
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite

s = Suite()
PROGRAM = """// A product
// cpu: M=8
func @main(%x: f32[M,4], %w: f32[4,N]) -> (f32[M,N]) {
  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[M,N]
  return %0
}
"""
product = s.write("product.plumb", PROGRAM)
quick = ("--seconds", 0.01)

listed = [line.split()[0] for line in s.run("bench", "--list", expect=0).stdout.splitlines()]
s.check(len(listed) > 20 and "softmax_4096x4096_f32" in listed and "softmax_16384x4096_f32" not in listed, f"the benchmarks of cpu are {listed}")
s.check("softmax_16384x4096_f32" in s.run("bench", "--list", "--target", "cuda", expect=0).stdout, "cuda lists its own sizes, on any machine")

report = json.loads(s.run("bench", product, "--dim", "N=16", "--json", *quick, expect=0).stdout)
(case,) = report["cases"]
s.check(case["bytes"] == 4 * (8 * 4 + 4 * 16 + 8 * 16) and case["flops"] == 2 * 8 * 4 * 16, f"bytes and operations: {case}")
s.check(case["kernels"] == 1 and case["ms_min"] <= case["ms"] <= case["ms_p90"] and case["ms"] > 0 and report["copy_gb_per_s"] > 0, f"times: {report}")
s.check("dispatch_add1" in s.run("bench", "dispatch_add1", *quick, expect=0).stdout, "a benchmark by its name")

# Half of the indices below 1024 are no rows of this table; those below 512 all are.
take = """// below: ids=%d
func @main(%%table: f32[512,4], %%ids: i64[4096]) -> (f32[4096,4]) {
  %%0 = gather(%%table, %%ids) {axis=0} : f32[4096,4]
  return %%0
}
"""
s.run("bench", s.write("inside.plumb", take % 512), *quick, expect=0)
p = s.run("bench", s.write("outside.plumb", take % 1024), *quick, expect=2)
s.check("512" in p.stderr, f"an index outside its table: {p.stderr}")
s.run("bench", s.write("none.plumb", take % 0), *quick, expect=2)

turns = subprocess.run([s.plumb, "bench", "dispatch_add1", "--serve"], input="0.01\n0.01\n", capture_output=True, text=True, timeout=60)
lines = [json.loads(line) for line in turns.stdout.splitlines()]
s.check(turns.returncode == 0 and len(lines) == 3 and lines[0]["case"] == "dispatch_add1" and all(t["ms"] > 0 for t in lines[1:]), f"--serve: {turns}")

for args, words in (((product,), ("N", "--dim")), (("nosuch",), ("nosuch", "--list")), ((product, "--dim", "N=16", "--seconds", "0"), ("--seconds",)), (("dispatch_add1", "--target", "reference"), ("reference",)),
                    ((product, product, "--serve"), ("--serve",))):
    p = s.run("bench", *args, expect=2)
    s.check(all(w in p.stderr for w in words), f"plumb bench {args}: {p.stderr}")
s.finish()
