"""plumb sensitivity: its table, its JSON, its flags."""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite

s = Suite()
KINDS = {"dropped_term", "duplicated_term", "neighbour_term", "narrow_accumulator", "stale_tile", "wrong_tail"}

p = s.run("sensitivity", "--op", "sum", "--op", "max", "--dtype", "f32", "--k", 64, "--k", 512, "--trials", 40, "--faults", 1, "--out", "out.json", expect=0)
s.check("100.0% decided: 0 rejected" in p.stdout or ": 0 rejected" in p.stdout, f"no right kernel is rejected: {p.stdout}")
s.check("does not apply where a minimum or maximum may meet a term twice: max 64, max 512" in p.stdout, p.stdout)
out = json.loads((s.dir / "out.json").read_text())
s.check(out["target"] == "cpu" and out["seed"] == 1, f"{out['target']} {out['seed']}")
s.check([(r["op"], r["dtype"], r["k"]) for r in out["results"]] == [("sum", "f32", 64), ("max", "f32", 64), ("sum", "f32", 512), ("max", "f32", 512)], "what was measured")
for r in out["results"]:
    s.check(r["right"]["rejected"] == 0 and r["right"]["programs"] >= 4, f"{r['right']}")
    s.check(set(r["faults"]) | set(r.get("not_applicable", {})) == KINDS and not set(r["faults"]) & set(r.get("not_applicable", {})), f"kinds of {r['op']}")
    for kind, f in r["faults"].items():
        s.check(f["judged"] == f["rejected"] == 4 and max(f["by"].values()) == 4, f"{r['op']} {r['k']} {kind}: {f}")
        s.check(set(f["enclosure_on"]) == {"normal", "uniform", "cancelling", "integers"} and sum(f["enclosure_on"].values()) == f["by"].get("enclosure", 0), f"{kind}: {f}")
s.check(out["summary"]["programs"] == sum(r["right"]["programs"] for r in out["results"]) and out["summary"]["rejected"] == 0, f"{out['summary']}")
s.check(sum(f["judged"] for f in out["summary"]["faults"]) == sum(f["judged"] for r in out["results"] for f in r["faults"].values()), "the summary adds up")
s.check(s.run("sensitivity", "--op", "sum", "--dtype", "f32", "--k", 64, "--seed", 7, expect=0).stdout == s.run("sensitivity", "--op", "sum", "--dtype", "f32", "--k", 64, "--seed", 7, expect=0).stdout, "one seed, one table")
s.run("sensitivity", "--op", "dot", "--dtype", "f16", "--k", 64, "--seconds", 0.2, "--target", "simt", expect=0)

for args, word in [
    (("--op", "sums"), "'sums'"), (("--dtype", "i32"), "'i32'"), (("--dtype", "f128"), "'f128'"), (("--k", 63), "'63'"), (("--k", 66), "'66'"), (("--k", "1e3"), "1e3"), (("--k", 1 << 21), "2097152"),
    (("--trials", 0), "--trials"), (("--faults", 0), "--faults"), (("--seconds", 0), "--seconds"), (("--seconds", "nan"), "--seconds"), (("--seconds", 1, "--trials", 5), "instead"),
    (("--seed", "x"), "--seed"), (("--target", "reference"), "target"), (("--target", "tpu"), "tpu"), (("--out", "no/such/folder/x.json", "--op", "sum", "--dtype", "f32", "--k", 64), "x.json"), (("extra",), "positional"),
]:
    p = s.run("sensitivity", *args, expect=2)
    s.check(word in p.stderr, f"{args}: the message does not say '{word}': {p.stderr}")
s.run("sensitivity", "--target", "cuda", expect=3)
s.finish()
