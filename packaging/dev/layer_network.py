# SPDX-License-Identifier: Apache-2.0
"""LayerNetwork: writes a small ONNX model with seeded weights, and inputs for it; needs Debian's
python3-onnx and python3-numpy."""
import math
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8


class LayerNetwork:
    """Operators in the order in which they are added; each returns the names of its results."""

    def __init__(self, name, seed):
        self.name, self.random = name, np.random.RandomState(seed)
        self.nodes, self.weights, self.inputs, self.values = [], [], [], 0

    def input(self, *shape, dtype=np.float32, below=None):
        """Normally distributed floats; integers from 0 up to `below`."""
        name = f"x{len(self.inputs)}"
        if dtype == np.float32:
            data = self.random.randn(*shape).astype(dtype)
        elif dtype == np.bool_:
            data = self.random.rand(*shape) > 0.5
        else:
            data = self.random.randint(0, below or np.iinfo(dtype).max, size=shape).astype(dtype)
        self.inputs.append((name, data))
        return name

    def constant(self, values, dtype=np.float32):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def integers(self, *values):
        return self.constant(list(values), np.int64)

    def weight(self, *shape):
        """Of a size that keeps sums of products as large as what they multiply."""
        depth = int(np.prod(shape[1:])) if len(shape) > 1 else shape[0]
        return self.constant(self.random.randn(*shape) / math.sqrt(max(1, depth)))

    def op(self, kind, *operands, results=1, **attributes):
        names = [f"t{self.values + i}" for i in range(results)]
        self.values += results
        self.nodes.append(helper.make_node(kind, list(operands), names,
                                           name=f"{kind}_{len(self.nodes)}", **attributes))
        return names[0] if results == 1 else names

    def write(self, folder, results):
        """model.onnx and test_data_set_0/input_*.pb."""
        results = [results] if isinstance(results, str) else results
        inputs = [helper.make_tensor_value_info(
            name, numpy_helper.from_array(data[..., :0]).data_type, data.shape)
            for name, data in self.inputs]
        untyped = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None)
                   for name in results]
        graph = helper.make_graph(self.nodes, self.name, inputs, untyped, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        model = onnx.shape_inference.infer_shapes(model)
        data = os.path.join(folder, "test_data_set_0")
        os.makedirs(data, exist_ok=True)
        onnx.save(model, os.path.join(folder, "model.onnx"))
        for i, (name, values) in enumerate(self.inputs):
            with open(os.path.join(data, f"input_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(values, name).SerializeToString())
