#!/usr/bin/env python3
"""The structure check fails where it should: each bad tree below breaks one rule, each good one none."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import check  # noqa: E402

BAD = {  # the rule: a tree that breaks it
    "interpreter sees no lowering": {"interpreter/a.cpp": '#include "lowering/emit.h"', "lowering/emit.h": ""},
    "lowering sees no interpreter": {"lowering/a.cpp": '#include "interpreter/e.h"', "interpreter/e.h": ""},
    "lowering sees no equation": {"lowering/a.cpp": '#include "ir/tensor/ops/reduce.h"', "ir/tensor/ops/reduce.h": ""},
    "backends see no equation, by any way": {
        "backends/cpu/a.cpp": '#include "ir/tensor/graph.h"', "ir/tensor/graph.h": '#include "ir/tensor/ops/all.h"', "ir/tensor/ops/all.h": ""},
    "ir sees nothing above": {"ir/a.cpp": '#include "verify/check.h"', "verify/check.h": ""},
    "ir sees no import": {"ir/tensor/a.cpp": '#include "ir/import/onnx.h"', "ir/import/onnx.h": ""},
    "lowering sees no import": {"lowering/a.cpp": '#include "ir/import/onnx.h"', "ir/import/onnx.h": ""},
    "verify sees no fuzz": {"verify/a.cpp": '#include "fuzz/values.h"', "fuzz/values.h": ""},
    "fuzz sees no api": {"fuzz/a.cpp": "#include <plumb/plumb.h>"},
    "api sees the oracle's one door": {"api/a.cpp": '#include "verify/oracle.h"', "verify/oracle.h": ""},
    "public headers stand alone": {"api/include/plumb/a.h": '#include "ir/tensor/type.h"', "ir/tensor/type.h": ""},
    "no relative path": {"lowering/a.cpp": '#include "../interpreter/e.h"', "interpreter/e.h": ""},
    "no name from the own folder": {"lowering/a.cpp": '#include "emit.h"', "lowering/emit.h": ""},
    "no such file": {"lowering/a.cpp": '#include "lowering/emit.h"'},
    "Z3 in verify/smt": {"verify/oracle.cpp": "#include <z3++.h>"},
    "LLVM in backends/llvm": {"lowering/a.cpp": "#include <llvm/IR/Module.h>"},
    "LLVM in no header": {"backends/llvm/a.h": "#include <llvm/IR/IRBuilder.h>"},
    "LLVM behind no header": {
        "backends/llvm/b.h": '#include "backends/llvm/a.h"', "backends/llvm/a.h": '#include "backends/llvm/internal/x.h"',
        "backends/llvm/internal/x.h": "#include <llvm/IR/IRBuilder.h>"},
    "an internal header stays in its folder": {"backends/cpu/a.cpp": '#include "backends/llvm/internal/x.h"', "backends/llvm/internal/x.h": ""},
    "ONNX in ir/import": {"tools/a.cpp": "#include <onnx/onnx_pb.h>"},
    "protobuf in no header": {"ir/import/a.h": "#include <google/protobuf/message.h>"},
    "json in no header": {"verify/a.h": "#include <nlohmann/json.hpp>"},
    "gtest in tests": {"fuzz/a.cpp": "#include <gtest/gtest.h>"},
    "spaces hide nothing": {"ir/a.cpp": '  #  include  "fuzz/values.h"', "fuzz/values.h": ""},
    "no cycle": {"ir/a.h": '#include "ir/b.h"', "ir/b.h": '#include "ir/a.h"'},
    "no open end": {"ir/a.cpp": "// TO" + "DO: later"},
    "no open end in scripts": {"tools/a.sh": "# FIX" + "ME"},
    "a row for each label": {"ir/tensor/ops/a.h": 'struct A {\n  static constexpr std::array constraints{Constraint{"C1", "x"}};\n  if (x) return no("C2: y");\n};\n'},
    "a row for each label of a template": {"ir/tensor/ops/a.h": 'template <class Fn> struct A {\n  if (x) return no("C1: y");\n};\n'},
    "no long file": {"ir/a.cpp": "\n" * 451},
}
GOOD = {
    "verify sees both sides": {"verify/oracle.cpp": '#include "interpreter/e.h"\n#include "backends/b.h"', "interpreter/e.h": "", "backends/b.h": ""},
    "LLVM in a source and an internal header": {
        "backends/llvm/a.cpp": '#include "backends/llvm/internal/x.h"', "backends/llvm/internal/x.h": "#include <llvm/IR/IRBuilder.h>"},
    "the interpreter sees equations": {"interpreter/a.cpp": '#include "ir/tensor/ops/all.h"', "ir/tensor/ops/all.h": ""},
    "standard and third-party headers": {"ir/a.cpp": "#include <vector>\n#include <fmt/format.h>\n#include <nlohmann/json.hpp>"},
    "users' headers": {"api/include/plumb/plumb.h": "#include <vector>\n#include <plumb/tensor.h>", "tools/a.cpp": "#include <plumb/plumb.h>"},
    "labels with rows": {"ir/tensor/ops/a.h": 'inline constexpr std::array both{Constraint{"C1", "x"}};\nstruct A {\n  static constexpr auto constraints = both;\n  if (x) return no("C1: y");\n};\n'},
    "450 lines": {"ir/a.cpp": "\n" * 450},
}
EXAMPLE = "int main() {\n  one();\n  two();\n}\n"
README = {"```cpp\nint main() {\n  …\n  two();\n}\n```\n": True, "```cpp\nint main() {\n  three();\n}\n```\n": False, "```sh\nls\n```\n": True}


def exit_code(tree):
    """Of the check as it is run, on a folder."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            file = pathlib.Path(root, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return subprocess.run([sys.executable, HERE / "check.py", root], capture_output=True).returncode


wrong = [f"not caught: {rule}" for rule, tree in BAD.items() if not check.problems(tree)]
wrong += [f"false alarm: {name}: {found}" for name, tree in GOOD.items() if (found := check.problems(tree))]
wrong += [f"README: {block!r}" for block, right in README.items() if (not check.readme_problems(block, [EXAMPLE])) != right]
first_bad, first_good = next(iter(BAD.values())), next(iter(GOOD.values()))
if (exit_code(first_bad), exit_code(first_good), exit_code({})) != (1, 0, 1):
    wrong.append("the script's exit code is not 1 on a bad tree, 0 on a good one, 1 on an empty one")
print("\n".join(wrong) or f"{len(BAD)} bad and {len(GOOD)} good trees judged rightly")
sys.exit(1 if wrong else 0)
