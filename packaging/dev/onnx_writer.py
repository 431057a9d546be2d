# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX messages in protobuf wire format; field numbers are those of the public schema."""
import struct

FLOAT, UINT8, INT8, INT64 = 1, 2, 3, 7


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    if isinstance(content, str):
        content = content.encode()
    return varint(field << 3 | 2) + varint(len(content)) + content


def tensor(name, shape, raw, kind=FLOAT):
    """TensorProto; `raw` holds the elements, little-endian."""
    dims = b"".join(integer(1, d) for d in shape)
    return dims + integer(2, kind) + block(8, name) + block(9, raw)


def attribute(name, value):
    """AttributeProto of an int, float or list of ints."""
    if isinstance(value, float):
        body = varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    elif isinstance(value, int):
        body = integer(3, value) + integer(20, 2)
    else:
        body = b"".join(integer(8, v) for v in value) + integer(20, 7)
    return block(1, name) + body


def node(op, name, inputs, outputs, **attributes):
    out = b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in outputs)
    out += block(3, name) + block(4, op)
    return out + b"".join(block(5, attribute(k, v)) for k, v in sorted(attributes.items()))


def value_info(name, dims):
    shape = b"".join(block(1, integer(1, d)) for d in dims)
    return block(1, name) + block(2, block(1, integer(1, FLOAT) + block(2, shape)))


def model(graph_name, nodes, weights, inputs, outputs, producer, opset=13, ir_version=7):
    """ModelProto of nodes and weights already written; inputs and outputs are (name, dims)."""
    graph = b"".join(block(1, n) for n in nodes) + block(2, graph_name)
    graph += b"".join(block(5, w) for w in weights)
    graph += b"".join(block(11, value_info(*i)) for i in inputs)
    graph += b"".join(block(12, value_info(*o)) for o in outputs)
    opset_import = block(1, "") + integer(2, opset)
    return (integer(1, ir_version) + block(2, producer) + block(7, graph)
            + block(8, opset_import))


def with_outputs(content, names):
    """A ModelProto with further results of 32-bit floats: a graph that stands twice in a message
    is one graph with the parts of both."""
    types = block(2, block(1, integer(1, FLOAT)))
    return content + block(7, b"".join(block(12, block(1, name) + types) for name in names))
