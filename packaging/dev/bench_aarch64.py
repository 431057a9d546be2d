#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the AArch64 instructions of an inference, Tenon's and ONNX Runtime's, emulated alike.

usage: bench_aarch64.py [--build DIR] [--models A,B] [--all] [--mcpu NAME] [--json FILE] [--kernels]
Both run on zeros, on one thread, under QEMU's user-mode emulation of the processor; what a second
inference executes is counted. The outputs for the stored inputs are compared in the same run: a
row whose outputs are wrong has no ratio. Models are those with stored outputs and some small ones of the
zoo, or with --all the whole zoo, whose outputs ONNX Runtime computes on this computer. Behind the ratio
of instructions stands that of loads and stores. --kernels lists Tenon's functions, and skips ONNX Runtime.
"""
import argparse
import json
import os
import subprocess
import sys

import bench_peer
import bench_zoo
import instruction_count
from bench_peer import Peer, Tenon

DEFAULT = ("resnet18,mobilenet_v2,squeezenet1_1,unet_small,bert_tiny,vit_tiny,kws_dscnn,ic_resnet8,"
           "mlperftiny-kws-int8,mlperftiny-resnet8-int8,mlperftiny-vww-mobilenetv1-int8,"
           "mlperftiny-ad-autoencoder-int8")
# Of the zoo: what an emulator computes in seconds, one of each kind.
SMALL_ZOO = ("mobilenet_v3_small,shufflenet_v2_x1_0,regnet_y_400mf,ghostnet,mnasnet1_0,mobileone_s0,"
             "pp_lcnet,enet,fsrcnn_x3,dcgan,tcn,pointnet,masked_encoder,gpt_decoder,gru_stack,"
             "bigru_batch16")
CROSS_ROOT = "/usr/aarch64-linux-gnu"
# What Linux says in /proc/cpuinfo: ONNX Runtime picks its kernels by it and does not start without.
PROCESSORS = {
    "cortex-a72": ("0xd08", "fp asimd evtstrm crc32 cpuid"),
    "cortex-a76": ("0xd0b", "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid "
                            "asimdrdm lrcpc dcpop asimddp"),
    "neoverse-n2": ("0xd49", "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid "
                             "asimdrdm lrcpc dcpop asimddp i8mm"),
}
# Where QEMU does not know the processor itself: vectors of 128 bits, and no matrix extension (SME),
# which ONNX Runtime would use, though the processor has none (Arm Neoverse N2 TRM, 102099).
EMULATED = {"neoverse-n2": "max,sve-max-vq=1,sme=off"}


def input_argument(path):
    """TYPE:D0xD1... of the tensor in a .pb file."""
    with open(path, "rb") as file:
        data = file.read()
    at, dims, kind = 0, [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 2:
            end = varint() + at
            while tag >> 3 == 1 and at < end:
                dims.append(varint())
            at = end
        else:
            value = varint()
            if tag >> 3 == 1:
                dims.append(value)
            elif tag >> 3 == 2:
                kind = value
    return f"{kind}:" + "x".join(map(str, dims))


def inputs_of(folder):
    data = os.path.join(folder, "test_data_set_0")
    count = sum(name.startswith("input_") for name in os.listdir(data))
    return [input_argument(os.path.join(data, f"input_{i}.pb")) for i in range(count)]


def guest_root(arguments):
    """A folder that QEMU lays over /: the cross compiler's libraries, and a /proc/cpuinfo."""
    root = os.path.join(arguments.build, "bench/root", arguments.mcpu)
    os.makedirs(os.path.join(root, "proc"), exist_ok=True)
    if not os.path.exists(os.path.join(root, "lib")):
        os.symlink(os.path.join(CROSS_ROOT, "lib"), os.path.join(root, "lib"))
    part, features = PROCESSORS[arguments.mcpu]
    with open(os.path.join(root, "proc/cpuinfo"), "w", encoding="ascii") as file:
        file.write(f"processor\t: 0\nFeatures\t: {features}\nCPU implementer\t: 0x41\n"
                   "CPU architecture: 8\nCPU variant\t: 0x0\n"
                   f"CPU part\t: {part}\nCPU revision\t: 3\n\n")
    return root


def compile_for(folder, name, arguments):
    tenon = Tenon(arguments.build, os.path.join(folder, "model.onnx"),
                  os.path.join(arguments.build, "bench", name, arguments.mcpu), 1)
    target = f"llvm -mtriple=aarch64-linux-gnu -mcpu={arguments.mcpu}"
    return tenon.compile(options=["--target", target, *arguments.compile_option])[0]


def bench_one(name, folder, arguments):
    emulator = ["qemu-aarch64", "-L", guest_root(arguments), "-cpu",
                EMULATED.get(arguments.mcpu, arguments.mcpu)]
    runner = [instruction_count.tenon_runner(arguments.build, "aarch64"),
              compile_for(folder, name, arguments), "2"]
    if arguments.kernels:
        count, blocks = instruction_count.run_counted(arguments.build, emulator, runner, True)
        for part, symbol in instruction_count.kernel_counts(runner[1], blocks):
            if part * 200 > count:
                print(f"{part:14,} {part / count:6.1%}  {symbol}")
        return {"tenon": count}
    peer = [os.path.join(arguments.build, "bin/counted_ort-aarch64"), arguments.guest_library,
            os.path.join(folder, "model.onnx"), *inputs_of(folder)]
    ours = instruction_count.run_counted(arguments.build, emulator, runner)
    theirs = instruction_count.run_counted(arguments.build, emulator, peer)
    row = {"tenon": ours, "ort": theirs, "tenon_accesses": ours.accesses,
           "ort_accesses": theirs.accesses,
           "difference": difference_of(folder, runner[1], arguments)}
    if not row["difference"]:
        row["ratio"] = ours / theirs
        row["access_ratio"] = ours.accesses / theirs.accesses
    return row


def difference_of(folder, artifact, arguments):
    """Why the target's outputs are not the ones stored with the model; "" when they are."""
    if not os.path.exists(os.path.join(folder, "test_data_set_0/output_0.pb")):
        return difference_from_peer(folder, artifact, arguments)
    target = f"llvm -mtriple=aarch64-linux-gnu -mcpu={arguments.mcpu}"
    done = subprocess.run([os.path.join(arguments.build, "bin/tenon"), "verify", folder, "--json",
                           "--target", target], capture_output=True, text=True, check=False)
    try:
        case = json.loads(done.stdout)["cases"][0]
    except (ValueError, LookupError):
        return done.stderr.strip() or "nothing was compared"
    return "" if case["status"] == "passed" else case["reason"]


def difference_from_peer(folder, artifact, arguments):
    """Why they are not ONNX Runtime's on this computer."""
    outputs = os.path.join(os.path.dirname(os.path.abspath(artifact)), "outputs")
    done = subprocess.run([os.path.join(arguments.build, "bin/tenon"), "run", artifact, "--inputs",
                           os.path.join(folder, "test_data_set_0"), "--outputs", outputs,
                           "--threads", "1"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return (done.stderr or done.stdout).strip()
    peer = Peer(arguments.build, arguments.library, folder, 1)
    try:
        return peer.difference(outputs, False)
    finally:
        peer.close()


def folder_of(data, name):
    kinds = (os.path.join(data, kind, name) for kind in ("exported", "models"))
    return next((f for f in kinds if os.path.exists(os.path.join(f, "model.onnx"))), None)


def wanted_models(arguments, data):
    """Names and folders; None for the folder of a name that nobody knows."""
    zoo = bench_zoo.names_of(os.path.join(arguments.build, "bin/tenon-zoo"))
    names = (arguments.models or f"{DEFAULT},{','.join(zoo) if arguments.all else SMALL_ZOO}").split(",")
    for name in dict.fromkeys(names):
        folder = folder_of(data, name)
        if not folder and name in zoo:
            folder = bench_zoo.model_folder(arguments, name)
        yield name, folder


def print_row(name, row):
    accesses = f"{row['access_ratio']:.2f}" if "access_ratio" in row else "–"
    print(f"{name:32} {row['tenon'] / 1e6:10.2f} {row['ort'] / 1e6:10.2f} "
          f"{bench_peer.ratio_text(row):>6} {row['tenon_accesses'] / 1e6:10.2f} "
          f"{row['ort_accesses'] / 1e6:10.2f} {accesses:>6}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(bench_peer.ROOT, "build/release"))
    parser.add_argument("--models", default="", help="comma-separated")
    parser.add_argument("--all", action="store_true", help="the whole zoo: hours")
    parser.add_argument("--mcpu", default="cortex-a72", choices=PROCESSORS)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--compile-option", action="append", default=[])
    parser.add_argument("--json", help="also write the rows to this file")
    arguments = parser.parse_args()
    data = bench_peer.models_folder()
    arguments.library = bench_peer.library_of_peer(arguments.build)
    arguments.guest_library = bench_peer.library_of_peer(arguments.build, "arm64")
    print(f"-mcpu={arguments.mcpu}, one thread; instructions per inference under emulation, "
          "in millions\n")
    print(f"{'model':32} {'tenon':>10} {'ort':>10} {'ratio':>6} {'loads and stores':>21} {'ratio':>6}")
    rows = {}
    for name, folder in wanted_models(arguments, data):
        try:
            if not folder:
                raise RuntimeError(f"no such model below {data} or in the zoo")
            row = bench_one(name, folder, arguments)
        except RuntimeError as error:
            print(f"{name:32} not counted: {error}")
            continue
        if arguments.kernels:
            print(f"{name:32} {row['tenon'] / 1e6:10.2f}")
            continue
        rows[name] = row
        print_row(name, row)
    bench_peer.print_mean(rows, "ratios")
    accesses = [row["access_ratio"] for row in rows.values() if "access_ratio" in row]
    if accesses:
        print(f"geometric mean of loads and stores: {bench_peer.geometric_mean(accesses):.3f}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"mcpu": arguments.mcpu, "onnxruntime": bench_peer.ORT_VERSION, "rows": rows},
                      file, indent=1)
            file.write("\n")
    return 0 if rows or arguments.kernels else 1


if __name__ == "__main__":
    sys.exit(main())
