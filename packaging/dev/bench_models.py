#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Tenon and ONNX Runtime side by side, in turns, pinned to the same cores.

usage: bench_models.py [--build DIR] [--models A,B] [--threads N] [--rounds N] [--no-ladder]
                       [--tvm CHECKOUT] [--shape TEXT] [FILE.onnx ...]
The outputs of both are compared in the same run; a row whose outputs differ has no ratio.
Models are the files that are named, with the inputs of test_data_set_0 beside them or made-up ones,
or else those of TENON_TEST_DATA (or ../shared/data). A ratio below 1 means Tenon is faster.
"""
import argparse
import hashlib
import math
import os
import subprocess
import sys

import bench_peer
from bench_peer import Peer, Tenon

def ladder(tenon, rounds):
    """Best time at each opt level; the levels take turns."""
    artifacts = {level: tenon.compile(level)[0] for level in range(4)}
    number = {level: bench_peer.counts_for(tenon.run(a, 1, 3)["min_ms"])
              for level, a in artifacts.items()}
    best = {level: math.inf for level in artifacts}
    for _ in range(max(1, rounds // 2)):
        for level, artifact in artifacts.items():
            best[level] = min(best[level], tenon.run(artifact, *number[level])["min_ms"])
    return [best[level] for level in range(4)]


def shape_options(arguments):
    return ["--shape", arguments.shape] if arguments.shape else []


def folder_of(path, arguments):
    """Where the inputs of a file lie; made up, once, where none lie beside it."""
    beside = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(os.path.join(beside, "test_data_set_0")):
        return beside
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read() + (arguments.shape or "").encode()).hexdigest()
    folder = os.path.join(os.path.abspath(arguments.build), "bench/files", digest[:16])
    inputs = os.path.join(folder, "test_data_set_0")
    if not os.path.isdir(inputs):
        done = subprocess.run([os.path.join(arguments.build, "bin/tenon"), "run", path,
                               "--keep-inputs", inputs, *shape_options(arguments)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])
    return folder


def bench_one(name, folder, arguments, model=None):
    folder = folder or folder_of(model, arguments)
    peer = Peer(arguments.build, arguments.library, folder, arguments.threads, model)
    try:
        tenon = Tenon(arguments.build, model or os.path.join(folder, "model.onnx"),
                      os.path.join(arguments.build, "bench", name), arguments.threads,
                      shape_options(arguments))
        row = bench_peer.measure(tenon, peer, arguments.rounds,
                                 os.path.join(folder, "test_data_set_0"),
                                 bench_peer.tvm_of(arguments, name, folder, arguments.threads))
        if not arguments.no_ladder:
            row["ladder_ms"] = ladder(tenon, arguments.rounds)
        return row
    finally:
        peer.close()


def wanted_of(arguments):
    """(name, folder or nothing, file) of each model."""
    if arguments.files:
        parts = [os.path.splitext(os.path.abspath(path))[0].split(os.sep)
                 for path in arguments.files]
        # As much of the path as tells them apart: many are called model.onnx.
        depth = next(n for n in range(1, 99)
                     if len({tuple(p[-n:]) for p in parts}) == len({tuple(p) for p in parts}))
        return [("/".join(p[-depth:]), None, path) for p, path in zip(parts, arguments.files)]
    stored = bench_peer.models_of(bench_peer.models_folder(),
                                  [name for name in arguments.models.split(",") if name])
    return [(name, folder, None) for name, folder in stored]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    bench_peer.add_arguments(parser, rounds=7)
    bench_peer.add_tvm(parser)
    parser.add_argument("--models", default="", help="comma-separated; default all")
    parser.add_argument("--no-ladder", action="store_true")
    parser.add_argument("--shape", help="sizes that the models leave open, as for tenon compile")
    parser.add_argument("files", nargs="*", metavar="FILE.onnx", help="instead of the stored ones")
    arguments = parser.parse_args()
    arguments.library = bench_peer.library_of_peer(arguments.build)
    machine = bench_peer.peak_of(arguments.build)
    print(f"machine: {machine}")
    print(f"{arguments.threads} thread(s), pinned; Tenon and ONNX Runtime take turns; "
          "ratio = Tenon / ORT, the median of the rounds' ratios of medians (lowest..highest)\n")
    print(f"{'model':32} {'tenon min':>10} {'median':>9} {'ort min':>9} {'median':>9} "
          f"{'ratio':>18}   opt level 0, 1, 2, 3 (min ms)")
    rows = {}
    for name, folder, model in wanted_of(arguments):
        try:
            row = rows[name] = bench_one(name, folder, arguments, model)
        except (RuntimeError, KeyError) as error:
            print(f"{name:32} not measured: {error}")
            continue
        steps = " ".join(f"{ms:9.3f}" for ms in row.get("ladder_ms", []))
        spread = f"({row['ratio_low']:.2f}..{row['ratio_high']:.2f})" if "ratio" in row else ""
        print(f"{name:32} {row['tenon_min_ms']:10.3f} {row['tenon_median_ms']:9.3f} "
              f"{row['ort_min_ms']:9.3f} {row['ort_median_ms']:9.3f} "
              f"{bench_peer.ratio_text(row):>5} {spread:>12}   {steps}{bench_peer.tvm_text(row)}",
              flush=True)
    bench_peer.print_mean(rows, "ratios")
    bench_peer.print_tvm(rows)
    bench_peer.write_json(arguments.json, machine, arguments.threads, rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
