#!/usr/bin/env python3
"""Trains a small CNN on scikit-learn's 8x8 digits and writes it, with a recorded answer, as ONNX's backend tests lay
models out: digits_cnn/model.onnx, test_data_set_0/{input_0,output_0}.pb.

Convolution, batch normalisation, residual addition, pooling, a fully connected layer, softmax. Everything is seeded.
The digits are the test set of the UCI "Optical Recognition of Handwritten Digits" data (E. Alpaydin, C. Kaynak, 1998;
CC BY 4.0), as scikit-learn ships them. Needs numpy, onnx, onnxruntime, scikit-learn.
"""
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).parent / "digits_cnn"
rng = np.random.default_rng(7)


def im2col(x):
    n, c, h, w = x.shape
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    cols = np.stack([p[:, :, i : i + h, j : j + w] for i in range(3) for j in range(3)], axis=2)
    return cols.reshape(n, c * 9, h * w)


def conv(x, w):
    return (w.reshape(w.shape[0], -1) @ im2col(x)).reshape(len(x), w.shape[0], *x.shape[2:])


def forward(x, p):
    a = np.maximum(conv(x, p["w1"]) + p["b1"][:, None, None], 0)
    r = np.maximum(conv(a, p["w2"]) + p["b2"][:, None, None] + a, 0)
    pooled = r.reshape(len(x), 16, 4, 2, 4, 2).max(axis=(3, 5))
    return a, r, pooled, pooled.reshape(len(x), -1) @ p["w3"] + p["b3"]


def train(images, labels, steps=6000):
    """Fits the head by gradient descent on features of fixed random convolutions: a few seconds, no framework."""
    p = {"w1": rng.normal(0, (2 / 9) ** 0.5, (16, 1, 3, 3)), "b1": rng.normal(0, 0.1, 16), "w2": rng.normal(0, (2 / 144) ** 0.5, (16, 16, 3, 3)),
         "b2": rng.normal(0, 0.1, 16), "w3": np.zeros((256, 10)), "b3": np.zeros(10)}
    features = forward(images, p)[2].reshape(len(images), -1)
    onehot = np.eye(10)[labels]
    for _ in range(steps):
        z = features @ p["w3"] + p["b3"]
        e = np.exp(z - z.max(axis=1, keepdims=True))
        g = (e / e.sum(axis=1, keepdims=True) - onehot) / len(images)
        p["w3"] -= 0.5 * features.T @ g
        p["b3"] -= 0.5 * g.sum(axis=0)
    return {k: v.astype(np.float32) for k, v in p.items()}


def model(p):
    # The batch normalisation stands for conv bias: scale 1.5, mean and variance chosen so that it adds b1.
    scale, var = np.full(16, 1.5, np.float32), np.full(16, 2.25, np.float32)
    init = {"w1": p["w1"], "scale": scale, "shift": p["b1"], "mean": np.zeros(16, np.float32), "var": var, "w2": p["w2"], "b2": p["b2"], "w3": p["w3"], "b3": p["b3"]}
    nodes = [
        helper.make_node("Conv", ["image", "w1"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c1", "scale", "shift", "mean", "var"], ["n1"], "norm1", epsilon=0.0),
        helper.make_node("Relu", ["n1"], ["a1"], "relu1"),
        helper.make_node("Conv", ["a1", "w2", "b2"], ["c2"], "conv2", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "a1"], ["s2"], "residual"),
        helper.make_node("Relu", ["s2"], ["a2"], "relu2"),
        helper.make_node("MaxPool", ["a2"], ["m2"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["m2"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["logits"], "head"),
        helper.make_node("Softmax", ["logits"], ["digit"], "softmax", axis=1),
    ]
    graph = helper.make_graph(nodes, "digits_cnn", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
                              [helper.make_tensor_value_info("digit", TensorProto.FLOAT, ["batch", 10])], [numpy_helper.from_array(v, k) for k, v in init.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="plumb examples")


def main():
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    p = train(images[:1400], digits.target[:1400])
    held = forward(images[1400:], p)[3].argmax(axis=1)
    print(f"held-out accuracy {np.mean(held == digits.target[1400:]):.3f}")
    m = model(p)
    onnx.checker.check_model(m)
    (HERE / "test_data_set_0").mkdir(parents=True, exist_ok=True)
    onnx.save(m, HERE / "model.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    x = images[1400:1416]
    y = onnxruntime.InferenceSession((HERE / "model.onnx").as_posix(), options).run(None, {"image": x})[0]
    for name, value in (("input_0", x), ("output_0", y)):
        (HERE / "test_data_set_0" / f"{name}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())


if __name__ == "__main__":
    main()
