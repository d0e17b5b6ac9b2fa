#!/usr/bin/env python3
"""The structure check must fail where it should: each bad file below breaks one rule."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check  # noqa: E402

BAD = [
    ("interpreter/tensor/a.cpp", '#include "lowering/emit.h"'),
    ("lowering/a.cpp", '#include "interpreter/tensor/evaluate.h"'),
    ("lowering/a.cpp", '#include "ir/tensor/ops/reduce.h"'),
    ("backends/cpu/a.cpp", '#include "ir/tensor/equation.h"'),
    ("ir/a.cpp", '#include "verify/oracle.h"'),
    ("verify/oracle.cpp", "#include <z3++.h>"),
    ("backends/llvm/a.h", "#include <llvm/IR/IRBuilder.h>"),
    ("tools/a.cpp", "#include <onnx/onnx_pb.h>"),
    ("ir/a.cpp", "// TO" + "DO: later"),
    ("ir/a.cpp", "\n" * 451),
]
GOOD = [
    ("verify/oracle.cpp", '#include "interpreter/tensor/evaluate.h"\n#include "backends/backend.h"'),
    ("backends/llvm/a.cpp", "#include <llvm/IR/IRBuilder.h>"),
    ("interpreter/tensor/a.cpp", '#include "ir/tensor/ops/all.h"'),
]
wrong = [f"not caught: {path}: {text!r}" for path, text in BAD if not check.problems_of(path, text)]
wrong += [f"false alarm: {path}: {text!r}" for path, text in GOOD if check.problems_of(path, text)]
print("\n".join(wrong) or f"{len(BAD)} bad and {len(GOOD)} good files judged rightly")
sys.exit(1 if wrong else 0)
