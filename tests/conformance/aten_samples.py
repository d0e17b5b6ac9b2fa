#!/usr/bin/env python3
"""PyTorch's operator samples as a second opinion: each becomes a program of Plumb, whose answer is held against PyTorch's.

usage: aten_samples.py BATCH FOLDER [--target T] [--ops REGEX] [--jobs N] [--show OP] [--all] [--out FILE] [--rules FILE]

BATCH is the judge that the tests build (aten_batch.cpp says what its verdicts mean), FOLDER holds what aten_dump.py wrote.
Every difference must have its reason in aten_samples.rules: exit 1 where one has none, or where a rule explains nothing.
What has no program is counted by operation and reason. --show OP prints the programs of that operation.
"""
import argparse
import collections
import inspect
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import aten_images  # noqa: F401  these add builders to aten_ops
import aten_index  # noqa: F401
import aten_linalg
import aten_ops
import aten_losses  # noqa: F401
import aten_masked  # noqa: F401
import aten_more  # noqa: F401
import aten_order  # noqa: F401
import aten_positions  # noqa: F401
import aten_running  # noqa: F401
import aten_scatter  # noqa: F401
import aten_shape  # noqa: F401
from aten_text import NotShared, Program, Tensor, decode

RULES = pathlib.Path(__file__).with_name("aten_samples.rules")
VERDICTS = ("equal", "enclosed", "near", "scale")


class Rule:
    """A line of the rules: operation | dtypes | pattern of the judge's detail | reason. `*` is any."""

    def __init__(self, line, number):
        parts = [p.strip() for p in line.split(" | ")]
        if len(parts) != 4 or not parts[3]:
            raise SystemExit(f"{RULES.name}:{number}: not 'operation | dtypes | detail | reason'")
        self.op, self.dtypes, self.detail, self.reason = re.compile(parts[0] if parts[0] != "*" else ".*"), parts[1].split(), re.compile(parts[2] if parts[2] != "*" else ""), parts[3]
        self.number, self.used = number, 0

    def explains(self, sample, detail):
        return bool(self.op.fullmatch(sample["op"])) and (self.dtypes == ["*"] or sample["dtype"] in self.dtypes) and bool(self.detail.search(detail))


def read_rules(text):
    return [Rule(line, k) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]


def flat(out):
    """The tensors of a result, in order."""
    if isinstance(out, Tensor):
        return [out]
    if isinstance(out, (tuple, list)):
        return [t for x in out for t in flat(x)]
    if isinstance(out, dict):
        return [t for x in out.values() for t in flat(x)]
    raise NotShared(f"a result that is {type(out).__name__}")


def program_of(sample, data=b""):
    """The case of a sample, for the judge: its text, inputs and outputs. A count's offset is the number itself, behind "count"."""
    build = aten_ops.BUILDERS.get(sample["op"])
    if build is None:
        raise NotShared("no program for this operation")
    args, kwargs = decode(sample["args"], data), decode({"dict": sample["kwargs"]}, data)
    theirs = flat(decode(sample["out"], data))
    # Samples that name a parameter as the builders' program name it: p is the norm's.
    kwargs = {("p_" if k == "p" else k): v for k, v in kwargs.items()}
    p = Program(theirs)
    try:
        inspect.signature(build).bind(p, *args, **kwargs)
    except TypeError as e:
        raise NotShared(f"an argument that has no program: {e}") from e
    try:
        ours = build(p, *args, **kwargs)
    except (IndexError, ValueError, AttributeError, TypeError, KeyError, ZeroDivisionError) as e:
        raise NotShared(f"the builder stops: {type(e).__name__}: {e}") from e
    ours = list(ours) if isinstance(ours, (list, tuple)) else [ours]
    theirs = theirs[:len(ours)] if sample["op"].startswith("aten.") else theirs
    if compared := aten_linalg.PARTIAL.get(sample["op"]):
        ours, theirs = ([xs[k] for k in compared] for xs in (ours, theirs))
    return {"text": p.text(ours + [c for c, _ in p.counts]), "inputs": [t.offset for t, _ in p.params],
            "outputs": [[t.dtype, t.shape, t.offset] for t in theirs] + [["i64", [], ("count", n)] for _, n in p.counts]}


def with_counts(cases, blob):
    """The data with the cases' counts behind them, to which the cases' outputs now point."""
    data = bytearray(blob + b"\0" * (-len(blob) % 8))
    for output in (o for c in cases for o in c["outputs"] if isinstance(o[2], tuple)):
        number, output[2] = output[2][1], len(data)
        data += number.to_bytes(8, "little")
    return bytes(data)


def judged(batch, target, cases, blob, jobs):
    """The judge's answer to each case. A judge that dies says so for the case at which it died, and is started again behind it."""
    answers = [None] * len(cases)
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder, "data")
        data.write_bytes(blob)
        waiting = [list(range(k, len(cases), jobs)) for k in range(jobs)]
        while any(waiting):
            running = []
            for k, mine in enumerate(waiting):
                if mine:
                    lines = pathlib.Path(folder, f"cases{k}")
                    lines.write_text("".join(json.dumps(cases[i]) + "\n" for i in mine))
                    running.append((k, mine, subprocess.Popen([batch, lines, data, target], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)))
            for k, mine, process in running:
                got = [json.loads(line) for line in process.communicate()[0].splitlines()]
                for i, answer in zip(mine, got):
                    answers[i] = answer
                if len(got) < len(mine):
                    answers[mine[len(got)]] = {"verdict": "error", "detail": f"the judge died with {process.returncode}"}
                waiting[k] = mine[len(got) + 1:]
    return answers


class Report:
    def __init__(self, rules):
        self.rules, self.verdicts, self.not_shared, self.explained, self.unexplained = rules, collections.Counter(), {}, collections.Counter(), []
        self.by_op = {}

    def leave_out(self, sample, why):
        self.not_shared.setdefault(sample["op"], collections.Counter())[why] += 1

    def add(self, sample, case, answer):
        verdict, detail = answer["verdict"], answer["detail"]
        if missing := re.search(r"there is no operation '\w+'", detail):
            return self.leave_out(sample, missing[0])
        if refused := re.search(r"(\w+)\(.*real and imag give a complex number's parts", detail):
            return self.leave_out(sample, f"{refused[1]} takes no complex numbers")
        self.verdicts[verdict] += 1
        self.by_op.setdefault(sample["op"], collections.Counter())[verdict] += 1
        if verdict in VERDICTS:
            return
        rule = next((r for r in self.rules if r.explains(sample, f"{verdict}: {detail}")), None)
        if rule:
            rule.used += 1
            self.explained[rule.reason] += 1
        else:
            self.unexplained.append((sample, case, verdict, detail))

    def print(self, everything):
        for op, reasons in sorted(self.not_shared.items()):
            if everything or op in self.by_op:
                print(f"left out: {op}: " + "; ".join(f"{n} × {why}" for why, n in reasons.most_common(3)))
        if everything:
            kinds = collections.Counter()
            for why, n in (item for c in self.not_shared.values() for item in c.items()):
                kinds[re.sub(r"^\w+ takes no complex|: .*", lambda m: "takes no complex" if m[0][0] != ":" else "", why)] += n
            for why, n in kinds.most_common():
                print(f"left out by reason: {n} × {why}")
        for reason, n in sorted(self.explained.items()):
            print(f"explained: {n} × {reason}")
        seen = collections.Counter()
        for sample, case, verdict, detail in self.unexplained:
            key = (sample["op"], sample["dtype"])
            seen[key] += 1
            if seen[key] <= 2:
                print(f"UNEXPLAINED {sample['op']} {sample['variant']} {sample['dtype']}: {verdict}: {detail[:300]}")
        total = sum(self.verdicts.values())
        left = sum(sum(c.values()) for c in self.not_shared.values())
        words = ", ".join(f"{self.verdicts[v]} {v}" for v in (*VERDICTS, "wrong", "error"))
        print(f"{total} samples of {len(self.by_op)} operations judged: {words}; {sum(self.explained.values())} differences explained, {len(self.unexplained)} not; {left} samples left out")


def bytes_of(npy):
    """The elements of a byte array in NumPy's format: what follows its header."""
    length = 10 + int.from_bytes(npy[8:10], "little") if npy[6] == 1 else 12 + int.from_bytes(npy[8:12], "little")
    return npy[length:]


def samples_of(folder):
    files = sorted(folder.glob("aten_*.npz"))
    if not files:
        raise SystemExit(f"{folder} holds no aten_*.npz")
    for f in files:
        with zipfile.ZipFile(f) as z:
            yield json.loads(bytes_of(z.read("index.npy"))), bytes_of(z.read("blob.npy"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("batch")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--target", default="reference", choices=("reference", "cpu"))
    parser.add_argument("--ops", default="", help="a regular expression of operations' names")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", help="print the programs of this operation")
    parser.add_argument("--all", action="store_true", help="name the operations that have no program, too")
    parser.add_argument("--rules", type=pathlib.Path, default=RULES)
    parser.add_argument("--out", type=pathlib.Path, help="the counts by operation, as JSON")
    o = parser.parse_args()
    report = Report(read_rules(o.rules.read_text()))
    for index, blob in samples_of(o.folder):
        cases, samples = [], []
        for s in index["samples"]:
            if not re.search(o.ops, s["op"]):
                continue
            try:
                cases.append(program_of(s, blob))
                samples.append(s)
            except NotShared as e:
                report.leave_out(s, str(e))
                continue
            if o.show == s["op"]:
                print(cases[-1]["text"])
        data = with_counts(cases, blob)
        for s, case, answer in zip(samples, cases, judged(o.batch, o.target, cases, data, o.jobs)):
            report.add(s, case, answer)
    report.print(o.all)
    if o.out:
        o.out.write_text(json.dumps({op: dict(c) for op, c in sorted(report.by_op.items())}, indent=1) + "\n")
    idle = [r for r in report.rules if not r.used] if not o.ops else []
    for r in idle:
        print(f"{RULES.name}:{r.number}: explains nothing")
    return 1 if report.unexplained or idle else 0


if __name__ == "__main__":
    sys.exit(main())
