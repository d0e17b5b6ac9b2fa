#!/usr/bin/env python3
"""Whether onnx_ops.tsv has a row for each operator of ONNX's default domain in opset 22, at its version.

usage: onnx_ops.py FOLDER     what fetch.sh wrote: operator_sets.h lists each definition of each operator
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
OPSET = 22


def listed(header):
    """{operator: version of its definition in OPSET}, from the header's class names."""
    found = {}
    for version, op in re.findall(r"^class ONNX_OPERATOR_SET_SCHEMA_CLASS_NAME\(Onnx, (\d+), (\w+)\);", header, re.MULTILINE):
        if int(version) <= OPSET:
            found[op] = max(found.get(op, 0), int(version))
    return found


def table(text):
    return {f[0]: int(f[1]) for f in (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))}


def self_test():
    header = "class ONNX_OPERATOR_SET_SCHEMA_CLASS_NAME(Onnx, 1, Abs);\nclass ONNX_OPERATOR_SET_SCHEMA_CLASS_NAME(Onnx, 13, Abs);\nclass ONNX_OPERATOR_SET_SCHEMA_CLASS_NAME(Onnx, 23, RMS);\n"
    assert listed(header) == {"Abs": 13}
    assert table("# a\nAbs\t13\tprimitive\tabs\n") == {"Abs": 13}


def main():
    self_test()
    theirs = listed(pathlib.Path(sys.argv[1], "operator_sets.h").read_text())
    ours = table(HERE.joinpath("onnx_ops.tsv").read_text())
    wrong = sorted(op for op in theirs.keys() | ours.keys() if theirs.get(op) != ours.get(op))
    for op in wrong:
        print(f"{op}: ONNX's list has {theirs.get(op, 'nothing')}, the table {ours.get(op, 'nothing')}")
    print(f"{len(theirs)} operators, {len(wrong)} problems")
    return 1 if wrong or not theirs else 0


if __name__ == "__main__":
    sys.exit(main())
