#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tenon beside a stock TVM 0.16 runtime: each loads, serves and drives what the other made.

usage: interop.py --tvm CHECKOUT [--micro] [--build build/release]   (./dev interop --tvm CHECKOUT)
CHECKOUT has python/ and build/libtvm_runtime.so (or libtvm.so). Nothing of TVM is part of Tenon.
With --micro, microcontrollers alone: see micro.py.
"""
import argparse
import gc
import json
import os
import platform
import sys
import tempfile
import time

import micro
from programs import KEY, ROOT, SAMPLE, Bench, stop


def load_tvm(checkout):
    """Imports TVM from a checkout with a built runtime, or says what is missing."""
    libraries = [os.path.join(checkout, "build", name) for name in ("libtvm_runtime.so", "libtvm.so")]
    present = [path for path in libraries if os.path.exists(path)]
    package = os.path.join(checkout, "python")
    if not os.path.isdir(os.path.join(package, "tvm")):
        stop(f"{checkout} is no checkout of TVM: it has no python/tvm")
    if not present:
        stop(f"{checkout} has no build/libtvm_runtime.so; build TVM 0.16's runtime there "
             "(USE_GRAPH_EXECUTOR, USE_AOT_EXECUTOR and USE_RPC ON, USE_LLVM may be OFF)")
    os.environ["TVM_LIBRARY_PATH"] = os.path.join(checkout, "build")
    if present[0].endswith("runtime.so"):
        os.environ["TVM_USE_RUNTIME_LIB"] = "1"
    os.environ["PYTHONPATH"] = package  # for the servers that are started
    sys.path.insert(0, package)
    try:
        import numpy
        import tvm
        import tvm.rpc.tracker  # wants tornado, which only says so when it is used
    except ImportError as error:
        stop(f"TVM's Python package does not load: {error}; on Debian: apt-get install "
             "python3-numpy python3-decorator python3-attr python3-psutil python3-tornado "
             "python3-cloudpickle python3-typing-extensions, and run /usr/bin/python3")
    print(f"TVM {tvm.__version__} from {present[0]}, Python {platform.python_version()}, "
          f"numpy {numpy.__version__}")
    if not tvm.__version__.startswith("0.16."):
        print(f"note: this is meant for TVM 0.16, not {tvm.__version__}")


def graph_outputs(bench, module, device):
    """set_input, run and get_output of a graph executor, with what it says about itself."""
    from tvm.contrib import graph_executor
    executor = graph_executor.GraphModule(module["default"](device))
    if executor.get_num_inputs() < 1 or executor.get_num_outputs() != 1:
        raise RuntimeError("wrong number of inputs or outputs")
    executor.set_input(bench.input_name, bench.values)
    executor.run()
    return executor.get_output(0).numpy()


def loads_graph(bench, name):
    import tvm
    return bench.compare(graph_outputs(bench, tvm.runtime.load_module(bench.path(name)), tvm.cpu()))


def loads_aot(bench):
    import tvm
    module = tvm.runtime.load_module(bench.path("aot.so"))
    executor = tvm.runtime.executor.AotModule(module["default"](tvm.cpu()))
    executor.set_input(bench.input_name, tvm.nd.array(bench.values))
    executor.run()
    return bench.compare(executor.get_output(0).numpy())


def reads_params(bench):
    """The factory's own description: graph JSON and parameters."""
    import tvm
    module = tvm.runtime.load_module(bench.path("graph.so"))
    graph = json.loads(module["get_graph_json"]())
    params = module["get_graph_params"]()
    from tvm.contrib import graph_executor
    executor = graph_executor.GraphModule(module["default"](tvm.cpu()))
    shapes, _ = executor.get_input_info()
    if list(shapes[bench.input_name]) != list(bench.values.shape):
        raise RuntimeError(f"the input is described as {shapes[bench.input_name]}")
    return f"{len(graph['nodes'])} nodes, {len(params)} parameters"


def drive_ours(bench, remote):
    """Everything that TVM's client does with a server, on one of ours."""
    import numpy as np
    import tvm
    remote.upload(bench.path("graph.so"))
    module = remote.load_module("graph.so")
    device = remote.cpu()
    outcome = bench.compare(graph_outputs(bench, module, device))
    from tvm.contrib import graph_executor
    executor = graph_executor.GraphModule(module["default"](device))
    timing = executor.module.time_evaluator("run", device, number=3, repeat=4)()
    if len(timing.results) != 4 or not all(0 < each < 10 for each in timing.results):
        raise RuntimeError(f"time_evaluator gave {timing.results}")
    bench_result = executor.benchmark(device, repeat=2, number=2)
    if len(bench_result.results) != 2:
        raise RuntimeError("benchmark() gave another number of results")
    large = np.random.default_rng(1).random((1 << 20,), dtype="float32")
    array = tvm.nd.array(large, device)
    copy = tvm.nd.empty(large.shape, "float32", device)
    array.copyto(copy)
    np.testing.assert_array_equal(copy.numpy(), large)
    remote.upload(bytearray(b"some bytes"), "some.bin")
    if remote.download("some.bin") != b"some bytes":
        raise RuntimeError("download differs from upload")
    remote.remove("some.bin")
    try:
        remote.get_function("no.such.function")
        raise RuntimeError("an unknown function was found")
    except (AttributeError, tvm.error.TVMError):
        pass
    try:
        remote.load_module("absent.so")
        raise RuntimeError("an absent file was loaded")
    except tvm.error.TVMError:
        pass
    return outcome + f", mean {timing.mean * 1e6:.0f} us"


def client_drives_our_server(bench):
    from tvm import rpc
    with bench.our_server() as port:
        remote = rpc.connect("127.0.0.1", port, key=KEY, session_timeout=60)
        outcome = drive_ours(bench, remote)
        del remote
        gc.collect()  # TVM ends a session with its last reference
        rpc.connect("127.0.0.1", port, key=KEY)  # and again, after a session
        return outcome


def client_is_refused(bench):
    from tvm import rpc
    with bench.our_server() as port:
        try:
            rpc.connect("127.0.0.1", port, key="another")
        except Exception as error:  # TVM's text is its own affair
            return str(error).strip().splitlines()[-1][:60]
    raise RuntimeError("another key was accepted")


def request_through(bench, tracker):
    from tvm import rpc
    session = rpc.connect_tracker("127.0.0.1", tracker)
    outcome = drive_ours(bench, session.request(KEY, session_timeout=60))
    gc.collect()  # TVM ends a session with its last reference
    remote = session.request(KEY)  # the server has offered itself again
    summary = session.text_summary()
    if KEY not in summary:
        raise RuntimeError(f"the tracker's summary lacks the server: {summary}")
    del remote
    return outcome


def client_through_their_tracker(bench):
    with bench.their_tracker() as tracker, bench.our_server(tracker):
        return request_through(bench, tracker)


def client_through_our_tracker(bench):
    with bench.our_tracker() as tracker, bench.our_server(tracker):
        return request_through(bench, tracker)


def their_pair_at_our_tracker(bench):
    from tvm import rpc
    with bench.our_tracker() as tracker, bench.their_server(tracker):
        session = rpc.connect_tracker("127.0.0.1", tracker)
        for _ in range(2):
            remote = session.request(KEY)
            remote.upload(bench.path("graph.so"))
            outcome = bench.compare(
                graph_outputs(bench, remote.load_module("graph.so"), remote.cpu()))
            del remote
        return outcome


def run_on_board(bench, *address):
    """`tenon board add`, then run and bench there, as a user does."""
    config = bench.path(f"config{bench.count}")
    bench.run("board", "add", "stock", *address, "--key", KEY, "--target", "llvm -mcpu=native",
              "--config", config)
    outcomes = []
    for executor in ("graph", "aot"):
        values = bench.own_outputs(bench.model, "--board", "stock", "--config", config,
                                   "--executor", executor)
        outcomes.append(bench.compare(values))
    times = json.loads(bench.run("bench", bench.model, "--board", "stock", "--config", config,
                                 "--executor", "graph", "--json"))
    bench.run("verify", SAMPLE, "--board", "stock", "--config", config)
    return f"{outcomes[-1]}, median {times['median_ms']:.3f} ms"


def we_drive_their_server(bench):
    with bench.their_server() as port:
        return run_on_board(bench, "--rpc", f"127.0.0.1:{port}")


def we_drive_it_through_their_tracker(bench):
    with bench.their_tracker() as tracker, bench.their_server(tracker):
        wait_for_offer(bench, tracker)
        outcome = run_on_board(bench, "--tracker", f"127.0.0.1:{tracker}")
        if KEY not in bench.run("tracker", "--query", f"127.0.0.1:{tracker}"):
            raise RuntimeError("tenon tracker --query does not show the server")
        return outcome


def we_drive_it_through_our_tracker(bench):
    with bench.our_tracker() as tracker, bench.their_server(tracker):
        wait_for_offer(bench, tracker)
        return run_on_board(bench, "--tracker", f"127.0.0.1:{tracker}")


def we_drive_ours_through_their_tracker(bench):
    with bench.their_tracker() as tracker, bench.our_server(tracker):
        return run_on_board(bench, "--tracker", f"127.0.0.1:{tracker}")


def wait_for_offer(bench, tracker):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if KEY in bench.run("tracker", "--query", f"127.0.0.1:{tracker}"):
            return
        time.sleep(0.1)
    raise RuntimeError("the server did not come to the tracker")


CHECKS = [
    ("TVM loads our graph .so, GraphModule runs it", lambda b: loads_graph(b, "graph.so")),
    ("TVM loads our graph .tar (links it), GraphModule runs it", lambda b: loads_graph(b, "graph.tar")),
    ("TVM reads graph JSON, parameters and input info", reads_params),
    ("TVM loads our AOT .so, AotModule runs it", loads_aot),
    ("TVM's client drives our server", client_drives_our_server),
    ("our server refuses TVM's client with another key", client_is_refused),
    ("TVM's client, TVM's tracker, our server", client_through_their_tracker),
    ("TVM's client, our tracker, our server", client_through_our_tracker),
    ("TVM's client, our tracker, TVM's server", their_pair_at_our_tracker),
    ("our client drives TVM's server", we_drive_their_server),
    ("our client, TVM's tracker, TVM's server", we_drive_it_through_their_tracker),
    ("our client, our tracker, TVM's server", we_drive_it_through_our_tracker),
    ("our client, TVM's tracker, our server", we_drive_ours_through_their_tracker),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tvm", required=True, metavar="CHECKOUT")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--model", default=os.path.join(SAMPLE, "model.onnx"))
    parser.add_argument("--micro", action="store_true", help="microcontrollers, with USE_MICRO")
    parser.add_argument("--only", default="", help="checks whose title contains this")
    options = parser.parse_args()
    load_tvm(os.path.abspath(options.tvm))
    if options.micro:
        micro.need(os.path.abspath(options.tvm))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(options.build), folder, options.model)
        print(bench.run("--version").strip())
        bench.checkout = os.path.abspath(options.tvm)
        checks = micro.CHECKS if options.micro else CHECKS
        chosen = [each for each in checks if options.only in each[0]]
        for title, body in chosen:
            bench.check(title, body)
    print(f"{len(chosen) - bench.failures} of {len(chosen)} as they should be")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
