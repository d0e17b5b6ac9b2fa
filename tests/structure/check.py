#!/usr/bin/env python3
"""Keeps the architecture true: include directions, heavy headers behind one door, file sizes, no open ends, a row for each
constraint that an operation's record checks, and a README whose C++ is a file that is built.

usage: check.py REPOSITORY
"""
import pathlib
import re
import sys

BELOW = {  # layer: the layers that it may include. A path belongs to the longest layer that it starts with.
    "ir": {"ir"},
    "ir/import": {"ir/import", "ir"},
    "interpreter": {"interpreter", "ir"},
    "lowering": {"lowering", "ir"},
    "backends": {"backends", "lowering", "ir"},
    "verify": {"verify", "backends", "lowering", "interpreter", "ir/import", "ir"},
    "fuzz": {"fuzz", "verify", "backends", "lowering", "interpreter", "ir/import", "ir"},
    "api": {"api", "verify", "backends", "lowering", "ir/import", "ir"},
    "tools": {"tools", "api", "fuzz", "verify", "backends", "lowering", "interpreter", "ir/import", "ir"},
}
API_INTO_VERIFY = {"verify/check.h", "verify/reference.h", "verify/simt_target.h"}
DOORS = [  # an outside library, the paths that may include it, and whether only sources (and internal headers) may
    (re.compile(r"^(llvm|llvm-c|lld)/"), ("backends/llvm/",), True),
    (re.compile(r"^z3"), ("verify/smt/",), True),
    (re.compile(r"^(onnx|google/protobuf)/"), ("ir/import/", "tests/unit/import_"), True),
    (re.compile(r"^(mpfr|gmp|gmpxx|arb|flint/.*)\.h$"), ("interpreter/", "backends/llvm/exact_math.cpp", "tests/unit/interpreter_"), True),
    (re.compile(r"^boost/context/"), ("verify/", "interpreter/kernel/"), True),
    (re.compile(r"^boost/program_options"), ("tools/",), False),
    (re.compile(r"^nlohmann/"), ("",), True),
    (re.compile(r"^rapidcheck"), ("fuzz/", "tests/"), False),
    (re.compile(r"^(gtest|gmock)/"), ("tests/",), False),
    (re.compile(r"^benchmark/"), ("bench/",), False),
]
EQUATIONS = "ir/tensor/ops/"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
OPEN_END = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")  # split, so that this file passes
LONGEST = 450


def layer_of(path):
    return max((layer for layer in BELOW if path.startswith(layer + "/")), key=len, default=None)


def includes(text):
    """(line number, quoted?, header) of each include."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match.group(1) == '"', match.group(2)


def is_heavy(header):
    return any(sources_only and pattern.match(header) for pattern, _, sources_only in DOORS)


def is_public_header(path):
    return path.endswith(".h") and "/internal/" not in path


def include_problem(path, header, quoted, files):
    """What is wrong with one include, or None."""
    layer, target = layer_of(path), layer_of(header)
    if header.startswith("api/include/plumb/") or header.startswith("plumb/"):
        target = "api"
    if path.startswith("api/include/"):  # what users include stands on the standard library alone
        return "a public header includes standard headers and <plumb/…> only" if "/" in header and not header.startswith("plumb/") else None
    if layer and quoted and not target:
        return "a project header is named from the repository's root"
    if layer and layer_of(header) and header not in files:
        return "no such file"
    if layer and target and target not in BELOW[layer]:
        return f"{layer} must not include {target}"
    if layer == "api" and target == "verify" and header not in API_INTO_VERIFY:
        return f"api reaches verify through {', '.join(sorted(API_INTO_VERIFY))}"
    if "/internal/" in header:
        if not path.startswith(header.split("internal/")[0]):
            return "an internal header is for its own folder"
        if is_public_header(path):
            return "a public header must not include an internal one"
    for pattern, doors, sources_only in DOORS:
        if pattern.match(header) and not path.startswith(doors):
            return f"for files under {', '.join(doors)} only"
        if pattern.match(header) and sources_only and is_public_header(path):
            return "too heavy for a header: include it in a source"
    return None


def reach(path, files):
    """Every header that path sees, each with the chain of includes that leads to it."""
    chains, open_paths = {}, [[path]]
    while open_paths:
        chain = open_paths.pop()
        for _, _, header in includes(files.get(chain[-1], "")):
            if header not in chains:
                chains[header] = chain + [header]
                open_paths.append(chains[header])
    return chains


def label_problems(path, text):
    """Labels of the sentences with which a record's infer rejects ("C4: …") for which no Constraint row says what holds."""
    row = re.compile(r'Constraint\{"(C\d+)"')
    for name, body in re.findall(r"^(?:template <.*> )?struct (\w+)(?: : [^{]*)? \{$(.*?)^\};", text, re.M | re.S):
        shared = "constraints = " in body  # rows that stand elsewhere in the file
        rows = set(row.findall(text if shared else body))
        for label in sorted(set(re.findall(r'"(C\d+): ', body)) - rows):
            yield f"{path}: {name} rejects by {label}, but has no Constraint row of that label"


def problems(files):
    """Sentences about a tree given as {path: text}."""
    found = []
    for path, text in files.items():
        if text.count("\n") > LONGEST:
            found.append(f"{path}: {text.count(chr(10))} lines, more than {LONGEST}: look for the second idea in it")
        found += [f"{path}:{number}: an open end: {line.strip()}" for number, line in enumerate(text.splitlines(), 1) if OPEN_END.search(line)]
        if path.startswith(EQUATIONS):
            found += label_problems(path, text)
        if not path.endswith((".h", ".cpp")):
            continue
        for number, quoted, header in includes(text):
            if problem := include_problem(path, header, quoted, files):
                found.append(f"{path}:{number}: {header}: {problem}")
        for header, chain in reach(path, files).items():
            shown = " > ".join(chain)
            if header == path:
                found.append(f"{path}: includes itself: {shown}")
            if layer_of(path) in ("lowering", "backends") and header.startswith(EQUATIONS):
                found.append(f"{path}: the compiler must not see equations: {shown}")
            if layer_of(path) and is_public_header(path) and len(chain) > 2 and is_heavy(header):
                found.append(f"{path}: a heavy header behind it: {shown}")
    return found


def readme_problems(readme, examples):
    """Each C++ block of the README is, line for line ('…' leaves some out), part of one example that a test builds."""
    def within(block, example):
        rest = iter(example.splitlines())
        return all(line in rest for line in block.splitlines() if line.strip() and line.strip() != "…")

    blocks = re.findall(r"^```cpp\n(.*?)^```", readme, re.M | re.S)
    return [f"README.md: this C++ is in no example:\n{block}" for block in blocks if not any(within(block, e) for e in examples)]


def read_tree(root):
    files = {}
    for folder in (*(layer for layer in BELOW if "/" not in layer), "tests", "bench", "examples", "cmake"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".py", ".sh", ".cmake", ".txt", ".plumb"):
                files[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
    return files


def main(root):
    root = pathlib.Path(root)
    files = read_tree(root)
    found = problems(files)
    if (root / "README.md").exists():
        found += readme_problems((root / "README.md").read_text(encoding="utf-8"), [t for p, t in files.items() if p.startswith("examples/")])
    print("\n".join(found + [f"{len(files)} files read, {len(found)} problems"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
