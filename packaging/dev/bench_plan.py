#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans the memory of every model at hand, and minimalloc's challenging problems, with the exact planner.

usage: bench_plan.py [--build DIR] [--rounds N] [--time-limit S] [--json FILE]
Models: the sample, the zoo, and exported/ and models/ below TENON_TEST_DATA, with the shapes of
their first test case. ms: the best of the rounds. CPU s: of the whole program, reading included.
Fails when a peak is not proven to be the smallest, or a problem does not fit its capacity.
"""
import argparse
import glob
import json
import os
import resource
import subprocess
import sys

import bench_peer
from source_tree import ROOT

CAPACITY = 1048576


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def planned(arguments, path, options=()):
    """What `tenon plan` says of the file, and the CPU seconds that it took."""
    before = cpu_seconds()
    done = subprocess.run([os.path.join(arguments.build, "bin/tenon"), "plan", path, "--json",
                           "--algorithm", "exact", "--time-limit", str(arguments.time_limit),
                           *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    took = cpu_seconds() - before
    if not done.stdout:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    instance = json.loads(done.stdout)["instances"][0]
    result = instance["results"][0]
    if "error" in result:
        raise RuntimeError(result["error"])
    return {"buffers": instance["buffers"], "lower_bound": instance["lower_bound"],
            "peak": result["bytes"], "proven": result["optimal"], "ms": result["ms"]}, took


def noted_shapes(folder):
    """Options that bind the inputs to the shapes of the first test case."""
    path = os.path.join(folder, "meta.json")
    notes = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            notes = json.load(file)
    options = []
    for one in notes.get("sets", [{}])[:1]:
        for given in one.get("inputs", []):
            if given["shape"]:
                options += ["--shape", f"{given['name']}={','.join(map(str, given['shape']))}"]
    return options


def models(arguments, data):
    """Name, path and options of every model."""
    yield "sample digits", os.path.join(ROOT, "resources/sample/digits/model.onnx"), []
    zoo = os.path.join(arguments.build, "bin/tenon-zoo")
    names = subprocess.run([zoo], stderr=subprocess.PIPE, text=True).stderr
    folder = os.path.join(arguments.build, "bench/zoo")
    os.makedirs(folder, exist_ok=True)
    for name in names.split("names:")[1].split():
        path = os.path.join(folder, name + ".onnx")
        subprocess.run([zoo, name, path], check=True)
        yield "zoo " + name, path, []
        os.remove(path)
    for collection in ("exported", "models"):
        for path in sorted(glob.glob(os.path.join(data, collection, "*/model.onnx"))):
            model = os.path.dirname(path)
            yield f"{collection}/{os.path.basename(model)}", path, noted_shapes(model)


def plan_models(arguments, data):
    """Rows of models by name; none for one that could not be planned."""
    print(f"{'model':46} {'buffers':>7} {'lower bound':>12} {'peak':>12} {'proven':>7} {'ms':>8}")
    rows = {}
    for name, path, options in models(arguments, data):
        try:
            runs = [planned(arguments, path, options)[0] for _ in range(arguments.rounds)]
        except RuntimeError as error:
            print(f"{name:46} {error}", flush=True)
            rows[name] = None
            continue
        row = rows[name] = min(runs, key=lambda run: run["ms"])
        print(f"{name:46} {row['buffers']:7} {row['lower_bound']:12,} {row['peak']:12,} "
              f"{'yes' if row['proven'] else 'no':>7} {row['ms']:8.2f}", flush=True)
    return rows


def plan_problems(arguments, data):
    """Rows of minimalloc's problems by name."""
    print(f"\n{'problem':10} {'buffers':>7} {'capacity':>12} {'peak':>12} {'CPU s':>8}")
    rows = {}
    for path in sorted(glob.glob(os.path.join(data, f"minimalloc/?.{CAPACITY}.csv"))):
        name = os.path.basename(path)[0]
        try:
            row, took = planned(arguments, path, ["--capacity", str(CAPACITY)])
        except RuntimeError as error:
            print(f"{name:10} {error}", flush=True)
            rows[name] = None
            continue
        rows[name] = row | {"cpu_s": took}
        print(f"{name:10} {row['buffers']:7} {CAPACITY:12,} {row['peak']:12,} {took:8.3f}",
              flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=10)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    data = bench_peer.models_folder()
    rows, problems = plan_models(arguments, data), plan_problems(arguments, data)
    good = [row for row in rows.values() if row and row["proven"]]
    exact = [row for row in good if row["peak"] == row["lower_bound"]]
    solved = [row for row in problems.values() if row and row["peak"] <= CAPACITY]
    total = sum(row["cpu_s"] for row in problems.values() if row)
    slowest = max((row["ms"] for row in rows.values() if row), default=0)
    print(f"\n{len(exact)} of {len(rows)} peaks are the lower bound, {len(good)} are proven smallest; "
          f"the slowest plan took {slowest:.1f} ms")
    print(f"{len(solved)} of {len(problems)} problems fit; {total:.2f} s of CPU in total")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"models": rows, "problems": problems}, file, indent=1)
    return 0 if len(good) == len(rows) and len(solved) == len(problems) else 1


if __name__ == "__main__":
    sys.exit(main())
