# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX files without any library: just enough of the protobuf wire format."""
import random
import struct

FLOAT = 1


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _int(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _ints(field, values):
    return b"".join(_int(field, v) for v in values)


def tensor(name, shape, seed, scale=1.0):
    """A TensorProto of float32 made from a short random sequence repeated."""
    source = random.Random(seed)
    count = 1
    for extent in shape:
        count *= extent
    period = struct.pack("<1009f", *(source.uniform(-scale, scale) for _ in range(1009)))
    raw = (period * (count * 4 // len(period) + 1))[:count * 4]
    return _ints(1, shape) + _int(2, FLOAT) + _bytes(8, name) + _bytes(9, raw)


def node(op, inputs, outputs, attributes):
    """A NodeProto; attributes are integers or lists of integers."""
    out = b"".join(_bytes(1, i) for i in inputs) + b"".join(_bytes(2, o) for o in outputs)
    out += _bytes(3, outputs[0]) + _bytes(4, op)
    for name, value in attributes.items():
        body = _bytes(1, name)
        if isinstance(value, int):
            body += _int(3, value) + _int(20, 2)
        else:
            body += _ints(8, value) + _int(20, 7)
        out += _bytes(5, body)
    return out


def _value(name, shape):
    dims = b"".join(_bytes(1, _int(1, extent)) for extent in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _int(1, FLOAT) + _bytes(2, dims)))


def model(nodes, initializers, given, wanted):
    """A ModelProto; `given` and `wanted` are (name, shape)."""
    graph = b"".join(_bytes(1, n) for n in nodes) + _bytes(2, "main")
    graph += b"".join(_bytes(5, t) for t in initializers)
    graph += _bytes(11, _value(*given)) + _bytes(12, _value(*wanted))
    return _int(1, 8) + _bytes(8, _bytes(1, "") + _int(2, 17)) + _bytes(7, graph)
