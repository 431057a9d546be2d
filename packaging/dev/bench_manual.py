#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of resources/manual/performance.md from the JSON of the benchmarks.

usage: bench_manual.py [--models JSON...] [--kernels JSON] [--compile JSON] [--aarch64 JSON...] [--cpus JSON]
JSON files come from `./dev bench models|kernels|compile|aarch64|cpus --json FILE`; models may be given once
per number of threads, aarch64 once per processor. Tables whose file is not given stay as they are.
"""
import argparse
import json
import math
import os
import re

from source_tree import ROOT

PAGE = os.path.join(ROOT, "resources/manual/performance.md")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def machine_line(result):
    machine = result["machine"]
    busy = (f" Other programs kept the computer busy (load {machine['load']:.0f}): compare ratios, "
            "not times.") if machine["load"] >= 1 else ""
    return (f"{machine['cpu']}, {machine['cores']} CPUs; measured peak of one core "
            f"{machine['fp32_gflops_per_core']:.0f} GFLOP/s ({machine['isa']}), copies from memory "
            f"at {machine['copy_memory_gb_s']:.0f} GB/s; ONNX Runtime {result['onnxruntime']}."
            f"{busy}\n")


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |",
             "|" + "|".join("---" if i == 0 else "--:" for i in range(len(header))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def mean_of(rows):
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def ratio_of(row):
    """None where the outputs of the two differed."""
    return f"{row['ratio']:.2f}" if "ratio" in row else "–"


def share_of(share):
    return "–" if share is None else f"{share:.0%}"


def models_table(results):
    results = sorted(results, key=lambda result: result["threads"])
    names = sorted({name for result in results for name in result["rows"]})
    header = ["model"]
    for result in results:
        threads = f"{result['threads']} thread" + ("s" if result["threads"] > 1 else "")
        header += [f"Tenon, {threads}", "ONNX Runtime", "ratio"]
    body = []
    for name in names:
        cells = [f"`{name}`"]
        for result in results:
            cells += model_cells(result["rows"].get(name))
        body.append(cells)
    last = ["geometric mean"]
    for result in results:
        rows = list(result["rows"].values())
        last += ["", "", f"{mean_of(rows):.2f}"]
    return machine_line(results[0]) + "\n" + table(header, body + [last])


def model_cells(row):
    if not row:
        return [""] * 3
    return [f"{row['tenon_min_ms']:.3f}", f"{row['ort_min_ms']:.3f}", ratio_of(row)]


def kernels_table(result):
    body = [[name] + [f"{row['tenon_ms']:.4f}", f"{row['tenon_gflops']:.0f}",
                      share_of(row["tenon_of_bound"]), f"{row['ort_ms']:.4f}", ratio_of(row)]
            for name, row in result["rows"].items()]
    header = ["operator", "Tenon ms", "GFLOP/s", "of bound", "ONNX Runtime ms", "ratio"]
    return machine_line(result) + "\n" + table(header, body)


def compile_table(result):
    body = []
    for name, row in result["rows"].items():
        cells = [f"`{name}`", f"{row['cold_ms']:.0f}", str(row["kernels"]), f"{row['new_ms']:.0f}",
                 f"{row['same_ms']:.0f}"]
        cells += ([f"{row['change_ms']:.0f}", f"{row['change_compiled']} / {row['change_reused']}"]
                  if row["change_ms"] else ["", ""])
        cells += [f"{row['first_run_ms']:.2f}", f"{row['ort_first_run_ms']:.1f}",
                  ratio_of(row)]
        body.append(cells)
    rows = list(result["rows"].values())
    body.append(["geometric mean"] + [""] * 8 + [f"{mean_of(rows):.2f}"])
    header = ["model", "cold ms", "kernels", "again, new file ms", "again, same file ms",
              "one node changed ms", "compiled / reused", "load and first run ms",
              "ONNX Runtime's", "ratio"]
    return machine_line(result) + "\n" + table(header, body)


def aarch64_table(results):
    """Side by side, a model per row."""
    header, body = ["model"], {}
    for result in results:
        header += [f"Tenon, `{result['mcpu']}`", f"ONNX Runtime {result['onnxruntime']}", "ratio"]
        for name in result["rows"]:
            body.setdefault(name, [f"`{name}`"])
    for result in results:
        for name, cells in body.items():
            row = result["rows"].get(name)
            cells += ([f"{row['tenon'] / 1e6:.2f}", f"{row['ort'] / 1e6:.2f}",
                       ratio_of(row)] if row else ["", "", ""])
    last = ["geometric mean"]
    for result in results:
        last += ["", "", f"{mean_of(list(result['rows'].values())):.2f}"]
    return table(header, list(body.values()) + [last])


def cpus_table(result):
    """A processor per row; instructions and instructions per multiply-add of each model."""
    names = list(result["rows"])
    header = ["processor"]
    for name in names:
        header += [f"`{name}`, error", "millions", "per MAC"]
    body = []
    for cpu in {cpu: None for row in result["rows"].values() for cpu in row["cpus"]}:
        cells = [f"`{cpu}`"]
        for name in names:
            row = result["rows"][name]["cpus"].get(cpu)
            counted = row and row.get("instructions", row.get("packets"))
            cells += ([f"{row['max_error']:.0e}", f"{counted / 1e6:.2f}", f"{row['per_mac']:.2f}"]
                      if row else ["", "", ""])
        body.append(cells)
    return table(header, body)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", default=[])
    parser.add_argument("--kernels")
    parser.add_argument("--compile")
    parser.add_argument("--aarch64", nargs="*", default=[])
    parser.add_argument("--cpus")
    arguments = parser.parse_args()
    tables = {}
    if arguments.models:
        tables["models"] = models_table([load(path) for path in arguments.models])
    if arguments.kernels:
        tables["kernels"] = kernels_table(load(arguments.kernels))
    if arguments.compile:
        tables["compile"] = compile_table(load(arguments.compile))
    if arguments.aarch64:
        tables["aarch64"] = aarch64_table([load(path) for path in arguments.aarch64])
    if arguments.cpus:
        tables["cpus"] = cpus_table(load(arguments.cpus))
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for name, content in tables.items():
        pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = pattern.subn(lambda m, c=content: m.group(1) + c + m.group(2), text)
        if count != 1:
            raise SystemExit(f"{PAGE} has no place for the table `{name}`")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
