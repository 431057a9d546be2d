#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models on emulated Cortex-M boards: agreement, instructions, flash and RAM of every executor.

usage: bench_micro.py [--build DIR] [--models A,B] [--boards NAME,NAME] [--json FILE]
Every data set that is stored with a model is run on the board (C interface, -O2) and compared with
the reference. Instructions of one inference are exact; they are not cycles. Published figures of
other stacks stand below: cycles on silicon, converted by the clock that their source names.
"""
import argparse
import json
import os
import sys

import bench_peer
from bench_aarch64 import folder_of
from bench_cpus import call
from source_tree import ROOT

BOARDS = {"an386": "cortex-m4", "an500": "cortex-m7", "an547": "cortex-m55"}
MODELS = ("mlperftiny-kws-int8", "mlperftiny-resnet8-int8", "mlperftiny-vww-mobilenetv1-int8",
          "mlperftiny-ad-autoencoder-int8", "kws_dscnn")
EXECUTORS = "graph,aot-packed,aot-c"

# Cycles per multiply-add of KWS, ResNet-8, VWW and AD int8 on silicon: milliseconds of MLPerf Tiny's
# closed division times the board's clock, by the model's multiply-adds.
TINY = "MLPerf Tiny results"
PUBLISHED = (
    ("Cortex-M4, 120 MHz", "microTVM, own schedules", (6.50, 3.74, 5.43, 5.33),
     f"{TINY} v1.0/v1.1, NUCLEO-L4R5ZI"),
    ("Cortex-M4, 120 MHz", "microTVM with CMSIS-NN", (4.50, 3.74, 4.82, 3.91),
     f"{TINY} v1.0/v1.1, NUCLEO-L4R5ZI"),
    ("Cortex-M4, 120 MHz", "CMSIS-NN called directly (ONNC)", (3.70, 2.87, 2.76, 3.67),
     f"{TINY} v1.0/v1.1, NUCLEO-L4R5ZI"),
    ("Cortex-M4, 120 MHz", "X-CUBE-AI 8.1", (2.84, 2.05, 1.90, 3.12),
     f"{TINY} v1.1, NUCLEO-L4R5ZI"),
    ("Cortex-M4, 120 MHz", "X-CUBE-AI 10.2", (1.96, 1.59, 1.43, 2.18),
     f"{TINY} v1.3, NUCLEO-L4R5ZI-P"),
    ("Cortex-M4, 120 MHz", "Plumerai 2023.05", (2.16, 1.61, 1.58, 1.84),
     f"{TINY} v1.1, NUCLEO-L4R5ZI"),
    ("Cortex-M7, 280 MHz", "Plumerai", (1.46, 1.14, 1.00, 1.43), f"{TINY} v1.1, H7A3"),
)
# Milliseconds of a vision model on a Cortex-M7 of 480 MHz: the one published comparison that has TFLM.
VISION = ("mcunet-vww1 on an STM32H743: TFLM 1120 ms, TFLM with CMSIS-NN 97, X-CUBE-AI 57, TinyEngine "
          "51 (README of mit-han-lab/tinyengine)")


def agreement(tenon, folder, target):
    """How many outputs of all data sets agree, of how many, and the largest error."""
    case = call([tenon, "verify", "--json", "--target", target, folder])[0]["cases"][0]
    if not case["outputs"]:
        raise RuntimeError(case["reason"])
    passed = sum(1 for output in case["outputs"] if not output["reason"])
    return passed, len(case["outputs"]), case["max_abs_error"]


def count(tenon, model, target, executor):
    """Instructions of one inference."""
    options = ["--executor", "graph" if executor == "graph" else "aot"]
    report, _ = call([tenon, "bench", "--json", "--target", target, *options, model])
    return report["instructions"]


def bench_board(tenon, name, folder, board):
    target = f"c -mcpu={BOARDS[board]}"
    model = os.path.join(folder, "model.onnx")
    macs = call([tenon, "inspect", "--json", model])[0]["macs"]
    passed, cases, error = agreement(tenon, folder, target)
    sizes, _ = call([tenon, "footprint", "--json", "--target", target, "--executors", EXECUTORS,
                     model])
    rows = []
    for one in sizes["executors"]:
        if "not_measured" in one:
            print(f"{name:32} {board} {one['name']:10} not measured: {one['not_measured']}")
            continue
        instructions = count(tenon, model, target, one["name"])
        flash, ram = one["flash"], one["ram"]
        rows.append({"board": board, "executor": one["name"], "agrees": passed, "cases": cases,
                     "max_error": error, "instructions": instructions,
                     "per_mac": instructions / macs,
                     "text": flash["kernels"] + flash["metadata"] + flash["runtime"],
                     "rodata": flash["constants"], "pools": ram["workspace"],
                     "stack": ram["stack"], "heap": ram["heap"]})
        row = rows[-1]
        print(f"{name:32} {board:6} {row['executor']:10} {passed}/{cases} {error:9.2e} "
              f"{instructions:>12,} {row['per_mac']:7.2f} {row['text']:>7,} {row['rodata']:>8,} "
              f"{row['pools']:>8,} {row['stack']:>6,} {row['heap']:>7,}", flush=True)
    return rows


def print_published():
    print("\nPublished, cycles per multiply-add on silicon (not instructions, other boards):")
    for core, stack, figures, source in PUBLISHED:
        text = "  ".join(f"{kind} {figure:.2f}" for kind, figure in
                         zip(("KWS", "ResNet-8", "VWW", "AD"), figures))
        print(f"  {core:20} {stack:32} {text}   [{source}]")
    print("  " + VISION)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--boards", default=",".join(BOARDS))
    parser.add_argument("--json", help="also write the rows to this file")
    arguments = parser.parse_args()
    boards = arguments.boards.split(",")
    unknown = set(boards) - set(BOARDS)
    if unknown:
        parser.error(f"no such board: {', '.join(sorted(unknown))}; there are {', '.join(BOARDS)}")
    tenon = os.path.join(os.path.abspath(arguments.build), "bin/tenon")
    data = bench_peer.models_folder()
    print("text: kernels, metadata and runtime; pools, stack and heap in bytes of RAM beside the "
          "caller's inputs and outputs\n")
    print(f"{'model':32} {'board':6} {'executor':10} agree     error instructions per MAC    text   "
          f"rodata    pools  stack    heap")
    rows, failed = {}, False
    for name in arguments.models.split(","):
        folder = folder_of(data, name)
        if not folder:
            print(f"{name:32} not counted: no such model below {data}")
            failed = True
            continue
        rows[name] = []
        for board in boards:
            try:
                rows[name] += bench_board(tenon, name, folder, board)
            except RuntimeError as problem:
                print(f"{name:32} {board:6} not counted: {problem}", flush=True)
                failed = True
    failed |= any(row["agrees"] < row["cases"] for each in rows.values() for row in each)
    print_published()
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file, indent=1)
            file.write("\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
