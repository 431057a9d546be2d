#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times single operators in Tenon and ONNX Runtime side by side.

usage: bench_kernels.py [--build DIR] [--kernels A,B] [--rounds N] [--json FILE]
Each kernel runs as a short and as a long chain of equal operators, both sides and both chains in
turns. Times are per operator: the difference of the chains' times over the difference of their
lengths, which leaves out what each chain does once, such as the move into a blocked layout and
back. GFLOP/s count the operator's own multiply-adds, of which Winograd convolutions do fewer.
Convolutions of bytes are compared with the peak of the instructions that multiply four of them per
lane. The bound is what an operator of the method that was chosen can reach at best: it computes
at the peak what it cannot leave out, or copies its data as fast as the cache or memory that holds
them can be copied, or reads its weights. The peak and the rates are the best of the rounds, as the
times are, in turns with the chains: other programs and the clock change what the computer can do
from one minute to the next. A row whose outputs differ from ONNX Runtime's has no ratio.
Strided convolutions stand side by side on one input; of each output a pool takes every sixteenth
row and column, which costs next to nothing.
"""
import argparse
import math
import os
import random
import re
import struct
import sys

import bench_peer
import onnx_writer
from bench_peer import Peer, Tenon

SHORT, LONG = 4, 12  # operators per chain
ROUND_MS = 80  # the chains change over often, so that both see the same clock and the same load


class Convolutions:
    """Convolutions that alternate between two channel counts."""
    peak = "fp32_gflops_per_core"
    element = 4  # bytes

    def __init__(self, kernel, channels, other, size, groups=1, options=()):
        self.kernel, self.channels, self.other = kernel, channels, other
        self.size, self.groups = size, groups
        self.options = options  # of Tenon's compile

    def shape(self):
        return [1, self.channels, self.size, self.size]

    def result_shape(self):
        return self.shape()

    def shapes_of(self, index):
        """Shape of one operator's weight, and the operator's attributes."""
        into, out = (self.channels, self.other) if index % 2 == 0 else (self.other, self.channels)
        k = self.kernel
        weight = [out, into // self.groups, k, k]
        return weight, {"kernel_shape": [k, k], "pads": [k // 2] * 4, "group": self.groups}

    def chain(self, count):
        """Nodes, weights and the name of the last value."""
        nodes, weights = [], []
        for index in range(count):
            shape, attributes = self.shapes_of(index)
            scale = 1 / math.prod(shape[1:]) ** 0.5
            weights.append(made_up_tensor(f"w{index}", shape, index, scale))
            nodes.append(onnx_writer.node("Conv", f"y{index}", [before(index), f"w{index}"],
                                          [f"y{index}"], **attributes))
        return nodes, weights, f"y{count - 1}"

    def flops(self):
        return (2 * self.channels * self.other // self.groups * self.kernel ** 2 * self.size ** 2)

    def inside_share(self):
        """Of the products, those that meet the image and not its padding."""
        met = sum(0 <= at + tap - self.kernel // 2 < self.size
                  for at in self.positions() for tap in range(self.kernel))
        return (met / len(self.positions()) / self.kernel) ** 2

    def positions(self):
        return range(self.size)

    def copied(self):
        """Bytes that go in, or come out, on average."""
        return (self.channels + self.other) / 2 * self.size ** 2 * self.element

    def weights(self):
        return math.prod(self.shapes_of(0)[0]) * self.element


class StridedConvolutions(Convolutions):
    """Convolutions of stride 2 side by side on one input."""

    def out_size(self):
        return (self.size + 1) // 2

    def result_shape(self):
        kept = (self.out_size() - 1) // 16 + 1
        return [1, self.other, kept, kept]

    def chain(self, count):
        nodes, weights = [], []
        for index in range(count):
            shape, attributes = self.shapes_of(0)
            scale = 1 / math.prod(shape[1:]) ** 0.5
            weights.append(made_up_tensor(f"w{index}", shape, index, scale))
            nodes += [onnx_writer.node("Conv", f"y{index}", ["x", f"w{index}"], [f"y{index}"],
                                       strides=[2, 2], **attributes),
                      onnx_writer.node("MaxPool", f"p{index}", [f"y{index}"], [f"p{index}"],
                                       kernel_shape=[1, 1], strides=[16, 16])]
            if index:
                nodes.append(onnx_writer.node("Add", f"s{index}",
                                              [f"s{index - 1}" if index > 1 else "p0",
                                               f"p{index}"], [f"s{index}"]))
        return nodes, weights, f"s{count - 1}"

    def flops(self):
        return 2 * self.channels * self.other * self.kernel ** 2 * self.out_size() ** 2

    def positions(self):
        return range(0, self.size, 2)

    def copied(self):
        read = self.size if self.kernel > 1 else self.out_size()  # rows between are not looked at
        into = self.channels * read ** 2
        return (into + self.other * self.out_size() ** 2) / 2 * self.element


class QuantizedConvolutions(Convolutions):
    """The same on unsigned bytes with weights of signed bytes."""
    peak = "int8_gops_per_core"
    element = 1

    def chain(self, count):
        scalar = [("s", onnx_writer.FLOAT, struct.pack("<f", 1 / 64)),
                  ("z", onnx_writer.UINT8, bytes([128])),
                  ("sw", onnx_writer.FLOAT, struct.pack("<f", 1 / 1024)),
                  ("zw", onnx_writer.INT8, bytes([0]))]
        weights = [onnx_writer.tensor(name, [], raw, kind) for name, kind, raw in scalar]
        nodes = [onnx_writer.node("QuantizeLinear", "q", ["x", "s", "z"], ["q"])]
        for index in range(count):
            shape, attributes = self.shapes_of(index)
            raw = random.Random(index).randbytes(math.prod(shape))
            weights.append(onnx_writer.tensor(f"w{index}", shape, raw, onnx_writer.INT8))
            nodes.append(onnx_writer.node(
                "QLinearConv", f"y{index}",
                [before(index, "q"), "s", "z", f"w{index}", "sw", "zw", "s", "z"], [f"y{index}"],
                **attributes))
        nodes.append(onnx_writer.node("DequantizeLinear", "out", [f"y{count - 1}", "s", "z"],
                                      ["out"]))
        return nodes, weights, "out"


class Products:
    """A matrix times constant square matrices."""
    peak = "fp32_gflops_per_core"
    options = ()

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns

    def shape(self):
        return [self.rows, self.columns]

    def result_shape(self):
        return self.shape()

    def chain(self, count):
        nodes, weights = [], []
        for index in range(count):
            weights.append(made_up_tensor(f"w{index}", [self.columns, self.columns], index,
                                          1 / self.columns ** 0.5))
            nodes.append(onnx_writer.node("MatMul", f"y{index}", [before(index), f"w{index}"],
                                          [f"y{index}"]))
        return nodes, weights, f"y{count - 1}"

    def flops(self):
        return 2 * self.rows * self.columns ** 2

    def inside_share(self):
        return 1

    def copied(self):
        return 4 * self.rows * self.columns

    def weights(self):
        return 4 * self.columns ** 2


DIRECT = ("--pass-config", "winograd.max_error=0")

KERNELS = {
    "conv3x3 64 @56": Convolutions(3, 64, 64, 56),
    "conv3x3 128 @28": Convolutions(3, 128, 128, 28),
    "conv3x3 256 @14": Convolutions(3, 256, 256, 14),
    "conv3x3 512 @7": Convolutions(3, 512, 512, 7),
    "direct conv3x3 64 @56": Convolutions(3, 64, 64, 56, options=DIRECT),
    "direct conv3x3 128 @28": Convolutions(3, 128, 128, 28, options=DIRECT),
    "direct conv3x3 256 @14": Convolutions(3, 256, 256, 14, options=DIRECT),
    "direct conv3x3 512 @7": Convolutions(3, 512, 512, 7, options=DIRECT),
    "conv3x3 s2 64->128 @56": StridedConvolutions(3, 64, 128, 56),
    "conv3x3 s2 256->512 @14": StridedConvolutions(3, 256, 512, 14),
    "conv1x1 s2 64->128 @56": StridedConvolutions(1, 64, 128, 56),
    "conv7x7 s2 3->64 @224": StridedConvolutions(7, 3, 64, 224),
    "conv1x1 64<->256 @56": Convolutions(1, 64, 256, 56),
    "conv1x1 256<->1024 @14": Convolutions(1, 256, 1024, 14),
    "conv1x1 512<->2048 @7": Convolutions(1, 512, 2048, 7),
    "depthwise3x3 96 @112": Convolutions(3, 96, 96, 112, groups=96),
    "depthwise3x3 144 @56": Convolutions(3, 144, 144, 56, groups=144),
    "depthwise3x3 192 @28": Convolutions(3, 192, 192, 28, groups=192),
    "depthwise3x3 384 @14": Convolutions(3, 384, 384, 14, groups=384),
    "depthwise3x3 960 @7": Convolutions(3, 960, 960, 7, groups=960),
    "int8 conv3x3 64 @56": QuantizedConvolutions(3, 64, 64, 56),
    "int8 conv3x3 128 @28": QuantizedConvolutions(3, 128, 128, 28),
    "int8 conv3x3 256 @14": QuantizedConvolutions(3, 256, 256, 14),
    "int8 conv3x3 512 @7": QuantizedConvolutions(3, 512, 512, 7),
    "int8 conv1x1 64<->256 @56": QuantizedConvolutions(1, 64, 256, 56),
    "int8 conv1x1 256<->1024 @14": QuantizedConvolutions(1, 256, 1024, 14),
    "matmul 128x768x768": Products(128, 768),
    "matmul 128x128x128": Products(128, 128),
    "matmul 197x192x192": Products(197, 192),
}


def before(index, first="x"):
    return f"y{index - 1}" if index else first


def made_up_tensor(name, shape, seed, scale=1.0):
    """Float32 elements of a short random sequence, repeated."""
    source = random.Random(seed)
    period = struct.pack("<1009f", *(source.uniform(-scale, scale) for _ in range(1009)))
    size = 4 * math.prod(shape)
    return onnx_writer.tensor(name, shape, (period * (size // len(period) + 1))[:size])


def write_chain(kernel, count, folder):
    nodes, weights, value = kernel.chain(count)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(onnx_writer.model("main", nodes, weights, [("x", kernel.shape())],
                                     [(value, kernel.result_shape())], "bench_kernels", opset=17))
    with open(os.path.join(data, "input_0.pb"), "wb") as file:
        file.write(made_up_tensor("x", kernel.shape(), 99))


def rate_at(machine, moved, rate):
    """Between two measured sizes the rate changes evenly with the logarithm of the size."""
    rates = machine["bandwidth"]
    above = next((i for i, each in enumerate(rates) if each["bytes"] >= moved), None)
    if above is None or above == 0:
        return rates[-1 if above is None else 0][rate]
    low, high = rates[above - 1], rates[above]
    part = math.log(moved / low["bytes"]) / math.log(high["bytes"] / low["bytes"])
    return low[rate] + part * (high[rate] - low[rate])


def least_flops(kernel, method):
    """What no kernel of that method can leave out: no products with padding, and of a Winograd
    convolution those of its tiles."""
    tile = re.match(r"Winograd F\((\d)x", method)
    if tile:
        m = int(tile.group(1))
        return kernel.flops() * (m + 2) ** 2 / (9 * m ** 2)
    return kernel.flops() * kernel.inside_share()


def bound_ms(kernel, machine, threads, method):
    """Least time of one operator, as remote/roofline/call_bound has it: to compute, to move its data
    where the operator before it left them, or to read its weights where all of a chain's lie."""
    compute = least_flops(kernel, method) / (machine.get(kernel.peak) * threads or math.inf)
    data = kernel.copied() / (rate_at(machine, 2 * kernel.copied(), "copy_gb_s") * threads)
    weights = kernel.weights() / (
        rate_at(machine, SHORT * kernel.weights(), "read_gb_s") * threads)
    return max(compute, data, weights) / 1e6


class Chain:
    """One chain on both sides."""

    def __init__(self, kernel, count, folder, arguments):
        folder = os.path.join(folder, str(count))
        write_chain(kernel, count, folder)
        self.peer = Peer(arguments.build, arguments.library, folder, arguments.threads)
        self.tenon = Tenon(arguments.build, os.path.join(folder, "model.onnx"), folder,
                           arguments.threads)
        self.artifact, _ = self.tenon.compile(options=kernel.options)
        self.difference = self.tenon.difference_from(self.peer, self.artifact,
                                                     os.path.join(folder, "test_data_set_0"))
        self.number, self.repeat = bench_peer.counts_for(self.peer.ask("run 3")["min_ms"], ROUND_MS)
        self.rounds = {"tenon": [], "ort": []}

    def run(self):
        self.rounds["ort"].append(self.peer.ask(f"run {self.number * self.repeat}"))
        self.rounds["tenon"].append(self.tenon.run(self.artifact, self.number, self.repeat))

    def least(self, side, key):
        """Of all rounds: other programs only ever add to it."""
        return min(times[key] for times in self.rounds[side])


def per_operator(short, long):
    """Best times of one operator, its medians in the quietest rounds, and the ratio of these."""
    row = {}
    for side in ("tenon", "ort"):
        for name, key in (("_ms", "min_ms"), ("_median_ms", "median_ms")):
            row[side + name] = (long.least(side, key) - short.least(side, key)) / (LONG - SHORT)
    if min(row.values()) <= 0:
        raise RuntimeError("a long chain took no longer than a short one; measure on a computer "
                           "that is less busy, or in more --rounds")
    row["difference"] = short.difference or long.difference
    if not row["difference"]:
        row["ratio"] = row["tenon_median_ms"] / row["ort_median_ms"]
    return row


def share_of_bound(least, ms):
    """None where more than noise is beyond the bound: then what was measured of the machine is not
    what bounds it."""
    return None if least > 1.1 * ms else min(least / ms, 1)


def bench_one(name, kernel, arguments, machines):
    """The kernel's row; what each round saw of the machine is added to `machines`."""
    folder = os.path.join(arguments.build, "bench/kernels",
                          "".join(c if c.isalnum() else "_" for c in name))
    chains, seen = [], []
    try:
        for count in (SHORT, LONG):
            chains.append(Chain(kernel, count, folder, arguments))
        for _ in range(arguments.rounds):
            seen.append(bench_peer.peak_of(arguments.build))
            for chain in chains:
                chain.run()
    finally:
        for chain in chains:
            chain.peer.close()
    machines += seen
    machine = bench_peer.best_of(seen)
    row = per_operator(*chains)
    methods = [method for method in chains[-1].tenon.methods if method]
    row["method"] = max(set(methods), key=methods.count) if methods else ""
    row["peak_gflops"] = machine.get(kernel.peak) * arguments.threads
    row["bound_ms"] = bound_ms(kernel, machine, arguments.threads, row["method"])
    row["tenon_of_bound"] = share_of_bound(row["bound_ms"], row["tenon_ms"])
    for side in ("tenon", "ort"):
        row[f"{side}_gflops"] = kernel.flops() / row[side + "_ms"] / 1e6
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    bench_peer.add_arguments(parser, rounds=15)
    parser.add_argument("--kernels", default="", help="comma-separated parts of names; default all")
    arguments = parser.parse_args()
    arguments.library = bench_peer.library_of_peer(arguments.build)
    machines = [bench_peer.peak_of(arguments.build)]
    print(f"machine: {machines[0]}")
    print(f"{arguments.threads} thread(s), pinned, in turns; best time per operator beyond {SHORT} of "
          f"a chain of {LONG}; ratio of the medians of the quietest rounds\n")
    print(f"{'kernel':28} {'tenon ms':>9} {'GFLOP/s':>8} {'bound':>6} {'ort ms':>9} {'GFLOP/s':>8} "
          f"{'ratio':>6}  method")
    wanted = [part for part in arguments.kernels.split(",") if part]
    rows = {}
    for name, kernel in KERNELS.items():
        if wanted and not any(part in name for part in wanted):
            continue
        row = rows[name] = bench_one(name, kernel, arguments, machines)
        share = "–" if row["tenon_of_bound"] is None else f"{row['tenon_of_bound']:.0%}"
        print(f"{name:28} {row['tenon_ms']:9.4f} {row['tenon_gflops']:8.1f} {share:>6} "
              f"{row['ort_ms']:9.4f} {row['ort_gflops']:8.1f} {bench_peer.ratio_text(row):>6}  "
              f"{row['method']}", flush=True)
    bench_peer.print_mean(rows, "ratios")
    bench_peer.write_json(arguments.json, bench_peer.best_of(machines), arguments.threads, rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
