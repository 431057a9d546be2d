#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of one or two layers of odd shapes against ONNX Runtime, in turns: what is slower than
there shows by itself, where in a whole network it would hide. Needs Debian's python3-onnx."""
import argparse
import os
import sys
import zlib

import bench_peer
from bench_peer import Peer, Tenon
from layer_network import LayerNetwork
from layer_table import LAYERS

WORST = 10


def folder_of(build, name):
    folder = os.path.join(os.path.abspath(build), "bench/layers", name.replace(" ", "_"))
    network = LayerNetwork(name, zlib.crc32(name.encode()))
    network.write(folder, LAYERS[name](network))
    return folder


def bench_one(name, arguments):
    folder = folder_of(arguments.build, name)
    peer = Peer(arguments.build, arguments.library, folder, arguments.threads)
    try:
        tenon = Tenon(arguments.build, os.path.join(folder, "model.onnx"),
                      os.path.join(folder, "work"), arguments.threads)
        return bench_peer.measure(tenon, peer, arguments.rounds,
                                  os.path.join(folder, "test_data_set_0"))
    finally:
        peer.close()


def bench_all(arguments, names):
    rows = {}
    print(f"{'layer':26}{'Tenon us':>11}{'ORT us':>11}   ratio")
    for name in names:
        try:
            row = rows[name] = bench_one(name, arguments)
        except RuntimeError as error:
            print(f"{name:26}failed: {error}")
            continue
        print(f"{name:26}{row['tenon_median_ms'] * 1e3:11.1f}{row['ort_median_ms'] * 1e3:11.1f}   "
              f"{bench_peer.ratio_text(row)}", flush=True)
    return rows


def print_worst(rows):
    ratios = sorted(((row["ratio"], name) for name, row in rows.items() if "ratio" in row),
                    reverse=True)
    print(f"\n{sum(ratio > 1 for ratio, _ in ratios)} of {len(ratios)} are slower; the slowest:")
    for ratio, name in ratios[:WORST]:
        print(f"  {name:26}{ratio:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    bench_peer.add_arguments(parser, rounds=3)
    parser.add_argument("--only", default="", help="layers whose name has this text")
    arguments = parser.parse_args()
    names = [name for name in LAYERS if arguments.only in name]
    if not names:
        sys.exit(f"no layer has `{arguments.only}` in its name; they are {', '.join(LAYERS)}")
    arguments.library = bench_peer.library_of_peer(arguments.build)
    machine = bench_peer.peak_of(arguments.build)
    print(f"machine: {machine}")
    rows = bench_all(arguments, names)
    bench_peer.print_mean(rows, "layers")
    print_worst(rows)
    bench_peer.write_json(arguments.json, machine, arguments.threads, rows)
    return 0 if len(rows) == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
