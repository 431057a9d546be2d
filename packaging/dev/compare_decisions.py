#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists what two builds of the compiler decide differently for each layer of models.

usage: compare_decisions.py OLD_BIN NEW_BIN [--models A,B] [--targets NAME,NAME] [--option -machine=...] [--jobs N] [--all]
Each source node is looked up in the kernel that computes it, in the scheduled loop IR of both builds. Told are, in
this order and only the first that differs: which operators share the kernel (fusion, chains), the method (rule), the
layout (shapes of the kernel's operands), what threads share (extents of parallel loops), the tiles (extents of the
other loops). Without --all a model's nodes are counted, and three are named.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

from compare_builds import TARGETS as ALL_TARGETS
from compare_builds import models, suffix

TARGETS = {
    **ALL_TARGETS,
    "u74": "llvm -mtriple=riscv64-linux-gnu -mcpu=sifive-u74 -num-cores=4",
    "native": "llvm -mcpu=native",
}
DEFAULT = "resnet18,mobilenet_v2,kws_dscnn,vit_tiny,bert_tiny,unet_small,squeezenet1_1,ic_resnet8,shufflenet_v2_x1_0"
TARGET_NAMES = "a53,a72,u74,native"
KINDS = ("joined", "method", "layout", "threads", "tile")


def call(command, cache):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "XDG_CACHE_HOME": cache})
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip())
    return done.stdout


def extents(text, kind):
    return [int(n) for n in re.findall(rf"in T\.{kind}\((\d+)\)", text)]


def decisions(program, model, target, work):
    """For each source node: what was decided in the kernel that computes it, by kind."""
    tenon = os.path.join(program, "tenon")
    out = os.path.join(work, "out" + suffix(target))
    kernels = json.loads(call([tenon, "compile", model, "-o", out, "--json", "--target", target], work))["kernels"]
    loops = call([tenon, "compile", model, "--emit", "tir", "--target", target], work)
    texts = {}
    for part in re.split(r"^; (?=\S+ tvmgen_)", loops, flags=re.M)[1:]:
        texts[part.split(" ", 1)[0]] = part
    found = {}
    for kernel in kernels:
        text = texts[kernel["symbol"]]
        shapes = re.search(r"def main\((.*)\):", text).group(1)
        operators = re.sub(r"(_\d+)+$", "", kernel["function"]).removeprefix("tvmgen_default_fused_")
        facts = {"joined": operators, "method": kernel["rule"],
                 "layout": re.findall(r'Buffer\(\(([\d, ]*)\), "(\w+)"', shapes),
                 "threads": extents(text, "parallel"),
                 "tile": [extents(text, kind) for kind in ("serial", "unroll", "vectorized")]}
        for node in kernel["from_nodes"]:
            found.setdefault(node, facts)
    return found


def short(kind, facts):
    if kind == "layout":
        return " ".join("x".join(shape.split(", ")) for shape, _ in facts["layout"][:2])
    if kind == "tile":
        return "unrolled " + "x".join(map(str, facts["tile"][1][:4]))
    return str(facts[kind]) if facts[kind] else "none"


def compare(arguments, name, model, target):
    text = TARGETS.get(target, target)
    with tempfile.TemporaryDirectory(prefix="tenon-decisions-") as work:
        try:
            old = decisions(arguments.old, model, text, os.path.join(work, "old"))
            option = " " + arguments.option if arguments.option else ""
            new = decisions(arguments.new, model, text + option, os.path.join(work, "new"))
        except RuntimeError as error:
            return [f"{name} {target}: {error}"]
    changed = collections.defaultdict(list)
    for node in sorted(set(old) & set(new)):
        kind = next((k for k in KINDS if old[node][k] != new[node][k]), None)
        if kind:
            changed[kind].append(f"{node} ({short(kind, old[node])} -> {short(kind, new[node])})")
    counts = ", ".join(f"{kind} {len(changed[kind])}" for kind in KINDS if changed[kind])
    lines = [f"{name} {target}: of {len(old)} nodes: {counts or 'nothing changed'}"]
    for kind in KINDS:
        nodes = changed[kind]
        lines += [f"    {kind}: {node}" for node in (nodes if arguments.all else nodes[:3])]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--models", default=DEFAULT)
    parser.add_argument("--targets", default=TARGET_NAMES)
    parser.add_argument("--option", default="", help="appended to the target for NEW_BIN")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    wanted = [name for name in arguments.models.split(",") if name]
    tasks = [(name, model, target) for name, model in models(wanted) for target in arguments.targets.split(",")]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for lines in pool.map(lambda task: compare(arguments, *task), tasks):
            print("\n".join(lines), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
