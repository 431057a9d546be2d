# SPDX-License-Identifier: Apache-2.0
"""How much faster integers are: each network in floats and in integers, in turns here and counted elsewhere."""
import os
import statistics

import bench_peer
import bench_zoo
import instruction_count
from bench_aarch64 import EMULATED
from bench_cpus import RISCV, RVV
from bench_peer import Tenon

# Rivals of a convolution: a network with as many of these is none of convolutions.
OTHER_LAYERS = ("nn.dense", "nn.batch_matmul", "nn.matmul", "nn.lstm", "nn.gru", "nn.rnn")
MICRO = {"cortex-m4", "cortex-m7", "cortex-m55"}
X86 = "llvm -mtriple=x86_64-linux-gnu"
# Target, emulator with options and runner of what is no AArch64.
LINUX = {
    "x86-64": (X86, ["qemu-x86_64", "-cpu", "qemu64"], "x86_64"),
    "nehalem": (X86 + " -mcpu=nehalem", ["qemu-x86_64", "-cpu", "Nehalem"], "x86_64"),
    "haswell": (X86 + " -mcpu=haswell", ["qemu-x86_64", "-cpu", "max"], "x86_64"),
    "cortex-a7": ("llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7",
                  ["qemu-arm", "-cpu", "cortex-a7"], "armv7"),
    "riscv64": (RISCV, ["qemu-riscv64", "-cpu", "rv64"], "riscv64"),
    "riscv64+v": (RISCV + ",+v", ["qemu-riscv64", "-cpu", RVV + ",vlen=128"], "riscv64"),
}


def linux_of(mcpu):
    """As a row of LINUX."""
    emulator = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu", EMULATED.get(mcpu, mcpu)]
    return LINUX.get(mcpu, (f"llvm -mtriple=aarch64-linux-gnu -mcpu={mcpu}", emulator, "aarch64"))


def is_convolutional(operators):
    """Whether a model of these operators, with their numbers, is a network of convolutions."""
    others = sum(operators.get(name, 0) for name in OTHER_LAYERS)
    convolutions = sum(count for name, count in operators.items() if name.startswith("nn.conv"))
    return convolutions > others


def slower(row, limit=1.0):
    """Where integers take as long as floats or longer: names of columns."""
    return [name for name, cell in row.items() if "ratio" in cell and cell["ratio"] >= limit]


class Network:
    """A float model and the integers that `tenon quantize` makes of it."""

    def __init__(self, arguments, name, folder):
        self.build, self.arguments = os.path.abspath(arguments.build), arguments
        self.tenon = os.path.join(self.build, "bin/tenon")
        self.work = os.path.join(self.build, "bench/speed", name)
        os.makedirs(self.work, exist_ok=True)
        self.models = {"float": os.path.join(folder, "model.onnx"),
                       "int8": os.path.join(self.work, "int8.onnx")}
        Tenon.call([self.tenon, "quantize", self.models["float"], "--data", folder, "-o",
                    self.models["int8"], "--json", "--measure", "1"])

    def here(self):
        """Medians of both, in turns on the same core."""
        sides = {kind: Tenon(self.build, model, os.path.join(self.work, kind),
                             self.arguments.threads) for kind, model in self.models.items()}
        artifacts = {kind: side.compile()[0] for kind, side in sides.items()}
        counts = {kind: bench_peer.counts_for(side.run(artifacts[kind], 1, 3)["min_ms"])
                  for kind, side in sides.items()}
        runs = {kind: [] for kind in sides}
        for _ in range(self.arguments.rounds):
            for kind, side in sides.items():
                runs[kind].append(side.run(artifacts[kind], *counts[kind])["median_ms"])
        ratios = [b / a for a, b in zip(runs["float"], runs["int8"])]
        return {**{kind: statistics.median(times) for kind, times in runs.items()},
                "ratio": statistics.median(ratios)}

    def counted(self, mcpu):
        """Instructions of both on an emulated processor."""
        count = self.on_board if mcpu in MICRO else self.on_linux
        row = {kind: count(kind, mcpu) for kind in self.models}
        return {**row, "ratio": row["int8"] / row["float"]}

    def on_linux(self, kind, mcpu):
        side = Tenon(self.build, self.models[kind], os.path.join(self.work, kind, mcpu), 1)
        target, emulator, processor = linux_of(mcpu)
        artifact = side.compile(options=["--target", target])[0]
        runner = [instruction_count.tenon_runner(self.build, processor), artifact, "2"]
        return int(instruction_count.run_counted(self.build, emulator, runner))

    def on_board(self, kind, mcpu):
        return Tenon.call([self.tenon, "bench", "--json", "--target", f"c -mcpu={mcpu}",
                           "--executor", "aot", self.models[kind]])["instructions"]


def networks(arguments, wanted):
    """Names and folders of networks of convolutions, or of those that are wanted by name: stored ones, then the zoo's."""
    tenon = os.path.join(arguments.build, "bin/tenon")
    zoo = bench_zoo.names_of(os.path.join(arguments.build, "bin/tenon-zoo"))
    stored = bench_peer.models_of(bench_peer.models_folder(), wanted)
    found = [(name, folder) for name, folder in stored if not name.endswith("-int8")]
    names = {name for name, _ in found}
    found += [(name, None) for name in zoo if name not in names and (not wanted or name in wanted)]
    for name, folder in found:
        folder = folder or bench_zoo.model_folder(arguments, name)
        facts = Tenon.call([tenon, "inspect", "--json", os.path.join(folder, "model.onnx")])
        if name in (wanted or ()) or is_convolutional(facts["operators"]):
            yield name, folder


def measured(network, columns):
    """A cell of every column: float, int8 and ratio, or why there is none."""
    row = {}
    for column in columns:
        try:
            row[column] = network.here() if column == "here" else network.counted(column)
        except RuntimeError as error:
            row[column] = {"reason": str(error)}
    return row


def text_of(column, cell):
    if "ratio" not in cell:
        return f"{'–':>10} {'–':>9} {'–':>5}"
    scale, digits = (1, 3) if column == "here" else (1e6, 2)
    return (f"{cell['float'] / scale:10.{digits}f} {cell['int8'] / scale:9.{digits}f} "
            f"{cell['ratio']:5.2f}")


def print_summary(rows, columns):
    """Means, what is not faster, and why cells are empty."""
    print()
    for column in columns:
        ratios = [row[column]["ratio"] for row in rows.values() if "ratio" in row[column]]
        late = [name for name, row in rows.items() if column in slower(row)]
        if ratios:
            print(f"{column}: geometric mean of {len(ratios)} ratios "
                  f"{bench_peer.geometric_mean(ratios):.3f}; not faster: {', '.join(late) or 'none'}")
    for name, row in rows.items():
        for column, cell in row.items():
            if "reason" in cell:
                print(f"{name} has no figure for {column}: {cell['reason']}")


def main(arguments, wanted):
    """Exit status 1 where integers are slower than floats anywhere, or nothing was measured."""
    columns = [column for column in arguments.on.split(",") if column]
    machine = bench_peer.peak_of(arguments.build)
    print(f"machine: {machine}")
    print("here: medians in ms, in turns, pinned; elsewhere: millions of instructions, emulated\n")
    print(f"{'model':32} " + " ".join(f"{column:>10} {'int8':>9} {'i8/f':>5}" for column in columns))
    rows = {}
    for name, folder in networks(arguments, wanted):
        try:
            network = Network(arguments, name, folder)
        except RuntimeError as error:
            print(f"{name:32} not quantized: {error}", flush=True)
            continue
        row = rows[name] = measured(network, columns)
        print(f"{name:32} " + " ".join(text_of(column, row[column]) for column in columns),
              flush=True)
    print_summary(rows, columns)
    bench_peer.write_json(arguments.json, machine, arguments.threads, rows)
    return 1 if not rows or any(slower(row) for row in rows.values()) else 0
