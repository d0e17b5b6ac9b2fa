"""plumb run DIR: folders from before TensorProto's bf16 hold it as u16, and are read by the bits."""
import pathlib
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
from harness import Suite
from onnx_writer import field, model, node, value_info

s = Suite()
BF16, U16, F32 = 16, 4, 1  # TensorProto.DataType


def cast_model(source, target):
    cast = node("Cast", ["x"], ["y"]) + field(5, field(1, "to") + field(3, target) + field(20, 2))
    return model([cast], [value_info("x", [2], source)], ["y"])


def tensor(dtype, code, values):
    return field(1, len(values)) + field(2, dtype) + field(9, struct.pack(f"<{len(values)}{code}", *values))


BITS = [0x3F80, 0xC020]  # 1 and -2.5 as bf16
floats = tensor(F32, "f", [1, -2.5])
for name, cast, x, y in [("from", cast_model(BF16, F32), tensor(U16, "H", BITS), floats), ("to", cast_model(F32, BF16), floats, tensor(U16, "H", BITS))]:
    folder = s.write(f"{name}/model.onnx", cast).parent
    s.write(f"{name}/test_data_set_0/input_0.pb", x)
    s.write(f"{name}/test_data_set_0/output_0.pb", y)
    p = s.run("run", folder, expect=0)
    s.result(p, "pass")
    s.check("recorded as u16" in p.stdout, f"{name}: no note says so:\n{p.stdout}")

# Other bits are another answer, and another integer type is no bf16.
s.write("to/test_data_set_0/output_0.pb", tensor(U16, "H", [BITS[0], BITS[1] + 16]))
s.result(s.run("run", s.dir / "to", expect=1), "fail")
s.write("from/test_data_set_0/input_0.pb", tensor(5, "h", BITS[:1] + [0]))
s.run("run", s.dir / "from", expect=2)

s.finish()
