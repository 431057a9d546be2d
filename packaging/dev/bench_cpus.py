#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models compiled for other processors here: largest error, and instructions per inference.

usage: bench_cpus.py [--build DIR] [--models A,B] [--cpus NAME,NAME] [--json FILE]
Each model is verified against the outputs stored with it, then run on zeros, on one thread, under
QEMU's user-mode emulation (package qemu-user) or in Node.js; what a later inference executes is counted.
"""
import argparse
import json
import os
import re
import struct
import subprocess
import sys

import bench_peer
import instruction_count
import wasm_count
from bench_aarch64 import folder_of
from source_tree import ROOT

RISCV = "llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c"
RVV = "rv64,v=true,elen=64,vext_spec=v1.0"
# Name, target, emulator with options, what is counted.
CPUS = (
    ("aarch64", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72",
     ["qemu-aarch64", "-cpu", "cortex-a72"], "instructions"),
    ("aarch64, in order", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a53",
     ["qemu-aarch64", "-cpu", "cortex-a53"], "instructions"),
    ("armv7", "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7",
     ["qemu-arm", "-cpu", "cortex-a7"], "instructions"),
    ("riscv64", RISCV, ["qemu-riscv64", "-cpu", "rv64"], "instructions"),
    ("riscv64+v", RISCV + ",+v", ["qemu-riscv64", "-cpu", RVV + ",vlen=128"], "instructions"),
    ("riscv64+v, 256 bits", RISCV + ",+v,+zvl256b",
     ["qemu-riscv64", "-cpu", RVV + ",vlen=256"], "instructions"),
    ("wasm32", "llvm -mtriple=wasm32-unknown-unknown", ["node"], "instructions"),
    ("wasm32+simd128", "llvm -mtriple=wasm32-unknown-unknown -mattr=+simd128", ["node"],
     "instructions"),
    ("hexagon", "hexagon", ["qemu-hexagon", "-cpu", "v67"], "packets"),
)
DEFAULT = "kws_dscnn,ic_resnet8,mlperftiny-vww-mobilenetv1-fp32"
INPUT_BYTES = 1 << 24  # zeros, more than any model here reads


def call(command):
    """The JSON a command prints, and whether it succeeded."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout), done.returncode == 0
    except ValueError:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"exit code {done.returncode}") from None


def largest_error(tenon, folder, target):
    report, passed = call([tenon, "verify", "--json", "--threads", "1", "--target", target, folder])
    case = report["cases"][0]
    if not passed:
        raise RuntimeError(case["reason"])
    return case["max_abs_error"]


def count_program(build, emulator, program, work):
    """A program that starts by itself: the last of its inferences."""
    request = os.path.join(work, "request")
    with open(request, "wb") as file:
        file.write(struct.pack("<3i", 2, 1, 0) + bytes(INPUT_BYTES))
    return instruction_count.run_counted(
        build, emulator, [program, request, os.path.join(work, "outputs"),
                          os.path.join(work, "times")])


def count(build, tenon, folder, cpu, work):
    name, target, emulator, _ = cpu
    suffix = ".wasm" if name.startswith("wasm") else ".elf" if name == "hexagon" else ".so"
    os.makedirs(work, exist_ok=True)
    artifact = os.path.join(work, "model" + suffix)
    call([tenon, "compile", os.path.join(folder, "model.onnx"), "-o", artifact, "--target", target,
          "--threads", "1", "--json"])
    if suffix == ".wasm":
        return wasm_count.count(os.path.join(ROOT, "remote/session/wasm_host.js"), artifact)
    if suffix == ".elf":
        return count_program(build, emulator, artifact, work)
    runner = instruction_count.tenon_runner(build, re.split("[+,]", name)[0])
    return instruction_count.run_counted(build, emulator, [runner, artifact, "2"])


def bench_model(name, folder, chosen, build):
    tenon = os.path.join(build, "bin/tenon")
    macs = call([tenon, "inspect", "--json", os.path.join(folder, "model.onnx")])[0]["macs"]
    rows = {}
    for cpu in chosen:
        try:
            error = largest_error(tenon, folder, cpu[1])
            work = os.path.join(build, "bench", name, cpu[0].replace(" ", "").replace(",", "-"))
            number = count(build, tenon, folder, cpu, work)
        except RuntimeError as problem:
            print(f"{name:16} {cpu[0]:22} not counted: {problem}", flush=True)
            continue
        rows[cpu[0]] = {"max_error": error, cpu[3]: number, "per_mac": number / macs}
        print(f"{name:16} {cpu[0]:22} {error:10.2e} {number / 1e6:12.3f} {number / macs:8.3f}"
              f"{'  (packets)' if cpu[3] == 'packets' else ''}", flush=True)
    return {"macs": macs, "cpus": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--models", default=DEFAULT)
    parser.add_argument("--cpus", default=";".join(cpu[0] for cpu in CPUS), metavar="NAME;NAME")
    parser.add_argument("--json", help="also write the rows to this file")
    arguments = parser.parse_args()
    wanted = arguments.cpus.split(";")
    unknown = set(wanted) - {cpu[0] for cpu in CPUS}
    if unknown:
        parser.error(f"no such processor: {', '.join(sorted(unknown))}; there are "
                     + "; ".join(cpu[0] for cpu in CPUS))
    chosen = [cpu for cpu in CPUS if cpu[0] in wanted]
    data = bench_peer.models_folder()
    print("largest difference from the stored outputs; instructions per inference in millions, and "
          "per multiply-add of the model\n")
    print(f"{'model':16} {'processor':22} {'error':>10} {'millions':>12} {'per MAC':>8}")
    rows = {}
    for name in arguments.models.split(","):
        folder = folder_of(data, name)
        if not folder:
            print(f"{name:16} not counted: no such model below {data}")
            continue
        rows[name] = bench_model(name, folder, chosen, os.path.abspath(arguments.build))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file, indent=1)
            file.write("\n")
    is_complete = rows and all(len(row["cpus"]) == len(chosen) for row in rows.values())
    return 0 if is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
