# SPDX-License-Identifier: Apache-2.0
"""What quantization costs on labelled tasks: calibrated on some examples, tested on others."""
import json
import os
import sys

import numpy as np

import bench_peer
import onnx_writer
from tasks.auc import area_under_curve
from tasks.data import TASKS
from tasks.engines import OrtModel, TenonModel

CALIBRATED, COMPARED = 100, 200
FLOORS = {"accuracy": .003, "auc": .005}
LEAST_WITHIN = .999
METHODS = {"minmax": [], "percentile": ["--method", "percentile"], "mse": ["--method", "mse"]}
# Of all weights of a layer; what they lose has no floor.
ONE_SCALE = {"one scale": ["--per-tensor"], "equalized": ["--per-tensor", "--equalize"],
             "corrected": ["--per-tensor", "--equalize", "--bias-correction"]}


class Bench:
    """One task in a folder of its own."""

    def __init__(self, arguments, name):
        self.task = TASKS[name]
        self.build = os.path.abspath(arguments.build)
        self.peer = arguments.library
        self.work = os.path.join(self.build, "bench/tasks", name)
        os.makedirs(self.work, exist_ok=True)
        self.inputs, self.labels = self.task.test(arguments.examples)
        np.save(self.file("examples.npy"), self.task.examples(CALIBRATED))

    def file(self, name):
        return os.path.join(self.work, name)

    def tenon(self, *arguments):
        return bench_peer.Tenon.call([os.path.join(self.build, "bin/tenon"), *arguments])

    def compiled(self, model):
        artifact = model[:-len(".onnx")] + ".so"
        self.tenon("compile", model, "-o", artifact, "--threads", "1", "--json")
        return TenonModel(os.path.join(self.build, "lib/libtenon_runtime.so.0"), artifact)

    def quantized(self, way, options):
        """The file that was written, and the report."""
        path = self.file(way + ".onnx")
        return path, self.tenon("quantize", self.task.model, "--data", self.file("examples.npy"),
                                "-o", path, "--json", *options)

    def score(self, outputs):
        outputs = outputs.reshape(len(outputs), -1)
        if self.task.measure == "auc":
            errors = ((outputs - self.inputs.reshape(outputs.shape)) ** 2).mean(1)
            return area_under_curve(errors, self.labels)
        return float((outputs.argmax(1) == self.labels).mean())

    def real_score(self):
        model = self.file("float.onnx")
        with open(self.task.model, "rb") as given, open(model, "wb") as copy:
            copy.write(given.read())
        return self.score(self.compiled(model).run(self.inputs)[0])

    def row(self):
        row = {"measure": self.task.measure, "examples": len(self.inputs),
               "float": self.real_score()}
        for way, options in {**METHODS, **ONE_SCALE}.items():
            path, report = self.quantized(way.replace(" ", "-"), options)
            score = self.score(self.compiled(path).run(self.inputs)[0])
            row[way] = {"score": score, "loss": row["float"] - score,
                        "sqnr_db": min(output["sqnr_db"] for output in report["outputs"])}
            if way == "minmax":
                row["within_one_step"] = self.held_against_peer(path, report)
        return row

    def held_against_peer(self, path, report):
        """Shares of elements that are at most one step from ONNX Runtime's: of all tensors that
        are rounded, and of the last."""
        steps = {tensor["name"]: tensor["scale"] for tensor in report["tensors"] if tensor["node"]}
        given = [tensor["name"] for tensor in report["tensors"] if not tensor["node"]]
        results = [output["name"] for output in report["outputs"]]
        names = [name for name in steps if name not in results]
        open_model = self.file("all.onnx")
        with open(path, "rb") as file, open(open_model, "wb") as copy:
            copy.write(onnx_writer.with_outputs(file.read(), names))
        ours = self.compiled(open_model)
        shapes = dict(zip(results + names, (output.shape for output in ours.outputs)))
        theirs = OrtModel(self.peer, open_model, {given[0]: ours.given.shape}, shapes)
        some = self.inputs[:COMPARED]
        within = {}
        for name, a, b in zip(shapes, ours.run(some), theirs.run(some)):
            if name in steps:
                within[name] = np.abs(a - b) <= 1.001 * steps[name]
        everything = np.concatenate([part.ravel() for part in within.values()])
        return {"all": float(everything.mean()), "last": float(within[list(steps)[-1]].mean()),
                "elements": int(everything.size)}


def problems_of(name, row):
    """Where a floor is missed."""
    limit, found = FLOORS[row["measure"]], []
    for way in METHODS:
        if row[way]["loss"] > limit:
            found.append(f"{name}: {way} loses {row[way]['loss']:.4f}, more than {limit}")
    for which in ("all", "last"):
        if row["within_one_step"][which] < LEAST_WITHIN:
            found.append(f"{name}: {row['within_one_step'][which]:.3%} of the elements ({which}) "
                         f"are within one step of ONNX Runtime's, not {LEAST_WITHIN:.1%}")
    return found


def cells_of(row, ways):
    """Score and loss, in percent and points or as they are."""
    factor, digits = (100, 2) if row["measure"] == "accuracy" else (1, 4)
    return "".join(f"{row[way]['score'] * factor:11.{digits}f}{row[way]['loss'] * factor:9.{digits}f}"
                   for way in ways)


def print_row(name, row):
    real = row["float"] * (100 if row["measure"] == "accuracy" else 1)
    shares = "".join(f"{row['within_one_step'][which]:10.3%}" for which in ("all", "last"))
    print(f"{name:9} {row['measure']:8} {row['examples']:5} {real:9.4g}{cells_of(row, METHODS)}"
          f"{shares}", flush=True)


def print_one_scale(rows):
    ways = ["minmax", *ONE_SCALE]
    print("\nminmax with a scale per output channel, with one for all weights of a layer, that one with "
          "channels equalized, and with biases corrected, too\n")
    print(f"{'task':9}" + "".join(f"{way:>11}{'loss':>9}" for way in ways))
    for name, row in rows.items():
        print(f"{name:9}{cells_of(row, ways)}")
    print("\nthe same, output in dB against the float model\n")
    for name, row in rows.items():
        print(f"{name:9}" + "".join(f"{row[way]['sqnr_db']:20.1f}" for way in ways))


def main(arguments):
    print(f"calibrated on {CALIBRATED} examples, tested on others; accuracy in percent, loss in "
          "points. Last: elements within one step of\nONNX Runtime without optimisations, of all "
          f"rounded tensors and of the last one, on {COMPARED} examples\n")
    heads = "".join(f"{way:>11}{'loss':>9}" for way in METHODS)
    print(f"{'task':9} {'measure':8} {'count':>5} {'float':>9}{heads}{'all':>10}{'last':>10}")
    rows, problems = {}, []
    for name in [name for name in arguments.models.split(",") if name] or TASKS:
        if name not in TASKS:
            sys.exit(f"there is no task {name}; there are {', '.join(TASKS)}")
        rows[name] = Bench(arguments, name).row()
        print_row(name, rows[name])
        problems += problems_of(name, rows[name])
    print_one_scale(rows)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")
    print("\n".join(["", *problems]))
    return 1 if problems else 0
