#!/usr/bin/env python3
"""The table of PyTorch's core operations: complete, and naming operations that exist.

usage: aten_core.py PLUMB [FOLDER]

aten_core.names holds the names that PyTorch tags as core; with FOLDER, what aten_dump.py wrote, they are compared with it.
"""
import json
import pathlib
import subprocess
import sys

from aten_samples import samples_of

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


def self_test():
    table = rows("# a comment\na\tx, y\tnote\nb\t\twhy\nc\tz\n")
    assert table == {"a": (["x", "y"], "note"), "b": ([], "why"), "c": (["z"], "")}
    assert problems(table, ["a", "b", "d"], {"x", "z"}) == ["d has no row", "c is not a core operation", "a: there is no operation 'y'"]
    assert problems({"e": ([], "")}, ["e"], set()) == ["e: neither operations nor a reason"]


def main():
    self_test()
    known = {o["name"] for o in json.loads(subprocess.run([sys.argv[1], "ops", "--json"], capture_output=True, text=True, check=True).stdout)}
    core = HERE.joinpath("aten_core.names").read_text().split()
    found = problems(rows(HERE.joinpath("aten_core.tsv").read_text()), core, known)
    if len(sys.argv) > 2 and (there := dumped(sys.argv[2])) != set(core):
        found.append(f"aten_core.names differs from the dump: {sorted(there ^ set(core))}")
    for line in found:
        print(line)
    print(f"{len(core)} core operations, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
