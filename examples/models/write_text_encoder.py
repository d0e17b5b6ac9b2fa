#!/usr/bin/env python3
"""Writes a two-layer transformer encoder that scores a text's class, with a recorded answer, as ONNX's backend tests lay
models out: text_encoder/model.onnx, test_data_set_0/{input_0,input_1,output_0}.pb.

Token and position embeddings, masked multi-head attention, residuals and layer normalisations, GELU feed-forward layers, a
mean over the tokens that are there, a linear head. Batch and length are symbolic. The weights are of a fixed seed, not
trained: what the scores mean does not matter here, only that they are right. Needs numpy, onnx, onnxruntime.
"""
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent / "text_encoder"
VOCABULARY, LONGEST, WIDTH, HEADS, LAYERS, CLASSES = 128, 32, 32, 4, 2, 5
rng = np.random.default_rng(11)


class Graph:
    """Nodes and initialisers in the order in which they are asked for; each node's output has the node's name."""

    def __init__(self):
        self.nodes, self.initialisers = [], []

    def constant(self, name, value):
        self.initialisers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, name, *shape):
        return self.constant(name, rng.normal(0, shape[0] ** -0.5, shape).astype(np.float32))

    def op(self, kind, inputs, name, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def linear(self, x, name, wide_in, wide_out):
        product = self.op("MatMul", [x, self.weight(f"{name}.weight", wide_in, wide_out)], f"{name}.product")
        return self.op("Add", [product, self.constant(f"{name}.bias", rng.normal(0, 0.1, wide_out).astype(np.float32))], name)

    def normalised(self, x, name):
        scale = self.constant(f"{name}.scale", rng.normal(1, 0.1, WIDTH).astype(np.float32))
        return self.op("LayerNormalization", [x, scale, self.constant(f"{name}.shift", rng.normal(0, 0.1, WIDTH).astype(np.float32))], name, axis=-1)

    def gelu(self, x, name):
        """x/2 (1 + erf(x/√2)), in primitive steps, as exporters write it."""
        erf = self.op("Erf", [self.op("Div", [x, "sqrt2"], f"{name}.scaled")], f"{name}.erf")
        return self.op("Mul", [self.op("Mul", [x, "half"], f"{name}.half"), self.op("Add", [erf, "one"], f"{name}.tail")], name)


def attention(g, x, name):
    def heads(part, order):
        split = g.op("Reshape", [g.linear(x, f"{name}.{part}", WIDTH, WIDTH), "split_heads"], f"{name}.{part}.heads")
        return g.op("Transpose", [split], f"{name}.{part}.t", perm=order)

    q, k, v = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
    scores = g.op("Mul", [g.op("MatMul", [q, k], f"{name}.qk"), "attention_scale"], f"{name}.scores")
    shares = g.op("Softmax", [g.op("Add", [scores, "mask_bias"], f"{name}.masked")], f"{name}.shares", axis=-1)
    mixed = g.op("Transpose", [g.op("MatMul", [shares, v], f"{name}.mix")], f"{name}.mix.t", perm=[0, 2, 1, 3])
    return g.linear(g.op("Reshape", [mixed, "join_heads"], f"{name}.joined"), f"{name}.out", WIDTH, WIDTH)


def model():
    g = Graph()
    for name, value in {"half": 0.5, "one": 1.0, "sqrt2": 2**0.5, "attention_scale": (WIDTH // HEADS) ** -0.5, "far_below": -1e4}.items():
        g.constant(name, np.float32(value))
    for name, value in {"split_heads": [0, 0, HEADS, WIDTH // HEADS], "join_heads": [0, 0, WIDTH], "zero": [0], "axis1": [1], "axes12": [1, 2], "axis2": [2]}.items():
        g.constant(name, np.int64(value))

    length = g.op("Slice", [g.op("Shape", ["tokens"], "shape"), "axis1", "axis2", "zero"], "length")
    positions = g.op("Slice", [g.weight("position_table", LONGEST, WIDTH), "zero", length, "zero"], "positions")
    words = g.op("Gather", [g.weight("word_table", VOCABULARY, WIDTH), "tokens"], "words", axis=0)
    there = g.op("Cast", ["mask"], "there", to=TensorProto.FLOAT)
    g.op("Unsqueeze", [g.op("Mul", [g.op("Sub", ["one", there], "absent"), "far_below"], "absent_bias"), "axes12"], "mask_bias")

    x = g.normalised(g.op("Add", [words, positions], "embedded"), "embedding_norm")
    for layer in range(LAYERS):
        attended = attention(g, x, f"{layer}.attention")
        x = g.normalised(g.op("Add", [x, attended], f"{layer}.attended"), f"{layer}.attention_norm")
        wide = g.gelu(g.linear(x, f"{layer}.widen", WIDTH, 4 * WIDTH), f"{layer}.gelu")
        x = g.normalised(g.op("Add", [x, g.linear(wide, f"{layer}.narrow", 4 * WIDTH, WIDTH)], f"{layer}.fed"), f"{layer}.feed_norm")

    kept = g.op("Mul", [x, g.op("Unsqueeze", [there, "axis2"], "there_column")], "kept")
    total, count = g.op("ReduceSum", [kept, "axis1"], "total", keepdims=0), g.op("ReduceSum", [there, "axis1"], "count", keepdims=1)
    logits = g.linear(g.op("Tanh", [g.op("Div", [total, count], "mean")], "pooled"), "head", WIDTH, CLASSES)
    g.op("LogSoftmax", [logits], "scores", axis=-1)

    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in ("tokens", "mask")]
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", CLASSES])]
    graph = helper.make_graph(g.nodes, "text_encoder", inputs, outputs, g.initialisers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="plumb examples")


def main():
    m = model()
    onnx.checker.check_model(m, full_check=True)
    (HERE / "test_data_set_0").mkdir(parents=True, exist_ok=True)
    onnx.save(m, HERE / "model.onnx")
    lengths = np.array([12, 7, 1])
    tokens = rng.integers(0, VOCABULARY, (len(lengths), 12))
    mask = (np.arange(12) < lengths[:, None]).astype(np.int64)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    scores = onnxruntime.InferenceSession((HERE / "model.onnx").as_posix(), options).run(None, {"tokens": tokens, "mask": mask})[0]
    for file, name, value in (("input_0", "tokens", tokens), ("input_1", "mask", mask), ("output_0", "scores", scores)):
        (HERE / "test_data_set_0" / f"{file}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())


if __name__ == "__main__":
    main()
