#!/usr/bin/env python3
"""Runs ONNX's own node tests, a folder each with model.onnx and test_data_set_0, and holds them against onnx_nodes.rules.

usage: onnx_nodes.py PLUMB FOLDER|ZIP [--target T ...] [--check MODE] [--only PATTERN]

Prints a table, what is excluded and why, and every surprise. Exits 1 when a test fails that no rule excludes, or one
passes that a rule excludes. fetch.sh gets the folder; onnx_selection.zip holds the smallest test of each operator.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

RULES = pathlib.Path(__file__).with_name("onnx_nodes.rules")
WORKERS = 2
SECONDS = 120  # for one test

Rule = collections.namedtuple("Rule", "bound patterns reason")  # bound: None for exclude


def read_rules(text):
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [p.strip() for p in line.split("|")]
        what = parts[0].split()
        if len(parts) != 3 or what not in (["exclude"], ["within", what[-1]]):
            sys.exit(f"{RULES.name}:{number}: not 'what | patterns | why': {line}")
        rules.append(Rule(None if what == ["exclude"] else float(what[1]), parts[1].split(), parts[2]))
    return rules


def rule_of(name, rules):
    return next((r for r in rules if any(fnmatch.fnmatchcase(name, p) for p in r.patterns)), None)


def passes_within(result, bound):
    """Whether only the recorded answer disagrees, and by no more than that."""
    return not result["failures"] and result["recorded"] and all(r["furthest"] <= bound for r in result["recorded"])


def run(plumb, folder, target, check, rule):
    """(whether it passed, what it said)"""
    command = [plumb, "run", str(folder), "--target", target, "--check", check, "--json"]
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return False, f"no end after {SECONDS} s"
    if p.returncode == 0:
        return True, ""
    try:
        result = json.loads(p.stdout)
    except ValueError:
        return False, f"exit code {p.returncode}, and no answer"
    if "recorded" not in result:
        return False, result["error"]
    if rule and rule.bound is not None and passes_within(result, rule.bound):
        return True, ""
    wrong = [f"{r['output']}: {r['wrong']} of {r['elements']} elements differ; {r['first_wrong']}" for r in result["recorded"] if r["wrong"]]
    wrong += [f"kernel {f['kernel']}: {f['got']} at {f['index']}" for f in result["failures"]]
    return False, wrong[0] if wrong else "fails"


def run_target(args, folder, target, names, rules):
    """Surprises, as lines; prints the target's row."""
    counts, surprises = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        jobs = [(n, rule_of(n, rules)) for n in names]
        outcomes = pool.map(lambda job: run(args.plumb, folder / job[0], target, args.check, job[1]), jobs)
        for (name, rule), (passed, said) in zip(jobs, outcomes):
            excluded = rule is not None and rule.bound is None
            counts["excluded" if excluded else "passed" if passed else "failed"] += 1
            if passed and excluded:
                surprises.append(f"{target}: {name} passes, but is excluded: {rule.reason}")
            elif not passed and not excluded:
                surprises.append(f"{target}: {name} fails: {said}")
    print(f"{target:12}{len(names):8}{counts['passed']:8}{counts['failed']:8}{counts['excluded']:10}", flush=True)
    return surprises


def print_excluded(names, rules):
    for rule in rules:
        covered = [n for n in names if rule_of(n, rules) is rule]
        if covered:
            what = "excluded" if rule.bound is None else f"within {rule.bound:g}"
            print(f"{len(covered):5} {what}: {' '.join(rule.patterns)}\n      {rule.reason}")


def run_all(args, folder):
    names = sorted(p.parent.name for p in folder.glob("*/model.onnx") if fnmatch.fnmatchcase(p.parent.name, args.only))
    if not names:
        sys.exit(f"{folder} has no folders with model.onnx that fit '{args.only}'; fetch.sh gets them")
    rules = read_rules(RULES.read_text())
    print(f"{'target':12}{'tests':>8}{'passed':>8}{'failed':>8}{'excluded':>10}")
    surprises = [s for target in args.target for s in run_target(args, folder, target, names, rules)]
    print_excluded(names, rules)
    for s in surprises:
        print(s)
    print("RESULT", "fail" if surprises else "pass")
    return 1 if surprises else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("plumb")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--target", nargs="+", default=["cpu"])
    parser.add_argument("--check", default="off")
    parser.add_argument("--only", default="*")
    args = parser.parse_args()
    if args.folder.suffix == ".zip":
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(args.folder).extractall(folder)
            return run_all(args, pathlib.Path(folder))
    return run_all(args, args.folder)


if __name__ == "__main__":
    sys.exit(main())
