# SPDX-License-Identifier: Apache-2.0
"""A compiled artifact, and ONNX Runtime on a model file, inside of this process: thousands of inputs
without a program started for each."""
import ctypes
import os
import re
import sys

import numpy as np

from source_tree import ROOT, read

sys.path.append(os.path.join(ROOT, "resources/examples/embed"))
import run_model as embed  # noqa: E402

ALIGNMENT = 64


def aligned(shape):
    """An array of floats where kernels want it."""
    count = int(np.prod(shape))
    memory = np.zeros(count + ALIGNMENT // 4, np.float32)
    skipped = -memory.ctypes.data % ALIGNMENT // 4
    return memory[skipped:skipped + count].reshape(shape)


def run_all(run, given, outputs, inputs):
    """`run()` for each of `inputs`, which is put into `given`: all it left in `outputs`."""
    results = [np.empty((len(inputs), *output.shape), np.float32) for output in outputs]
    for i, values in enumerate(inputs):
        given[...] = values.reshape(given.shape)
        run()
        for result, output in zip(results, outputs):
            result[i] = output
    return results


class TenonModel:
    """An artifact for the graph executor, with one input of floats."""

    def __init__(self, library, artifact):
        self.runtime = embed.Runtime(library)
        self.library = self.runtime.load(artifact)
        processor = embed.Value(device=embed.Device(1, 0)), embed.DEVICE
        self.model = ctypes.c_void_p(self.call(self.library, "default", processor).handle)
        first = self.integer(0)
        kept = embed.Tensor.from_address(self.call(self.model, "get_input", first).handle)
        self.given = aligned([kept.shape[i] for i in range(kept.rank)])
        self.lent = embed.Tensor(self.given.ctypes.data, embed.Device(1, 0), kept.rank, kept.dtype,
                                 kept.shape, None, 0)
        self.call(self.model, "set_input_zero_copy", first,
                  (embed.Value(handle=ctypes.addressof(self.lent)), embed.TENSOR))
        count = self.call(self.model, "get_num_outputs").integer
        self.outputs = [self.view(i) for i in range(count)]

    @staticmethod
    def integer(value):
        return embed.Value(integer=value), embed.INTEGER

    def call(self, module, name, *arguments):
        return self.runtime.call(module, name, *arguments)

    def view(self, index):
        """The memory of an output, which stays where it is."""
        tensor = embed.Tensor.from_address(
            self.call(self.model, "get_output", self.integer(index)).handle)
        floats = ctypes.cast(tensor.data, ctypes.POINTER(ctypes.c_float))
        shape = [tensor.shape[i] for i in range(tensor.rank)]
        return np.ctypeslib.as_array(floats, (tensor.elements(),)).reshape(shape)

    def run(self, inputs):
        return run_all(lambda: self.call(self.model, "run"), self.given, self.outputs, inputs)


def slots():
    """Numbers of the functions of ONNX Runtime's table, as the peer knows them."""
    found = re.findall(r"kOrt(\w+) = (\d+)", read("remote/peer/ort_slots.h"))
    return {name: int(number) for name, number in found}


class OrtModel:
    """A model file in ONNX Runtime, on one thread, its nodes run as they stand in the file."""

    NO_OPTIMISATIONS, FLOAT = 0, 1

    def __init__(self, library, path, inputs, outputs):
        """`inputs` and `outputs`: shapes by name."""
        self.slots = slots()
        base = ctypes.CDLL(library).OrtGetApiBase
        base.restype = ctypes.POINTER(ctypes.c_void_p)
        table = ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint32)(base()[0])
        self.table = table(self.slots["ApiVersion"])
        self.session = self.open(path)
        self.binding = self.made("CreateIoBinding", self.session)
        self.memory = self.made("CreateCpuMemoryInfo", self.slots["ArenaAllocator"],
                                self.slots["DefaultMemory"])
        self.given = [self.bind("BindInput", *item) for item in inputs.items()]
        self.outputs = [self.bind("BindOutput", *item) for item in outputs.items()]

    def call(self, name, *arguments):
        function = ctypes.CFUNCTYPE(ctypes.c_void_p, *map(self.kind, arguments))
        failure = function(self.table[self.slots[name]])(*arguments)
        if failure:
            text = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)
            raise RuntimeError(text(self.table[self.slots["GetErrorMessage"]])(failure).decode())

    @staticmethod
    def kind(argument):
        if isinstance(argument, int):
            return ctypes.c_size_t
        return ctypes.c_char_p if isinstance(argument, bytes) else ctypes.c_void_p

    def made(self, name, *arguments):
        result = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.addressof(result))
        return result

    def open(self, path):
        options = self.made("CreateSessionOptions")
        self.call("SetGraphOptimizationLevel", options, self.NO_OPTIMISATIONS)
        self.call("SetIntraOpNumThreads", options, 1)
        environment = self.made("CreateEnv", self.slots["LogError"], b"tasks")
        return self.made("CreateSession", environment, path.encode(), options)

    def bind(self, function, name, shape):
        array = aligned(shape)
        dims = (ctypes.c_int64 * len(shape))(*shape)
        value = self.made("CreateTensorWithData", self.memory, array.ctypes.data, array.nbytes,
                          ctypes.addressof(dims), len(shape), self.FLOAT)
        self.call(function, self.binding, name.encode(), value)
        return array

    def run(self, inputs):
        return run_all(lambda: self.call("RunWithBinding", self.session, None, self.binding),
                       self.given[0], self.outputs, inputs)
