#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times compiles, cold and from the kernel cache, and the first inference against ONNX Runtime.

usage: bench_compile.py [--build DIR] [--models A,B] [--rounds N] [--json FILE]
cold: --no-cache; warm: the same again. first run: a new process loads the artifact and runs it
once; ONNX Runtime's loads the model, optimises it and runs it once. Both are whole processes, the
best of the rounds.
"""
import argparse
import os
import subprocess
import sys
import time

import bench_peer
from bench_peer import Peer, Tenon

DEFAULT = ("resnet18,mobilenet_v2,squeezenet1_1,unet_small,bert_tiny,vit_tiny,kws_dscnn,"
           "ic_resnet8")


def seconds_of(action):
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1e3


def run_artifact(tenon, artifact, folder):
    subprocess.run([tenon.program, "run", artifact, "--inputs",
                    os.path.join(folder, "test_data_set_0")], check=True,
                   stdout=subprocess.DEVNULL)


def bench_one(name, folder, arguments):
    tenon = Tenon(arguments.build, os.path.join(folder, "model.onnx"),
                  os.path.join(arguments.build, "bench", name), arguments.threads)
    cold, warm, first, peer = [], [], [], []
    for _ in range(arguments.rounds):
        _, report = tenon.compile(options=["--no-cache"])
        cold.append(report["phases"]["total_ms"])
        artifact, report = tenon.compile()
        warm.append(report["phases"]["total_ms"])
        first.append(seconds_of(lambda: run_artifact(tenon, artifact, folder)))
        peer.append(seconds_of(
            lambda: Peer(arguments.build, arguments.library, folder, arguments.threads).close()))
    return {"cold_ms": min(cold), "warm_ms": min(warm), "first_run_ms": min(first),
            "ort_first_run_ms": min(peer), "ratio": min(first) / min(peer)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    bench_peer.add_arguments(parser, rounds=5)
    parser.add_argument("--models", default=DEFAULT)
    arguments = parser.parse_args()
    data = bench_peer.models_folder()
    arguments.library = bench_peer.library_of_peer(arguments.build)
    machine = bench_peer.peak_of(arguments.build)
    print(f"machine: {machine}\n")
    print(f"{'model':16} {'cold ms':>9} {'warm ms':>9} {'first run':>10} {'ort':>9} {'ratio':>6}")
    rows = {}
    for name in arguments.models.split(","):
        try:
            row = rows[name] = bench_one(name, os.path.join(data, "exported", name), arguments)
        except (RuntimeError, KeyError, subprocess.CalledProcessError) as error:
            print(f"{name:16} not measured: {error}")
            continue
        print(f"{name:16} {row['cold_ms']:9.1f} {row['warm_ms']:9.1f} {row['first_run_ms']:10.1f} "
              f"{row['ort_first_run_ms']:9.1f} {row['ratio']:6.2f}", flush=True)
    bench_peer.write_json(arguments.json, machine, arguments.threads, rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
