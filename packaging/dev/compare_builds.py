#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows whether two builds of the compiler write the same artifacts.

usage: compare_builds.py OLD_BIN NEW_BIN [--models A,B] [--targets NAME,NAME] [--executors graph,aot] [--jobs N]
Every model of TENON_TEST_DATA (models/ and exported/) is compiled for every target by both, each with a kernel cache
of its own. Compared are the bytes that are written (or the error's text) and the keys under which kernels, glue and
builtins stand in the cache, but for the line that names the build. Exit status 1 where something differs.
"""
import argparse
import concurrent.futures
import hashlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from bench_peer import models_folder

TARGETS = {
    "x86-64": "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64",
    "v3": "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3",
    "sapphirerapids": "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids -num-cores=4",
    "znver4": "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4",
    "a53": "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a53 -num-cores=4",
    "a72": "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4",
    "a76": "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76",
    "a7": "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7",
    "rv64": "llvm -mtriple=riscv64-linux-gnu -mcpu=sifive-u74",
    "rv64v": "llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c,+v",
    "wasm": "llvm -mtriple=wasm32-unknown-unknown -mattr=+simd128",
    "hexagon": "hexagon -mcpu=v67",
    "c": "c -mcpu=cortex-m4",
}
MAGIC = b"TENONOBJ1\n"


def suffix(name):
    return {"wasm": ".wasm", "hexagon": ".elf", "c": ".tar"}.get(name, ".so")


def models(wanted):
    data = models_folder()
    for group in ("exported", "models"):
        folder = os.path.join(data, group)
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name, "model.onnx")
            if os.path.exists(path) and (not wanted or name in wanted):
                yield name, path


def cache_keys(folder):
    """Digests of all keys without the line of the build."""
    keys = set()
    for root, _, files in os.walk(folder):
        for file in files:
            with open(os.path.join(root, file), "rb") as entry:
                content = entry.read()
            if not content.startswith(MAGIC):
                continue
            size = struct.unpack_from("<Q", content, len(MAGIC))[0]
            key = content[len(MAGIC) + 8:len(MAGIC) + 8 + size].split(b"\n", 2)
            keys.add(hashlib.sha256(key[0] + b"\n" + key[2]).hexdigest())
    return keys


def outcome(program, model, target, executor, work):
    """Digest of what is written, or the error."""
    out = os.path.join(work, "out" + suffix(target))
    done = subprocess.run(
        [os.path.join(program, "tenon"), "compile", model, "-o", out, "--target", TARGETS[target],
         "--executor", executor, "--json"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "XDG_CACHE_HOME": os.path.join(work, "cache")})
    if done.returncode != 0:
        return "error: " + (done.stderr or done.stdout).strip()
    with open(out, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    os.remove(out)
    return digest


def compare(arguments, name, model, target):
    """What differs of one model for one target, as lines; and how many artifacts were written."""
    problems, written = [], 0
    work = [tempfile.mkdtemp(prefix="tenon-compare-") for _ in (0, 1)]
    try:
        for executor in arguments.executors.split(","):
            old, new = (outcome(program, model, target, executor, folder) for program, folder in
                        zip((arguments.old, arguments.new), work))
            written += not old.startswith("error")
            if old != new:
                problems.append(f"{name} {target} {executor}: {old}  ->  {new}")
        old, new = (cache_keys(folder) for folder in work)
        if old != new:
            problems.append(f"{name} {target}: keys: {len(old - new)} gone, {len(new - old)} new")
    finally:
        for folder in work:
            shutil.rmtree(folder, ignore_errors=True)
    return problems, written


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--models", default="")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--executors", default="graph,aot")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    wanted = [name for name in arguments.models.split(",") if name]
    tasks = [(name, model, target) for name, model in models(wanted)
             for target in arguments.targets.split(",")]
    written = differences = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for problems, count in pool.map(lambda task: compare(arguments, *task), tasks):
            written += count
            differences += len(problems)
            for line in problems:
                print(line, flush=True)
    print(f"{len(tasks)} pairs of model and target, {written} artifacts written by the old build, "
          f"{differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
