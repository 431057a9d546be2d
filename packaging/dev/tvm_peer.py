#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stock TVM as a program on stdin and stdout: what `./dev bench models|zoo --tvm CHECKOUT` asks.

usage: tvm_peer.py CHECKOUT MODEL DATA_SET_DIR LIBRARY TARGET
CHECKOUT has python/tvm and build/libtvm.so with LLVM. The model is built once, untuned, at level 3, into
LIBRARY, which stays while it is newer than the model. After a first line that introduces TVM, commands
are those of ONNX Runtime's peer that the benchmarks use, each answered by a line of JSON:
  run K              K runs: their number, shortest, median and longest, by TVM's own evaluator of times
  check DIR SHARE    compares the outputs with output_0.pb and so on there
"""
import glob
import json
import os
import statistics
import sys
import time

# As a comparison of two of our outputs allows it: of the value itself, beside SHARE of the largest.
RELATIVE = 1e-3
NEEDED = ("on Debian: apt-get install python3-numpy python3-onnx python3-decorator python3-attr "
          "python3-psutil python3-cloudpickle python3-typing-extensions python3-scipy, and run "
          "/usr/bin/python3")


def answer(**values):
    print(json.dumps(values), flush=True)


def stop(reason):
    answer(error=reason)
    sys.exit(1)


def load_tvm(checkout):
    """TVM's package and those of NumPy and ONNX; ends the program where something is missing."""
    package, library = (os.path.join(checkout, part) for part in ("python", "build/libtvm.so"))
    if not os.path.isdir(os.path.join(package, "tvm")):
        stop(f"{checkout} is no checkout of TVM: it has no python/tvm")
    if not os.path.exists(library):
        stop(f"{checkout} has no build/libtvm.so; build TVM there with USE_LLVM ON")
    os.environ["TVM_LIBRARY_PATH"] = os.path.dirname(library)
    sys.path.insert(0, package)
    try:
        import numpy
        import onnx
        import onnx.numpy_helper
        import tvm
        from tvm import relay
    except (ImportError, OSError, RuntimeError) as error:
        stop(f"TVM's Python package does not load: {error}; {NEEDED}")
    if not hasattr(relay, "build"):
        stop(f"TVM {tvm.__version__} has no relay.build; 0.16 has")
    return numpy, onnx, tvm


def tensors(onnx, folder, stem):
    """Arrays of stem_0.pb, stem_1.pb and so on."""
    found = []
    while os.path.exists(path := os.path.join(folder, f"{stem}_{len(found)}.pb")):
        proto = onnx.TensorProto()
        with open(path, "rb") as file:
            proto.ParseFromString(file.read())
        found.append(onnx.numpy_helper.to_array(proto))
    return found


def input_names(model):
    weights = {tensor.name for tensor in model.graph.initializer}
    return [value.name for value in model.graph.input if value.name not in weights]


def build_library(tvm, model, inputs, library, target):
    """Milliseconds that import, build and export took."""
    from tvm import relay
    start = time.monotonic()
    shapes = {name: array.shape for name, array in inputs.items()}
    types = {name: str(array.dtype) for name, array in inputs.items()}
    module, params = relay.frontend.from_onnx(model, shape=shapes, dtype=types, freeze_params=True)
    with tvm.transform.PassContext(opt_level=3):
        built = relay.build(module, target=tvm.target.Target(target), params=params)
    os.makedirs(os.path.dirname(os.path.abspath(library)), exist_ok=True)
    built.export_library(library)
    return (time.monotonic() - start) * 1e3


def timed(executor, device, count):
    """What `count` runs took, each by itself, without Python between them."""
    seconds = executor.module.time_evaluator("run", device, number=1, repeat=count)().results
    times = sorted(1e3 * second for second in seconds)
    return {"runs": len(times), "min_ms": times[0], "median_ms": statistics.median(times),
            "max_ms": times[-1]}


def difference(numpy, got, wanted, share):
    """"" within tolerance."""
    if not wanted or len(got) != len(wanted):
        return f"{len(got)} outputs where {len(wanted)} are to be compared"
    outside = elements = 0
    farthest = 0.0
    for ours, theirs in zip(got, wanted):
        if ours.shape != theirs.shape:
            return f"an output is {ours.shape} where {theirs.shape} was expected"
        a, b = ours.astype("float64"), theirs.astype("float64")
        largest = float(numpy.max(numpy.abs(b))) if b.size else 0.0
        apart = numpy.abs(a - b)
        is_outside = ~(apart <= share * largest + RELATIVE * numpy.abs(b))
        outside += int(is_outside.sum())
        elements += b.size
        farthest = max(farthest, float(apart.max()) if b.size else 0.0)
    return f"{outside} of {elements} output elements differ, by up to {farthest:.3g}" if outside else ""


def outputs_of(executor):
    executor.run()
    return [executor.get_output(i).numpy() for i in range(executor.get_num_outputs())]


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    checkout, path, data, library, target = sys.argv[1:]
    numpy, onnx, tvm = load_tvm(checkout)
    from tvm.contrib import graph_executor
    model = onnx.load(path)
    names, arrays = input_names(model), tensors(onnx, data, "input")
    if len(names) != len(arrays):
        stop(f"{data} has {len(arrays)} inputs of {len(names)}")
    inputs, build_ms = dict(zip(names, arrays)), 0.0
    try:
        if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(path):
            for old in glob.glob(glob.escape(library) + "*"):
                os.remove(old)
            build_ms = build_library(tvm, model, inputs, library, target)
        device = tvm.cpu()
        executor = graph_executor.GraphModule(tvm.runtime.load_module(library)["default"](device))
        for name, array in inputs.items():
            executor.set_input(name, array)
        executor.run()
    except Exception as error:  # whatever TVM raises: a model that it cannot build has no ratio
        stop(str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__)
    answer(version=tvm.__version__, build_ms=build_ms)
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["run"]:
            answer(**timed(executor, device, int(words[1])))
        elif words[:1] == ["check"]:
            answer(difference=difference(numpy, outputs_of(executor),
                                         tensors(onnx, words[1], "output"), float(words[2])))
        else:
            answer(error=f"`{line.strip()}` is no command")


if __name__ == "__main__":
    main()
