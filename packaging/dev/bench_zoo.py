#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Tenon and ONNX Runtime on the networks of the zoo, in turns, pinned to the same cores.

usage: bench_zoo.py [--build DIR] [--models A,B] [--threads N[,M]] [--rounds N]
                    [--batch N] [--tvm CHECKOUT]
Models have published sizes, seeded weights and, where they normalize batches, the statistics that
photograph-like images or deviates leave; they are written once, to bench/zoo below the build.
The outputs of both are compared in the same run; a row whose outputs differ has no ratio.
A ratio below 1 means Tenon is faster. Behind it stands where Tenon's time goes: the share in
plain loops and in slow convolutions on rows, in moving data, and of that in moves far above what their
bytes take. Networks above the limits (2 % in the former, 5 % in such moves) are listed with the reasons.
"""
import argparse
import os
import subprocess
import sys

import bench_peer
from bench_peer import Peer, Tenon

# What is there for its number of nodes.
LEFT_OUT = ["synthetic"]
CALIBRATION_BATCH = 4
WORST = 5
PLAIN_LIMIT, MOVING_LIMIT = 0.02, 0.05


def names_of(program):
    """What the zoo holds."""
    usage = subprocess.run([program], stderr=subprocess.PIPE, text=True, check=False).stderr
    return [name for name in usage.split("names:", 1)[1].split() if name not in LEFT_OUT]


def written(program, path, *options):
    """What the program printed while it wrote the model."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    done = subprocess.run([program, os.path.basename(os.path.dirname(path)).split(".")[0], path,
                           "--inputs", "1", *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"tenon-zoo ended with {done.returncode}")
    return done.stdout


def model_folder(arguments, name):
    """The folder of a calibrated model and its inputs; written where it does not stand yet."""
    program = os.path.join(arguments.build, "bin/tenon-zoo")
    batch = getattr(arguments, "batch", 1)
    folder = os.path.join(os.path.abspath(arguments.build), "bench/zoo",
                          name if batch == 1 else f"{name}.batch{batch}")
    model, mark = os.path.join(folder, "model.onnx"), os.path.join(folder, "complete")
    newest = os.path.getmtime(program)
    if os.path.exists(mark) and os.path.getmtime(mark) >= newest:
        return folder
    measuring, statistics = folder + ".measuring", os.path.join(folder, "statistics")
    count = int(written(program, os.path.join(measuring, "model.onnx"), "--measure-statistics", "1",
                        "--batch", str(CALIBRATION_BATCH)))
    options = []
    if count > 0:
        os.makedirs(statistics, exist_ok=True)
        peer = Peer(arguments.build, arguments.library, measuring, os.cpu_count())
        try:
            peer.ask("write " + statistics)
        finally:
            peer.close()
        options = ["--statistics", statistics]
    written(program, model, *options, *(["--batch", str(batch)] if batch > 1 else []))
    for rest in (measuring, statistics):
        subprocess.run(["rm", "-rf", rest], check=True)
    with open(mark, "w", encoding="utf-8") as file:
        file.write("calibrated\n" if count else "no statistics\n")
    return folder


def bench_one(name, arguments, threads):
    folder = model_folder(arguments, name)
    peer = Peer(arguments.build, arguments.library, folder, threads)
    try:
        tenon = Tenon(arguments.build, os.path.join(folder, "model.onnx"),
                      os.path.join(folder, "artifact"), threads)
        row = bench_peer.measure(tenon, peer, arguments.rounds,
                                 os.path.join(folder, "test_data_set_0"),
                                 bench_peer.tvm_of(arguments, name, folder, threads))
        row["audit"] = tenon.audit(row["artifact"])
        return row
    finally:
        peer.close()


def slow_plain_share(audit):
    """In plain loops, and on rows at less than half of what the processor can do."""
    return audit["plain_share"] + audit["slow_rows_share"]


def print_row(name, row):
    spread = f"({row['ratio_low']:.2f}..{row['ratio_high']:.2f})" if "ratio" in row else ""
    print(f"{name:24} {row['tenon_median_ms']:10.3f} {row['ort_median_ms']:10.3f} "
          f"{bench_peer.ratio_text(row):>5} {spread:12} {slow_plain_share(row['audit']):7.1%} "
          f"{row['audit']['moving_share']:7.1%} {row['audit']['slow_moving_share']:7.1%}"
          f"{bench_peer.tvm_text(row)}", flush=True)


def print_worst(rows):
    worst = sorted((row["ratio"], name) for name, row in rows.items() if "ratio" in row)[-WORST:]
    print("worst: " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in reversed(worst)))
    above = [name for name, row in rows.items() if row.get("ratio", 0) > 1]
    print(f"above 1: {len(above)} of {len(rows)} {' '.join(above)}".rstrip())


def reasons_of(audit):
    """Why a network is above the limits, the longest of each kind first."""
    reasons = []
    if slow_plain_share(audit) > PLAIN_LIMIT:
        reasons += [f"{row['reason']} ({row['calls']} calls, {row['ms']:.3f} ms)"
                    for row in audit["declined"][:2]]
    if audit["slow_moving_share"] > MOVING_LIMIT:
        reasons += [f"moves {move['call']} at {move.get('gb_s', 0):.1f} GB/s ({move['ms']:.3f} ms)"
                    for move in audit["moves"][:1]]
    return reasons


def print_audit(rows):
    found = {name: reasons_of(row["audit"]) for name, row in rows.items()}
    found = {name: reasons for name, reasons in found.items() if reasons}
    print(f"above {PLAIN_LIMIT:.0%} in plain loops and slow rows, or {MOVING_LIMIT:.0%} in slow moves: "
          f"{len(found)} of {len(rows)}")
    for name, reasons in found.items():
        print(f"  {name}: {'; '.join(reasons)}")


def bench_all(arguments, names, threads):
    print(f"\n{threads} thread(s), pinned; medians of {arguments.rounds} rounds, in turns\n")
    print(f"{'model':24} {'tenon ms':>10} {'ort ms':>10} {'ratio':>5} {'':12} "
          f"{'plain':>7} {'moving':>7} {'slowly':>7}")
    rows = {}
    for name in names:
        try:
            rows[name] = bench_one(name, arguments, threads)
        except (RuntimeError, KeyError) as error:
            print(f"{name:24} not measured: {error}", flush=True)
            continue
        print_row(name, rows[name])
    bench_peer.print_mean(rows, "ratios")
    bench_peer.print_tvm(rows)
    if rows:
        print_worst(rows)
        print_audit(rows)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    bench_peer.add_arguments(parser, rounds=5, threads="1,2")
    bench_peer.add_tvm(parser)
    parser.add_argument("--models", default="", help="comma-separated; default all")
    parser.add_argument("--batch", type=int, default=1, help="of every model; default 1")
    arguments = parser.parse_args()
    arguments.library = bench_peer.library_of_peer(arguments.build)
    known = names_of(os.path.join(arguments.build, "bin/tenon-zoo"))
    wanted = [name for name in arguments.models.split(",") if name]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"the zoo has no `{unknown[0]}`; it has {' '.join(known)}")
    machine = bench_peer.peak_of(arguments.build)
    print(f"machine: {machine}")
    rows = {threads: bench_all(arguments, wanted or known, threads)
            for threads in map(int, arguments.threads.split(","))}
    bench_peer.write_json(arguments.json, machine, list(rows), rows)
    return 0 if all(rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
