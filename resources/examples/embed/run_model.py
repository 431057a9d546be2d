#!/usr/bin/env python3
# SPDX-License-Identifier: MIT-0
"""The same in Python, with nothing but ctypes: run_model.py ARTIFACT [LIBRARY]

The model reads its input from memory of Python's: an array, which is lent and not copied."""
import ctypes
import sys


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("rank", ctypes.c_int32),
                ("dtype", DataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]

    def elements(self):
        count = 1
        for i in range(self.rank):
            count *= self.shape[i]
        return count


class Value(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("number", ctypes.c_double),
                ("handle", ctypes.c_void_p), ("device", Device)]


INTEGER, DEVICE, TENSOR = 0, 6, 7


class Runtime:
    def __init__(self, library):
        self.api = ctypes.CDLL(library)
        self.api.TVMGetLastError.restype = ctypes.c_char_p

    def must(self, status):
        if status != 0:
            raise RuntimeError(self.api.TVMGetLastError().decode())

    def load(self, path):
        module = ctypes.c_void_p()
        self.must(self.api.TVMModLoadFromFile(path.encode(), b"so", ctypes.byref(module)))
        return module

    def call(self, module, name, *arguments):
        """Arguments are pairs of a Value and its type code."""
        function = ctypes.c_void_p()
        self.must(self.api.TVMModGetFunction(module, name.encode(), 1, ctypes.byref(function)))
        if not function:
            raise RuntimeError(f"the artifact has no `{name}`")
        values = (Value * (len(arguments) + 1))(*[value for value, _ in arguments])
        codes = (ctypes.c_int * (len(arguments) + 1))(*[code for _, code in arguments])
        result, code = Value(), ctypes.c_int()
        self.must(self.api.TVMFuncCall(function, values, codes, len(arguments),
                                       ctypes.byref(result), ctypes.byref(code)))
        self.must(self.api.TVMFuncFree(function))
        return result


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    runtime = Runtime(sys.argv[2] if len(sys.argv) == 3 else "libtenon_runtime.so.0")
    library = runtime.load(sys.argv[1])
    processor = Value(device=Device(1, 0))
    model = ctypes.c_void_p(runtime.call(library, "default", (processor, DEVICE)).handle)

    first = (Value(integer=0), INTEGER)
    kept = Tensor.from_address(runtime.call(model, "get_input", first).handle)
    memory = ctypes.create_string_buffer(kept.elements() * 4 + 64)
    start = (ctypes.addressof(memory) + 63) // 64 * 64
    mine = Tensor(start, Device(1, 0), kept.rank, kept.dtype, kept.shape, None, 0)
    runtime.call(model, "set_input_zero_copy", first,
                 (Value(handle=ctypes.addressof(mine)), TENSOR))
    runtime.call(model, "run")
    output = Tensor.from_address(runtime.call(model, "get_output", first).handle)
    values = ctypes.cast(output.data, ctypes.POINTER(ctypes.c_float))
    for i in range(min(output.elements(), 10)):
        print(f"{values[i]:g}")
    lent = Tensor.from_address(runtime.call(model, "get_input", first).handle)
    print("nothing copied" if lent.data == start else "copied")


if __name__ == "__main__":
    main()
