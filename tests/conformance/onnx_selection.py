#!/usr/bin/env python3
"""Packs the smallest of ONNX's node tests of each operator into onnx_selection.zip, which the test suite runs.

usage: onnx_selection.py FOLDER     FOLDER is what fetch.sh wrote; needs the onnx package
"""
import pathlib
import sys
import zipfile

import onnx

from onnx_nodes import read_rules, rule_of

HERE = pathlib.Path(__file__).parent
NOTICE = """Node tests of ONNX 1.17 (onnx/backend/test/data/node), the smallest of each operator. https://github.com/onnx/onnx
Copyright (c) ONNX Project Contributors. Licensed under the Apache License, Version 2.0; LICENSE is the project's copy of it.
"""


def files(test):
    return sorted(p for p in test.rglob("*") if p.is_file())


def size(test):
    return sum(p.stat().st_size for p in files(test))


def selected(folder, rules):
    """The smallest test of each operator that is expected to pass as recorded."""
    best = {}
    for model in sorted(folder.glob("*/model.onnx")):
        test = model.parent
        nodes = onnx.load(model).graph.node
        if len(nodes) != 1 or nodes[0].domain not in ("", "ai.onnx") or rule_of(test.name, rules):
            continue
        op = nodes[0].op_type
        if op not in best or size(test) < size(best[op]):
            best[op] = test
    return [best[op] for op in sorted(best)]


def main():
    folder = pathlib.Path(sys.argv[1])
    tests = selected(folder, read_rules(HERE.joinpath("onnx_nodes.rules").read_text()))
    when = (1980, 1, 1, 0, 0, 0)   # the same file each time
    with zipfile.ZipFile(HERE / "onnx_selection.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        z.writestr(zipfile.ZipInfo("NOTICE", when), NOTICE)
        for test in tests:
            for p in files(test):
                z.writestr(zipfile.ZipInfo(p.relative_to(folder).as_posix(), when), p.read_bytes(), zipfile.ZIP_DEFLATED)
    print(f"{len(tests)} tests")


if __name__ == "__main__":
    main()
