#!/usr/bin/env python3
"""The table of PyTorch's core operations: complete, and naming operations that exist.

usage: aten_core.py PLUMB [FOLDER]

aten_core.names holds the names that PyTorch tags as core; with FOLDER, what aten_dump.py wrote, they are compared with it, and the
rows with the programs of the samples: these use no operation that the row of their name does not name, but for GLUE.
"""
import json
import pathlib
import re
import subprocess
import sys

from aten_samples import program_of, samples_of
from aten_text import NotShared

GLUE = {"constant", "broadcast", "reshape", "transpose", "convert", "slice"}
# Operations of the database that have several core operations' names: what else their samples ask for.
BESIDE = {"div": {"trunc", "floor_div"}, "max": {"maximum", "reduce_max"}, "min": {"minimum", "reduce_min"},
          "topk": {"gather_elements", "eq", "is_nan", "and", "or", "select"}}  # topk's places are checked, not computed

HERE = pathlib.Path(__file__).parent


def rows(text):
    """{operation: (Plumb's operations, note)}"""
    table = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        op, ours, note = (line.split("\t") + ["", ""])[:3]
        if op in table:
            raise SystemExit(f"aten_core.tsv:{number}: {op} has two rows")
        table[op] = ([o.strip() for o in ours.split(",") if o.strip()], note)
    return table


def problems(table, core, known):
    found = [f"{op} has no row" for op in core if op not in table]
    found += [f"{op} is not a core operation" for op in table if op not in core]
    for op, (ours, note) in table.items():
        found += [f"{op}: there is no operation '{o}'" for o in ours if o not in known]
        if not ours and not note:
            found.append(f"{op}: neither operations nor a reason")
    return found


def dumped(folder):
    """The names in the dump's schemas."""
    return {s.split("(")[0].removeprefix("aten::") for index, _ in samples_of(pathlib.Path(folder)) for s in index["core"]}


def used_operations(folder):
    """{operation of the database: the operations of Plumb that programs of its samples use}"""
    used = {}
    for index, blob in samples_of(pathlib.Path(folder)):
        for s in index["samples"]:
            try:
                text = program_of(s, blob)["text"]
            except NotShared:
                continue
            used.setdefault(s["op"], set()).update(re.findall(r" = (\w+)\(", text))
    return used


def untold(table, used):
    """Where samples' programs use what their row does not name."""
    for op, (ours, _) in table.items():
        base = op.split(".")[0]
        for name in {op, base, "aten." + op, "nn.functional." + base} & used.keys():
            if ours and (more := used[name] - set(ours) - GLUE - BESIDE.get(base, set())):
                yield f"{op}: programs of {name} also use {', '.join(sorted(more))}"


def self_test():
    table = rows("# a comment\na\tx, y\tnote\nb\t\twhy\nc\tz\n")
    assert table == {"a": (["x", "y"], "note"), "b": ([], "why"), "c": (["z"], "")}
    assert problems(table, ["a", "b", "d"], {"x", "z"}) == ["d has no row", "c is not a core operation", "a: there is no operation 'y'"]
    assert list(untold({"a.b": (["x"], ""), "c": (["y"], "")}, {"a": {"x", "slice", "z"}, "aten.c": {"y"}})) == ["a.b: programs of a also use z"]
    assert problems({"e": ([], "")}, ["e"], set()) == ["e: neither operations nor a reason"]


def main():
    self_test()
    known = {o["name"] for o in json.loads(subprocess.run([sys.argv[1], "ops", "--json"], capture_output=True, text=True, check=True).stdout)}
    core = HERE.joinpath("aten_core.names").read_text().split()
    found = problems(rows(HERE.joinpath("aten_core.tsv").read_text()), core, known)
    if len(sys.argv) > 2:
        if (there := dumped(sys.argv[2])) != set(core):
            found.append(f"aten_core.names differs from the dump: {sorted(there ^ set(core))}")
        found += untold(rows(HERE.joinpath("aten_core.tsv").read_text()), used_operations(sys.argv[2]))
    for line in found:
        print(line)
    print(f"{len(core)} core operations, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
