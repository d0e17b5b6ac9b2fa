"""interpreter/SPECIFICATION.md is what `plumb spec` prints, byte for byte, and its links lead somewhere."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite

s = Suite()
committed = s.source / "interpreter/SPECIFICATION.md"
p = s.run("spec", expect=0)
text = p.stdout
written = s.dir / "SPECIFICATION.md"
s.run("spec", "--out", written, expect=0)
s.check(written.read_text(encoding="utf-8") == text, "plumb spec --out writes something else than plumb spec prints")
s.run("spec", "--out", s.dir / "no_folder" / "x.md", expect=2)
s.run("spec", "surplus", expect=2)

if s.check(committed.exists() and committed.read_text(encoding="utf-8") == text, f"interpreter/SPECIFICATION.md is stale; renew it:\n  {s.plumb} spec --out {committed}"):
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    headings = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", outside, flags=re.M)]
    anchors = set(headings) | set(re.findall(r'<a id="([^"]+)">', outside))
    for target in sorted(set(re.findall(r"\]\(#([^)]+)\)", outside))):
        s.check(target in anchors, f"a link of the specification leads to #{target}, which is not there")
    tested = (s.source / "tests/reports/README.md").read_text(encoding="utf-8")
    settled = re.search(r"^## Settled choices$(.*?)^## ", outside, flags=re.M | re.S)[1]
    for report in re.findall(r"\bB\d{3}\b", settled):
        row = re.search(rf"^\| {report} \| (.*)$", tested, flags=re.M)
        s.check(row and not row[1].startswith(("out of reach", "none")), f"the settled choice {report} has no test in tests/reports/README.md")
    ids = re.findall(r'<a id="([^"]+)">', outside)
    s.check(len(ids) == len(set(ids)), "an anchor of the specification stands twice")
    s.check("{{" not in outside, "a part of the specification was not filled in")
s.finish()
