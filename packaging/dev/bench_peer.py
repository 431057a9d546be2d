# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: Tenon and ONNX Runtime as programs that take turns on the same cores."""
import json
import math
import os
import platform
import statistics
import subprocess
import sys

from source_tree import ROOT

ORT_VERSION = "1.30.0"
ROUND_MS = 250
# Beside everything in exported/ and the quantized models: further ones that both sides run.
OTHERS = ["mnist-cnn", "mlperftiny-vww-mobilenetv1-fp32", "super-resolution-core",
          "ultraface-rfb-320", "yolox-nano"]


def models_folder():
    """The folder that holds exported/ and models/; ends the program when there is none."""
    data = os.path.realpath(os.environ.get("TENON_TEST_DATA") or
                            os.path.join(ROOT, "../shared/data"))
    if not os.path.isdir(data):
        sys.exit("no models: set TENON_TEST_DATA to the folder that holds exported/")
    return data


def models_of(data, wanted):
    """Names and folders of the models that are wanted, or of all."""
    exported = os.path.join(data, "exported")
    folders = [os.path.join(exported, name) for name in sorted(os.listdir(exported))]
    others = os.path.join(data, "models")
    if os.path.isdir(others):
        folders += [os.path.join(others, name) for name in sorted(os.listdir(others))
                    if name in OTHERS or name.endswith("-int8")]
    found = [(os.path.basename(f), f) for f in folders
             if os.path.exists(os.path.join(f, "model.onnx"))]
    return [(name, folder) for name, folder in found if not wanted or name in wanted]


def library_of_peer(build, arch=None):
    """Path of libonnxruntime, installed on demand next to the build and never into the tree; for
    this computer, or for npm's name of a processor."""
    folder = os.path.join(os.path.dirname(os.path.abspath(build)), "npm")
    arch = arch or {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
    path = os.path.join(folder, "node_modules/onnxruntime-node/bin/napi-v6/linux", arch,
                        "libonnxruntime.so.1")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
            file.write('{"private": true}\n')
        subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
                        f"onnxruntime-node@{ORT_VERSION}"], cwd=folder, check=True,
                       stdout=sys.stderr)
    return path


class TimedProgram:
    """Another engine in a process of its own that times runs when told to."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, **(environment or {})})
        self.start = self.answer()
        if "error" in self.start:
            raise RuntimeError(self.start["error"])
        self.version = self.start["version"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the peer ended; its message is above")
        return json.loads(line)

    def difference(self, folder, is_quantized):
        """How its outputs differ from output_0.pb and so on in `folder`; "" within tolerance."""
        answer = self.ask(f"check {folder} {0.02 if is_quantized else 1e-4}")
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["difference"]

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Peer(TimedProgram):
    """ONNX Runtime; its start says session_ms and first_run_ms, too."""

    def __init__(self, build, library, folder, threads, model=None):
        """`folder` holds test_data_set_0 and, unless the model lies elsewhere, model.onnx."""
        super().__init__(pin_for(threads) + [
            os.path.join(build, "bin/ort_peer"), library,
            model or os.path.join(folder, "model.onnx"), os.path.join(folder, "test_data_set_0"),
            str(threads)])


class Tvm(TimedProgram):
    """A stock TVM of a checkout, untuned; its start says build_ms, too."""

    def __init__(self, checkout, folder, library, target, threads):
        program = os.path.join(ROOT, "packaging/dev/tvm_peer.py")
        # Debian's packages of NumPy and ONNX belong to its own Python. Cores are chosen here.
        super().__init__(pin_for(threads) + [
            "/usr/bin/python3", program, os.path.abspath(checkout),
            os.path.join(folder, "model.onnx"), os.path.join(folder, "test_data_set_0"), library,
            target], {"TVM_NUM_THREADS": str(threads), "TVM_BIND_THREADS": "0"})


class Tenon:
    """The command line: compiles once per opt level, then times the artifact."""

    def __init__(self, build, model, work, threads, options=()):
        """`options`: of every compilation."""
        self.options = list(options)
        self.build, self.program = build, os.path.join(build, "bin/tenon")
        self.model, self.work, self.threads = model, work, threads
        self.methods = []  # of the kernel calls, once outputs were compared
        os.makedirs(work, exist_ok=True)

    def compile(self, level=3, options=(), cache=None, onto_old=False):
        """Path of the artifact and what the compiler reports; `cache`: a folder instead of the
        user's. An artifact that stands there is removed first, or else may stay as it is."""
        out = os.path.join(self.work, f"opt{level}.so")
        if not onto_old and os.path.exists(out):
            os.remove(out)
        report = self.call([self.program, "compile", self.model, "-o", out, "--opt-level",
                            str(level), "--threads", str(self.threads), "--json",
                            *self.options, *options],
                           {"XDG_CACHE_HOME": cache} if cache else {})
        return out, report

    def run(self, artifact, number, repeat, inputs=None):
        """`inputs`: a folder; else made-up ones, as large as open sizes may be."""
        report = self.call(pin_for(self.threads) + [
            self.program, "bench", artifact, "--json", "--threads", str(self.threads),
            "--number", str(number), "--repeat", str(repeat), "--min-repeat-ms", "0",
            "--no-pin",  # taskset pins both sides alike
            *(["--inputs", inputs] if inputs else [])])
        runs = sorted(report["runs"])
        return {"min_ms": runs[0], "median_ms": statistics.median(runs)}

    def difference_from(self, peer, artifact, inputs):
        """How the peer's outputs differ from those of the artifact on the same inputs, now."""
        outputs = os.path.join(os.path.abspath(self.work), "outputs")
        done = subprocess.run([self.program, "run", artifact, "--inputs", inputs, "--outputs",
                               outputs, "--threads", str(self.threads)], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError((done.stderr or done.stdout).strip())
        methods = [layer["method"] for layer in self.call(
            [self.program, "bench", artifact, "--json", "--per-layer", "--repeat", "1",
             "--threads", str(self.threads)])["layers"]]
        self.methods = methods
        return peer.difference(outputs, any("int8" in method for method in methods))

    def audit(self, artifact):
        """Where the time goes, as `bench --explain` says."""
        return self.call(pin_for(self.threads) + [
            self.program, "bench", artifact, "--json", "--explain", "--repeat", "5",
            "--min-repeat-ms", "0", "--threads", str(self.threads), "--no-pin"])["audit"]

    @staticmethod
    def call(command, environment=None):
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, **(environment or {})})
        if done.returncode != 0:
            message = (done.stderr or done.stdout).strip().splitlines()
            raise RuntimeError(message[-1] if message else f"exit code {done.returncode}")
        return json.loads(done.stdout)


def pin_for(threads):
    """The last cores: the first ones serve interrupts."""
    last = os.cpu_count() - 1
    return ["taskset", "-c", f"{max(0, last - threads + 1)}-{last}"]


def counts_for(ms, round_ms=ROUND_MS):
    """(runs per repeat, repeats) so that a round takes about `round_ms` and a repeat 1 ms or more."""
    number = max(1, math.ceil(1 / ms))
    return number, max(5, min(200, math.ceil(round_ms / (ms * number))))


def measure(tenon, peer, rounds, inputs, tvm=None):
    """Times of both in turns; ratio = Tenon / ORT, the median of the rounds' ratios of medians.
    A row whose outputs differ has no ratio: its times are of different computations. `tvm`: makes
    the third side of Tenon's target, which takes its turns beside them."""
    first = peer.ask("run 3")
    number, repeat = counts_for(first["min_ms"])
    artifact, report = tenon.compile()
    difference = tenon.difference_from(peer, artifact, inputs)
    third = ThirdSide(tvm and (lambda: tvm(report["target"])), tenon)
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(peer.ask(f"run {number * repeat}"))
        ours.append(tenon.run(artifact, number, repeat, inputs))
        third.run(number * repeat)
    ratios = [a["median_ms"] / b["median_ms"] for a, b in zip(ours, theirs)]
    row = {"artifact": artifact, "tenon_min_ms": min(r["min_ms"] for r in ours),
           "tenon_median_ms": statistics.median(r["median_ms"] for r in ours),
           "ort_min_ms": min(r["min_ms"] for r in theirs),
           "ort_median_ms": statistics.median(r["median_ms"] for r in theirs),
           "difference": difference}
    if not difference:
        row.update({"ratio": statistics.median(ratios), "ratio_low": min(ratios),
                    "ratio_high": max(ratios)})
    row.update(third.columns(ours))
    return row


class ThirdSide:
    """TVM's turns within a measurement; a model that it does not build has the reason instead."""

    def __init__(self, make, tenon):
        self.peer, self.runs, self.reason = None, [], ""
        if not make:
            return
        try:
            self.peer = make()
            self.reason = self.peer.difference(os.path.join(os.path.abspath(tenon.work), "outputs"),
                                               any("int8" in method for method in tenon.methods))
        except RuntimeError as error:
            self.reason = str(error)

    def run(self, count):
        if self.peer:
            self.runs.append(self.peer.ask(f"run {count}"))

    def columns(self, ours):
        """What the row has of it; closes it."""
        if not self.peer:
            return {"tvm_difference": self.reason} if self.reason else {}
        self.peer.close()
        columns = {"tvm_min_ms": min(r["min_ms"] for r in self.runs),
                   "tvm_median_ms": statistics.median(r["median_ms"] for r in self.runs),
                   "tvm_build_ms": self.peer.start["build_ms"], "tvm_difference": self.reason}
        if not self.reason:
            columns["tvm_ratio"] = statistics.median(
                a["median_ms"] / b["median_ms"] for a, b in zip(ours, self.runs))
        return columns


def peak_of(build):
    """What the machine can do at most, by the program `peak`, on the core that measures run on."""
    done = subprocess.run(pin_for(1) + [os.path.join(build, "bin/peak")], capture_output=True,
                          text=True, check=True)
    return {"cpu": cpu_name(), "load": round(os.getloadavg()[0], 1), **json.loads(done.stdout)}


def best_of(machines):
    """The most that several measurements of one machine reached of each quantity, as the best times
    are held against it: other programs only ever take away from both."""
    best = dict(machines[0])
    for key, value in best.items():
        if isinstance(value, float) and key != "load":
            best[key] = max(m[key] for m in machines)
    best["bandwidth"] = [
        {key: max(m["bandwidth"][level][key] for m in machines) for key in rate}
        for level, rate in enumerate(best["bandwidth"])]
    return best


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.readlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def geometric_mean(ratios):
    return math.exp(statistics.mean(math.log(ratio) for ratio in ratios))


def ratio_text(row):
    """Why there is none stands behind the row."""
    return f"{row['ratio']:.2f}" if "ratio" in row else "–"


# Tenon shall take at most this share of TVM's time.
TVM_LIMIT = 0.8


def tvm_text(row):
    """Behind a row's ratios, where TVM was measured."""
    if "tvm_median_ms" not in row:
        return ""
    ratio = f"{row['tvm_ratio']:.2f}" if "tvm_ratio" in row else "–"
    return f"  tvm {row['tvm_median_ms']:.3f} {ratio}"


def print_tvm(rows):
    """The mean of the ratios to TVM, which are above the limit, and why there are none."""
    ratios = {name: row["tvm_ratio"] for name, row in rows.items() if "tvm_ratio" in row}
    if ratios:
        above = [f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio > TVM_LIMIT]
        print(f"geometric mean of {len(ratios)} ratios to TVM: "
              f"{geometric_mean(ratios.values()):.3f}; above {TVM_LIMIT}: "
              f"{', '.join(above) or 'none'}")
    for name, row in rows.items():
        if row.get("tvm_difference"):
            print(f"{name} has no ratio to TVM: {row['tvm_difference']}")


def print_mean(rows, what):
    ratios = [row["ratio"] for row in rows.values() if "ratio" in row]
    if ratios:
        print(f"\ngeometric mean of {len(ratios)} {what}: {geometric_mean(ratios):.3f}")
    for name, row in rows.items():
        if row.get("difference"):
            print(f"{name} has no ratio: {row['difference']}")


def add_arguments(parser, rounds, threads=1):
    """`threads`: the default; text where there may be several, such as "1,2"."""
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--threads", type=type(threads), default=threads)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--json", help="also write machine and rows to this file")


def add_tvm(parser):
    parser.add_argument("--tvm", metavar="CHECKOUT", help="a built TVM 0.16 (python/ and "
                        "build/libtvm.so with LLVM) that takes its turns in the same run")


def tvm_of(arguments, name, folder, threads):
    """For measure(): makes TVM's side of a model for a target; None where it was not asked for."""
    if not arguments.tvm:
        return None
    library = os.path.join(os.path.abspath(arguments.build), "bench/tvm", name,
                           f"threads{threads}.so")
    return lambda target: Tvm(arguments.tvm, folder, library, target, threads)


def write_json(path, machine, threads, rows):
    if not path:
        return
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine, "onnxruntime": ORT_VERSION, "threads": threads,
                   "rows": rows}, file, indent=1)
        file.write("\n")
