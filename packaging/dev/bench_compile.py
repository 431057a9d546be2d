#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times compiles, cold and from the kernel cache, and the first inference against ONNX Runtime.

usage: bench_compile.py [--build DIR] [--models A,B] [--rounds N] [--json FILE]
cold: --no-cache. new: the same compile again into a new file, every kernel from the cache. same: and
onto its own output, which is found as it should be and not written. change: after one node of the
model became another operator, so that its kernel is compiled and all others are reused.
first: loading the artifact and running it once in a new process, against ONNX Runtime's session
creation and first run in another; starting the processes and reading inputs count for neither.
Each is the best of the rounds. The outputs of both are compared; where they differ there is no ratio.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

import bench_peer
from bench_peer import Peer, Tenon

# What changes a model by one node: operators whose names are equally long, of the same operands.
SWAPS = [(b"Relu", b"Tanh"), (b"Erf", b"Sin"), (b"Add", b"Sub"), (b"Sigmoid", b"Softmax")]


def zoo_model(arguments, name):
    """Folder of a model of the zoo, with seeded weights, made now; its input is zeros."""
    folder = os.path.join(arguments.build, "bench", "zoo-" + name)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    subprocess.run([os.path.join(arguments.build, "bin/tenon-zoo"), name,
                    os.path.join(folder, "model.onnx")], check=True)
    dims = (1, 3, 224, 224)
    raw = bytes(4 * 3 * 224 * 224)
    size, length = len(raw), b""
    while size >= 0x80:
        length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
    with open(os.path.join(data, "input_0.pb"), "wb") as file:  # dims, FLOAT, raw_data
        for dim in dims:
            file.write(b"\x08" + (bytes([dim & 0x7F | 0x80, dim >> 7]) if dim > 127
                                  else bytes([dim])))
        file.write(b"\x10\x01\x4a" + length + bytes([size]) + raw)
    return folder


def write_changed(folder, work):
    """Path of the model with one node's operator changed; None when it has none of SWAPS."""
    with open(os.path.join(folder, "model.onnx"), "rb") as file:
        model = file.read()
    for old, new in SWAPS:
        field = b"\x22" + bytes([len(old)])  # NodeProto.op_type
        if field + old in model:
            path = os.path.join(work, "changed.onnx")
            with open(path, "wb") as file:
                file.write(model.replace(field + old, field + new, 1))
            return path
    return None


def compile_changed(tenon, model, cache, work):
    """Report of a compile of the changed model with the cache of the unchanged one."""
    scratch = os.path.join(work, "changed-cache")
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(cache, scratch)
    _, report = Tenon(tenon.build, model, os.path.join(work, "changed"),
                      tenon.threads).compile(cache=scratch)
    return report


def first_run_ms(tenon, artifact, folder):
    done = subprocess.run(
        bench_peer.pin_for(tenon.threads)
        + [os.path.join(tenon.build, "bin/first_run"), artifact,
           os.path.join(folder, "test_data_set_0")], check=True, capture_output=True, text=True)
    times = json.loads(done.stdout)
    return times["load_ms"] + times["run_ms"]


def compiled_of(report):
    return sum(not kernel["from_cache"] for kernel in report["kernels"])


def bench_one(name, folder, arguments):
    work = os.path.join(arguments.build, "bench", name)
    tenon = Tenon(arguments.build, os.path.join(folder, "model.onnx"), work, arguments.threads)
    cache = os.path.join(work, "cache")
    shutil.rmtree(cache, ignore_errors=True)
    artifact, _ = tenon.compile(cache=cache)
    changed = write_changed(folder, work)
    totals = {"cold_ms": [], "new_ms": [], "same_ms": [], "change_ms": [], "first_run_ms": [],
              "ort_first_run_ms": []}
    row = {"difference": ""}
    for _ in range(arguments.rounds):
        _, report = tenon.compile(options=["--no-cache"])
        totals["cold_ms"].append(report["phases"]["total_ms"])
        row["kernels"] = len(report["kernels"])
        _, report = tenon.compile(cache=cache)
        totals["new_ms"].append(report["phases"]["total_ms"])
        artifact, report = tenon.compile(cache=cache, onto_old=True)
        totals["same_ms"].append(report["phases"]["total_ms"])
        if changed:
            report = compile_changed(tenon, changed, cache, work)
            totals["change_ms"].append(report["phases"]["total_ms"])
            row["change_compiled"] = compiled_of(report)
            row["change_reused"] = len(report["kernels"]) - compiled_of(report)
        totals["first_run_ms"].append(first_run_ms(tenon, artifact, folder))
        peer = Peer(arguments.build, arguments.library, folder, arguments.threads)
        totals["ort_first_run_ms"].append(peer.start["session_ms"] + peer.start["first_run_ms"])
        row["difference"] = row["difference"] or tenon.difference_from(
            peer, artifact, os.path.join(folder, "test_data_set_0"))
        peer.close()
    row.update({key: min(values) if values else None for key, values in totals.items()})
    if not row["difference"]:
        row["ratio"] = row["first_run_ms"] / row["ort_first_run_ms"]
    return row


def print_row(name, row):
    change = (f"{row['change_ms']:9.1f} {row['change_compiled']:4d}/{row['change_reused']:<4d}"
              if row["change_ms"] else f"{'':9} {'':9}")
    print(f"{name:32} {row['cold_ms']:9.1f} {row['kernels']:7d} {row['new_ms']:9.1f} "
          f"{row['same_ms']:9.1f} {change} "
          f"{row['first_run_ms']:9.2f} {row['ort_first_run_ms']:9.2f} "
          f"{bench_peer.ratio_text(row):>6}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    bench_peer.add_arguments(parser, rounds=5)
    parser.add_argument("--models", default="", help="comma-separated; default all, and resnet50")
    arguments = parser.parse_args()
    arguments.build = os.path.abspath(arguments.build)  # compiles run in folders of their own
    data = bench_peer.models_folder()
    wanted = [name for name in arguments.models.split(",") if name]
    arguments.library = bench_peer.library_of_peer(arguments.build)
    machine = bench_peer.peak_of(arguments.build)
    models = bench_peer.models_of(data, wanted)
    if not wanted or "resnet50" in wanted:
        models.append(("resnet50", zoo_model(arguments, "resnet50")))
    print(f"machine: {machine}\n")
    print(f"{'model':32} {'cold ms':>9} {'kernels':>7} {'new ms':>9} {'same ms':>9} {'change ms':>9} "
          f"{'new/old':>9} {'first ms':>9} {'ort':>9} {'ratio':>6}")
    rows = {}
    for name, folder in models:
        try:
            rows[name] = bench_one(name, folder, arguments)
        except (RuntimeError, KeyError, subprocess.CalledProcessError) as error:
            print(f"{name:32} not measured: {error}")
            continue
        print_row(name, rows[name])
    bench_peer.print_mean(rows, "first-run ratios")
    bench_peer.write_json(arguments.json, machine, arguments.threads, rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
