#!/usr/bin/env python3
"""Keeps the architecture true: include directions, heavy headers behind one door, file sizes, no open ends.

usage: check.py REPOSITORY
"""
import pathlib
import re
import sys

LAYERS = {  # folder: the project folders it may include
    "ir": {"ir"},
    "interpreter": {"interpreter", "ir"},
    "lowering": {"lowering", "ir"},
    "backends": {"backends", "lowering", "ir"},
    "verify": {"verify", "backends", "lowering", "interpreter", "ir"},
    "fuzz": {"fuzz", "verify", "backends", "lowering", "interpreter", "ir"},
    "api": {"api", "plumb", "verify", "backends", "lowering", "ir"},
    "tools": {"tools", "api", "plumb", "fuzz", "verify", "backends", "lowering", "interpreter", "ir"},
}
DOORS = [  # (header pattern, folders that may include it, sources only)
    (re.compile(r"^llvm"), ("backends/llvm/", "backends/cpu/")),
    (re.compile(r"^z3"), ("verify/smt/",)),
    (re.compile(r"^(onnx/|google/protobuf)"), ("ir/import/",)),
    (re.compile(r"^mpfr"), ("interpreter/", "tests/")),
]
EQUATIONS = re.compile(r"^ir/tensor/(ops/|equation)")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
OPEN_END = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
LONGEST = 450


def problems_of(path, text):
    """Sentences about one file; path is relative to the repository, with '/'."""
    found = []
    folder = path.split("/")[0]
    lines = text.splitlines()
    if len(lines) > LONGEST:
        found.append(f"{path}: {len(lines)} lines, more than {LONGEST}: look for the second idea in it")
    for number, line in enumerate(lines, 1):
        if OPEN_END.search(line):
            found.append(f"{path}:{number}: an open end: {line.strip()}")
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        target = header.split("/")[0]
        if folder in LAYERS and target in LAYERS and target not in LAYERS[folder]:
            found.append(f"{path}:{number}: {folder} must not include {header}")
        if folder in ("lowering", "backends") and EQUATIONS.match(header):
            found.append(f"{path}:{number}: the compiler must not see equations: {header}")
        for pattern, doors in DOORS:
            private = "/internal/" in path
            if pattern.match(header) and (not path.startswith(doors) or (path.endswith(".h") and not private)):
                found.append(f"{path}:{number}: {header} is for sources under {', '.join(doors)} only")
    return found


def main(root):
    root = pathlib.Path(root)
    found = []
    count = 0
    for folder in (*LAYERS, "tests", "bench", "examples"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                count += 1
                found += problems_of(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    for line in found:
        print(line)
    print(f"{count} files read, {len(found)} problems")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
