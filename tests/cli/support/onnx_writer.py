"""Writes small ONNX files by protobuf's wire format: tests need no ONNX library. Field numbers are those of onnx.proto."""


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def field(number, value):
    """An integer, a text, or a message's bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name, dims, dtype=1):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))


def ints_tensor(name, values):
    return field(1, len(values)) + field(2, 7) + b"".join(field(7, v) for v in values) + field(8, name)


def node(op, inputs, outputs, name="", domain=""):
    return b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(3, name) + field(4, op) + field(7, domain)


def model(nodes, inputs, outputs, opset=13, tensors=()):
    graph = b"".join(field(1, n) for n in nodes) + b"".join(field(5, t) for t in tensors)
    graph += b"".join(field(11, i) for i in inputs) + b"".join(field(12, field(1, o)) for o in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, opset))
