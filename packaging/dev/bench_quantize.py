#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantizes float models with `tenon quantize` and holds the result against them, side by side.

usage: bench_quantize.py [--build DIR] [--models A,B] [--threads N] [--rounds N] [--json FILE]
       bench_quantize.py --layers [--build DIR] [--models A,B]
       bench_quantize.py --speed [--build DIR] [--models A,B] [--on here,cortex-a72,..] [--json FILE]
       bench_quantize.py --tasks [--build DIR] [--models A,B] [--examples N] [--json FILE]
For each model: the signal to noise ratio of its worst output in dB for every way to choose ranges and for
one scale per layer's weights, calibrated on the model's own data sets; then the times of the float
model and of the integers (minmax), Tenon and ONNX Runtime in turns. Below 1, "int8/float" says that
integers are faster, "ratio" that Tenon is faster than ONNX Runtime on the same integers. Models come
from TENON_TEST_DATA (or ../shared/data).
With --layers: no times, but the ratio of what every layer makes, in dB, by the same ways.
With --speed: every network of convolutions there is, the zoo's, too, and whatever --models names, floats
against integers of ours: times here in turns, and instructions on emulated processors (of --on: here, AArch64's and Cortex-M's by name, x86-64,
nehalem, haswell, cortex-a7, riscv64, riscv64+v); exit status 1 where integers are not faster.
With --tasks: what integers cost where answers are known, on data that tasks/ makes (needs python3-numpy);
exit status 1 when a task loses more than it may.
"""
import argparse
import os
import sys

import bench_peer
from bench_peer import Peer, Tenon

WAYS = {"minmax": [], "percentile": ["--method", "percentile"],
        "entropy": ["--method", "entropy"], "mse": ["--method", "mse"],
        "tensor": ["--per-tensor"]}


def quantized(arguments, folder, path, options):
    """What `tenon quantize` reports of the model that it wrote to `path`."""
    return Tenon.call([os.path.join(arguments.build, "bin/tenon"), "quantize",
                       os.path.join(folder, "model.onnx"), "--data", folder, "-o", path, "--json",
                       *options])


def work_folder(arguments, name):
    work = os.path.join(os.path.abspath(arguments.build), "bench/quantize", name)
    os.makedirs(work, exist_ok=True)
    return work


def print_layers(arguments, name, folder):
    """Tensors that are no input and have a range of their own, in order; the outputs last."""
    work, columns = work_folder(arguments, name), {}
    for way, options in WAYS.items():
        report = quantized(arguments, folder, os.path.join(work, way + "-layers.onnx"), options)
        found = {tensor["name"]: tensor["measured_sqnr_db"] for tensor in report["tensors"]
                 if tensor["node"] and "same_as" not in tensor}
        found.update({"output " + output["name"]: output["sqnr_db"]
                      for output in report["outputs"]})
        columns[way] = found
    print(f"\n{name:60} {' '.join(f'{way[:10]:>10}' for way in WAYS)}")
    for tensor in columns["minmax"]:
        shown = tensor if len(tensor) <= 58 else ".." + tensor[-56:]
        cells = " ".join(f"{columns[way].get(tensor, float('nan')):10.1f}" for way in WAYS)
        print(f"  {shown:58} {cells}", flush=True)


def write_all(arguments, name, folder):
    """The folder of the integer model, laid out as that of the float one, and dB by way."""
    work = work_folder(arguments, name)
    losses = {}
    for way, options in WAYS.items():
        file = "model.onnx" if way == "minmax" else way + ".onnx"
        report = quantized(arguments, folder, os.path.join(work, file), options)
        losses[way] = min(output["sqnr_db"] for output in report["outputs"])
    inputs = os.path.join(work, "test_data_set_0")
    if not os.path.exists(inputs):
        os.symlink(os.path.join(os.path.abspath(folder), "test_data_set_0"), inputs)
    return work, losses


def timed(arguments, folder, work):
    peer = Peer(arguments.build, arguments.library, folder, arguments.threads)
    try:
        tenon = Tenon(arguments.build, os.path.join(folder, "model.onnx"), work, arguments.threads)
        return bench_peer.measure(tenon, peer, arguments.rounds,
                                  os.path.join(folder, "test_data_set_0"))
    finally:
        peer.close()


def bench_one(arguments, name, folder):
    integers, losses = write_all(arguments, name, folder)
    row = timed(arguments, integers, os.path.join(integers, "int8"))
    real = timed(arguments, folder, os.path.join(integers, "float"))
    return {**row, "sqnr_db": losses, "float_median_ms": real["tenon_median_ms"],
            "ort_float_median_ms": real["ort_median_ms"]}


def print_row(name, row):
    losses = " ".join(f"{row['sqnr_db'][way]:7.1f}" for way in WAYS)
    gain = row["tenon_median_ms"] / row["float_median_ms"]
    print(f"{name:34} {losses} {row['float_median_ms']:9.3f} {row['tenon_median_ms']:9.3f} "
          f"{gain:6.2f} {row['ort_float_median_ms']:9.3f} {row['ort_median_ms']:9.3f} "
          f"{bench_peer.ratio_text(row):>6}", flush=True)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    bench_peer.add_arguments(parser, rounds=5)
    parser.add_argument("--models", default="", help="comma-separated; default all float models")
    parser.add_argument("--layers", action="store_true", help="dB of every layer, without times")
    parser.add_argument("--speed", action="store_true", help="times of integers beside floats")
    parser.add_argument("--on", default="here,cortex-a72,cortex-a76,cortex-m4",
                        help="with --speed: this computer, and processors to emulate")
    parser.add_argument("--tasks", action="store_true", help="accuracy on labelled tasks")
    parser.add_argument("--examples", type=int, default=5000, help="of each task to test with")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    wanted = [name for name in arguments.models.split(",") if name]
    if arguments.layers:
        for name, folder in bench_peer.models_of(bench_peer.models_folder(), wanted):
            if not name.endswith("-int8"):
                print_layers(arguments, name, folder)
        return 0
    arguments.library = bench_peer.library_of_peer(arguments.build)
    if arguments.speed:
        import quantize_speed
        return quantize_speed.main(arguments, wanted)
    if arguments.tasks:
        from tasks import bench  # numpy, which nothing else here needs
        return bench.main(arguments)
    data = bench_peer.models_folder()
    machine = bench_peer.peak_of(arguments.build)
    print(f"machine: {machine}")
    print(f"{arguments.threads} thread(s), pinned; dB of the worst output by way, then medians in ms\n")
    print(f"{'model':34} {' '.join(f'{way[:7]:>7}' for way in WAYS)} {'float':>9} {'int8':>9} "
          f"{'i8/f':>6} {'ort float':>9} {'ort int8':>9} {'ratio':>6}")
    rows = {}
    for name, folder in bench_peer.models_of(data, wanted):
        if name.endswith("-int8"):
            continue
        try:
            rows[name] = bench_one(arguments, name, folder)
        except (RuntimeError, KeyError) as error:
            print(f"{name:34} not measured: {error}", flush=True)
            continue
        print_row(name, rows[name])
    bench_peer.print_mean(rows, "ratios on integers")
    bench_peer.write_json(arguments.json, machine, arguments.threads, rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
