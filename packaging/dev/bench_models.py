#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Tenon and ONNX Runtime side by side, in turns, pinned to the same cores.

usage: bench_models.py [--build DIR] [--models A,B] [--threads N] [--rounds N] [--no-ladder]
Models come from TENON_TEST_DATA (or ../shared/data); a ratio below 1 means Tenon is faster.
"""
import argparse
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


def library_of_peer(build):
    """Path of libonnxruntime, installed on demand next to the build and never into the tree."""
    folder = os.path.join(os.path.dirname(os.path.abspath(build)), "npm")
    arch = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
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


class Peer:
    """ONNX Runtime in a process of its own that times runs when told to."""

    def __init__(self, program, library, folder, threads, pin):
        data = os.path.join(folder, "test_data_set_0")
        self.process = subprocess.Popen(
            pin + [program, library, os.path.join(folder, "model.onnx"), data, str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = self.answer()["version"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the peer ended; its message is above")
        return json.loads(line)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Tenon:
    """The command line: compiles once per opt level, then times the artifact."""

    def __init__(self, program, model, work, threads, pin):
        self.program, self.model, self.work = program, model, work
        self.threads, self.pin = threads, pin

    def compile(self, level):
        out = os.path.join(self.work, f"opt{level}.so")
        self.call([self.program, "compile", self.model, "-o", out, "--opt-level", str(level),
                   "--threads", str(self.threads), "--json"])
        return out

    def run(self, artifact, number, repeat):
        report = self.call(self.pin + [
            self.program, "bench", artifact, "--json", "--threads", str(self.threads),
            "--number", str(number), "--repeat", str(repeat), "--min-repeat-ms", "0",
            "--no-pin"])  # taskset pins both sides alike
        runs = sorted(report["runs"])
        return {"min_ms": runs[0], "median_ms": statistics.median(runs)}

    @staticmethod
    def call(command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            message = (done.stderr or done.stdout).strip().splitlines()
            raise RuntimeError(message[-1] if message else f"exit code {done.returncode}")
        return json.loads(done.stdout)


def counts_for(ms):
    """(runs per repeat, repeats) so that a round takes about ROUND_MS and a repeat 1 ms or more."""
    number = max(1, math.ceil(1 / ms))
    return number, max(5, min(200, math.ceil(ROUND_MS / (ms * number))))


def measure(tenon, peer, rounds):
    first = peer.ask("run 3")
    number, repeat = counts_for(first["min_ms"])
    artifact = tenon.compile(3)
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(peer.ask(f"run {number * repeat}"))
        ours.append(tenon.run(artifact, number, repeat))
    ratios = [a["median_ms"] / b["median_ms"] for a, b in zip(ours, theirs)]
    return {"tenon_min_ms": min(r["min_ms"] for r in ours),
            "tenon_median_ms": statistics.median(r["median_ms"] for r in ours),
            "ort_min_ms": min(r["min_ms"] for r in theirs),
            "ort_median_ms": statistics.median(r["median_ms"] for r in theirs),
            "ratio": statistics.median(ratios), "ratio_low": min(ratios),
            "ratio_high": max(ratios)}


def ladder(tenon, rounds):
    """Best time at each opt level; the levels take turns."""
    artifacts = {level: tenon.compile(level) for level in range(4)}
    number = {level: counts_for(tenon.run(a, 1, 3)["min_ms"]) for level, a in artifacts.items()}
    best = {level: math.inf for level in artifacts}
    for _ in range(max(1, rounds // 2)):
        for level, artifact in artifacts.items():
            best[level] = min(best[level], tenon.run(artifact, *number[level])["min_ms"])
    return [best[level] for level in range(4)]


def print_header(build, threads):
    peak = subprocess.run([os.path.join(build, "bin/peak")], capture_output=True, text=True,
                          check=True)
    print(f"machine: {peak.stdout.strip()}")
    print(f"{threads} thread(s), pinned; Tenon and ONNX Runtime take turns; ratio = Tenon / ORT, "
          "the median of the rounds' ratios of medians (lowest..highest)\n")


def bench_one(name, folder, arguments, pin):
    work = os.path.join(arguments.build, "bench", name)
    os.makedirs(work, exist_ok=True)
    binaries = os.path.join(arguments.build, "bin")
    peer = Peer(os.path.join(binaries, "ort_peer"), arguments.library, folder, arguments.threads,
                pin)
    try:
        tenon = Tenon(os.path.join(binaries, "tenon"), os.path.join(folder, "model.onnx"), work,
                      arguments.threads, pin)
        row = measure(tenon, peer, arguments.rounds)
        if not arguments.no_ladder:
            row["ladder_ms"] = ladder(tenon, arguments.rounds)
        return row
    finally:
        peer.close()


def models_of(data, wanted):
    """The exported models and the quantized ones."""
    folders = [os.path.join(data, "exported", n)
               for n in sorted(os.listdir(os.path.join(data, "exported")))]
    quantized = os.path.join(data, "models")
    if os.path.isdir(quantized):
        folders += [os.path.join(quantized, n) for n in sorted(os.listdir(quantized))
                    if n.endswith("-int8")]
    found = [(os.path.basename(f), f) for f in folders
             if os.path.exists(os.path.join(f, "model.onnx"))]
    return [(n, f) for n, f in found if not wanted or n in wanted]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--models", default="", help="comma-separated; default all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--no-ladder", action="store_true")
    parser.add_argument("--json", help="also write the rows to this file")
    arguments = parser.parse_args()
    data = os.path.realpath(os.environ.get("TENON_TEST_DATA") or
                            os.path.join(ROOT, "../shared/data"))
    if not os.path.isdir(data):
        sys.exit("no models: set TENON_TEST_DATA to the folder that holds exported/")
    arguments.library = library_of_peer(arguments.build)
    # The last cores: the first ones serve interrupts.
    last = os.cpu_count() - 1
    pin = ["taskset", "-c", f"{max(0, last - arguments.threads + 1)}-{last}"]

    print_header(arguments.build, arguments.threads)
    print(f"{'model':32} {'tenon min':>10} {'median':>9} {'ort min':>9} {'median':>9} "
          f"{'ratio':>18}   opt level 0, 1, 2, 3 (min ms)")
    rows = {}
    for name, folder in models_of(data, [n for n in arguments.models.split(",") if n]):
        try:
            row = rows[name] = bench_one(name, folder, arguments, pin)
        except (RuntimeError, KeyError) as error:
            print(f"{name:32} not measured: {error}")
            continue
        steps = " ".join(f"{ms:9.3f}" for ms in row.get("ladder_ms", []))
        spread = f"({row['ratio_low']:.2f}..{row['ratio_high']:.2f})"
        print(f"{name:32} {row['tenon_min_ms']:10.3f} {row['tenon_median_ms']:9.3f} "
              f"{row['ort_min_ms']:9.3f} {row['ort_median_ms']:9.3f} {row['ratio']:5.2f} "
              f"{spread:>12}   {steps}", flush=True)
    if rows:
        mean = math.exp(statistics.mean(math.log(r["ratio"]) for r in rows.values()))
        print(f"\ngeometric mean of {len(rows)} ratios: {mean:.3f}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
