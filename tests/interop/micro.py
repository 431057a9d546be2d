# SPDX-License-Identifier: Apache-2.0
"""Microcontrollers: TVM's client of boards on our server, and our models on TVM's own C runtime."""
import contextlib
import glob
import os
import select
import signal
import subprocess
import tarfile
import termios
import tty

from programs import stop

CONFIG = """#define TVM_CRT_LOG_LEVEL TVM_CRT_LOG_LEVEL_DEBUG
#define TVM_CRT_DEBUG 0
#define TVM_CRT_MAX_NDIM 6
#define TVM_CRT_MAX_ARGS 10
#define TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES 512
#define TVM_CRT_MAX_REGISTERED_MODULES 2
#define TVM_CRT_MAX_PACKET_SIZE_BYTES 2048
#define TVM_CRT_MAX_STRLEN_DLTYPE 10
#define TVM_CRT_MAX_STRLEN_FUNCTION_NAME 120
#define TVM_CRT_MAX_STRLEN_PARAM_NAME 80
"""


class FileTransport:
    """Bytes over descriptors, as TVM's transports give them."""

    def __init__(self, reads, writes):
        self.reads, self.writes = reads, writes
        self.sent = self.received = 0

    def read(self, size, timeout_us):
        wait = None if timeout_us is None else timeout_us / 1e6
        ready, _, _ = select.select([self.reads], [], [], wait)
        data = os.read(self.reads, size) if ready else b""
        self.received += len(data)
        return data

    def write(self, data, timeout_us):
        del timeout_us
        done = 0
        while done < len(data):
            select.select([], [self.writes], [], 10)
            done += os.write(self.writes, data[done:])
        self.sent += done
        return done


@contextlib.contextmanager
def session(transport):
    """A session of TVM's, made by the function that its own Session class calls."""
    import tvm
    from tvm.rpc.client import RPCSession
    connect = tvm.get_global_func("micro._rpc_connect")
    rpc = RPCSession(connect("micro-rpc", transport.write, transport.read, 2000000, 20000000, 0,
                             lambda: None, False))
    try:
        yield rpc
    finally:
        rpc._sess.get_function("CloseRPCConnection")()


def outputs_of(bench, rpc, transport):
    """Executor, input, run, output, timing: what TVM's users do with a board."""
    import tvm
    from tvm.runtime.executor.aot_executor import AotModule
    library = rpc.get_function("runtime.SystemLib")()
    device = rpc.cpu(0)
    executor = AotModule(rpc.get_function("tvm.aot_executor.create")(library, device, "default"))
    if executor.get_num_inputs() != 1 or executor.get_num_outputs() != 1:
        raise RuntimeError("wrong number of inputs or outputs")
    if executor.get_input_index(bench.input_name) != 0:
        raise RuntimeError("the input is not known by its name")
    executor.get_input(0).copyfrom(tvm.nd.array(bench.values))
    executor.run()
    values = executor.get_output(0).numpy()
    timing = executor.module.time_evaluator("run", device, number=2, repeat=3)()
    if len(timing.results) != 3 or not all(each >= 0 for each in timing.results):
        raise RuntimeError(f"time_evaluator gave {timing.results}")
    return values, (f"run {timing.mean * 1e3:.3f} ms by the board's clock, "
                    f"{transport.sent} B out, {transport.received} B in")


def board_values(bench, target):
    return bench.own_outputs(bench.model, "--target", target)


def drives_the_m4(bench):
    """TVM's client on our server, on an emulated Cortex-M4, over a pseudo terminal."""
    import numpy as np
    project, port = bench.path("m4"), bench.path("m4.tty")
    bench.run("project", "create", bench.model, project, "--template", "baremetal-mps2")
    subprocess.run(["make", "-s", "-C", project, "server"], check=True, capture_output=True)
    emulate = ["sh", os.path.join(project, "emulate.sh")]
    subprocess.run([*emulate, "mps2-an386", os.path.join(project, "build/server.elf"), port],
                   check=True, capture_output=True)
    line = os.open(port, os.O_RDWR | os.O_NOCTTY)
    try:
        tty.setraw(line)
        termios.tcflush(line, termios.TCIOFLUSH)
        transport = FileTransport(line, line)
        with session(transport) as rpc:
            values, outcome = outputs_of(bench, rpc, transport)
    finally:
        os.close(line)
        subprocess.run([*emulate, "off", port], check=False)
    np.testing.assert_array_equal(values, board_values(bench, "c -mcpu=cortex-m4"))
    return outcome


def drives_the_host(bench):
    """The same server as a program of this computer, over its standard input and output."""
    project = bench.path("host")
    bench.run("project", "create", bench.model, project, "--template", "crt-host")
    subprocess.run(["make", "-s", "-C", project, "server"], check=True, capture_output=True)
    with program([os.path.join(project, "build/server")]) as transport:
        with session(transport) as rpc:
            values, outcome = outputs_of(bench, rpc, transport)
    return bench.compare(values) + ", " + outcome


@contextlib.contextmanager
def program(command):
    child = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             start_new_session=True)
    try:
        yield FileTransport(child.stdout.fileno(), child.stdin.fileno())
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def crt_includes(checkout):
    parts = ["include", "src/runtime/crt/include", "3rdparty/dlpack/include",
             "3rdparty/dmlc-core/include", "3rdparty/libcrc/include"]
    return ["-I" + os.path.join(checkout, part) for part in parts]


def builds_on_their_runtime(bench):
    """Our archive, compiled as it is with TVM's own C runtime, its server and its AOT executor."""
    checkout = bench.checkout
    folder = bench.path("crt")
    os.makedirs(folder)
    archive = os.path.join(folder, "model.tar")
    bench.run("compile", bench.model, "--target", "c", "--output-format", "mlf", "-o", archive)
    with tarfile.open(archive) as tar:
        tar.extractall(os.path.join(folder, "model"))
    with open(os.path.join(folder, "crt_config.h"), "w", encoding="utf-8") as file:
        file.write(CONFIG)
    runtime = os.path.join(checkout, "src/runtime")
    groups = ["crt/aot_executor", "crt/aot_executor_module", "crt/common", "crt/memory",
              "crt/microtvm_rpc_common", "crt/microtvm_rpc_server", "crt/host"]
    sources = [path for group in groups for path in glob.glob(f"{runtime}/{group}/*.c*")
               if path.endswith((".c", ".cc"))]
    sources += glob.glob(f"{checkout}/3rdparty/libcrc/src/crcccitt.c")
    ours = sorted(glob.glob(f"{folder}/model/codegen/host/src/*.c"))
    objects = []
    for path in sources + ours:
        target = os.path.join(folder, f"{len(objects)}.o")
        isC = path.endswith(".c")
        own = ["-Wall", "-Wextra", "-Werror", "-pedantic"] if path in ours else ["-w"]
        command = ["cc", "-std=c99", "-D_GNU_SOURCE"] if isC else ["c++", "-std=c++17"]
        subprocess.run([*command, "-O1", *own, "-DTVM_WORKSPACE_SIZE_BYTES=(2*1024*1024)",
                        "-I" + folder, "-I" + f"{folder}/model/codegen/host/include",
                        *crt_includes(checkout), "-c", path, "-o", target], check=True)
        objects.append(target)
    image = os.path.join(folder, "main")
    subprocess.run(["c++", *objects, "-o", image, "-lm"], check=True)
    with program([image]) as transport:
        with session(transport) as rpc:
            values, outcome = outputs_of(bench, rpc, transport)
    return bench.compare(values) + f", {len(ours)} files of ours, {outcome}"


CHECKS = [
    ("TVM's micro._rpc_connect drives our Cortex-M4 over a pty", drives_the_m4),
    ("TVM's micro._rpc_connect drives our server on this host", drives_the_host),
    ("our MLF on TVM's C runtime and AOT executor, TVM's client", builds_on_their_runtime),
]


def need(checkout):
    """Stops where TVM was built without what this needs."""
    import tvm
    if tvm.get_global_func("micro._rpc_connect", allow_missing=True) is None:
        stop(f"{checkout} was built without USE_MICRO; build it with -DUSE_MICRO=ON")
    if not os.path.isdir(os.path.join(checkout, "src/runtime/crt")):
        stop(f"{checkout} has no src/runtime/crt, TVM's C runtime")
