# SPDX-License-Identifier: Apache-2.0
"""The programs of both sides, the compiled sample, and the table of outcomes."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLE = os.path.join(ROOT, "resources/sample/digits")
KEY = "interop"
TOLERANCE = {"rtol": 1e-5, "atol": 1e-6}


def stop(reason):
    print("interop: " + reason, file=sys.stderr)
    sys.exit(2)


class Process:
    """A program that runs until the end of a block; `wanted` is part of the line it is ready with."""

    def __init__(self, command, wanted, log):
        with open(log, "w", encoding="utf-8") as out:
            # TVM's programs start workers that outlive them: all of it goes with the group.
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                                            start_new_session=True)
        self.log = log
        self.line = self._wait_for(wanted)

    def _wait_for(self, wanted):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            with open(self.log, encoding="utf-8") as file:
                for line in file:
                    if wanted in line and line.endswith("\n"):
                        return line.strip()
            time.sleep(0.05)
        self.stop()
        with open(self.log, encoding="utf-8") as file:
            raise RuntimeError(f"did not start: {file.read()[-400:]}")

    @property
    def port(self):
        return int(self.line.split(" as ")[0].rsplit(":", 1)[1])

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Bench:
    """One run of ./dev interop."""

    def __init__(self, build, folder, model):
        self.tenon = os.path.join(build, "bin/tenon")
        if not os.path.exists(self.tenon):
            stop(f"{self.tenon} is not built; run ./dev interop, which builds it")
        self.folder = folder
        self.count = 0
        self.failures = 0
        self.model = model
        self.run("compile", "--executor", "graph", "-o", self.path("graph.so"), self.model)
        self.run("compile", "--executor", "graph", "-o", self.path("graph.tar"), self.model)
        self.run("compile", "--executor", "aot", "-o", self.path("aot.so"), self.model)
        self.values = self.random_input()
        self.expected = self.own_outputs(self.path("graph.so"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments):
        done = subprocess.run([self.tenon, *arguments], capture_output=True, text=True, check=False,
                              timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"tenon {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def random_input(self):
        import numpy as np
        facts = json.loads(self.run("inspect", "--json", self.model))
        shape = facts["inputs"][0]["shape"]
        self.input_name = facts["inputs"][0]["name"]
        if facts["inputs"][0]["dtype"] != "float32" or len(facts["inputs"]) != 1 or min(shape) < 1:
            stop("the model must have one float32 input of fixed shape")
        values = np.random.default_rng(7).random(shape, dtype="float32")
        np.save(self.path("input.npy"), values)
        return values

    def own_outputs(self, artifact, *more):
        import numpy as np
        self.count += 1
        folder = self.path(f"outputs{self.count}")
        self.run("run", artifact, "--inputs", self.path("input.npy"), "--outputs", folder, *more)
        return np.load(os.path.join(folder, "output_0.npy"))

    def compare(self, values):
        import numpy as np
        np.testing.assert_allclose(values, self.expected, **TOLERANCE)
        return f"largest difference {float(np.abs(values - self.expected).max()):.1e}"

    def start(self, command, wanted):
        self.count += 1
        return Process(command, wanted, self.path(f"log{self.count}"))

    @contextlib.contextmanager
    def our_server(self, tracker=None):
        options = [] if tracker is None else ["--tracker", f"127.0.0.1:{tracker}"]
        server = self.start([self.tenon, "rpc-server", "--port", "0", "--key", KEY, *options],
                            "listening" if tracker is None else "offered")
        if tracker is not None:
            with open(server.log, encoding="utf-8") as file:
                server.line = file.readline().strip()
        try:
            yield server.port
        finally:
            server.stop()

    @contextlib.contextmanager
    def our_tracker(self):
        tracker = self.start([self.tenon, "tracker", "--port", "0"], "tracker on")
        try:
            yield tracker.port
        finally:
            tracker.stop()

    @contextlib.contextmanager
    def their_server(self, tracker=None):
        options = [] if tracker is None else ["--tracker", f"127.0.0.1:{tracker}"]
        server = self.start([sys.executable, "-m", "tvm.exec.rpc_server", "--host", "127.0.0.1",
                             "--port", "9700", "--port-end", "9800", "--key", KEY, *options],
                            "bind to")
        try:
            yield server.port
        finally:
            server.stop()

    @contextlib.contextmanager
    def their_tracker(self):
        tracker = self.start([sys.executable, "-m", "tvm.exec.rpc_tracker", "--host", "127.0.0.1",
                              "--port", "9600", "--port-end", "9699"], "bind to")
        try:
            yield tracker.port
        finally:
            tracker.stop()

    def check(self, title, body):
        start = time.monotonic()
        try:
            outcome = "ok      " + body(self)
        except Exception as error:  # each outcome is a row of the table
            self.failures += 1
            outcome = "FAILED  " + (str(error).strip().splitlines() or [repr(error)])[-1][:300]
        print(f"{title:<58} {time.monotonic() - start:5.1f} s  {outcome}", flush=True)
