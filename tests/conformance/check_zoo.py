#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of the zoo, small: every pass keeps the values of one, and executors and opt levels agree.

usage: check_zoo.py BIN_DIR NAME     writes the model and its input to a temporary folder
       check_zoo.py BIN_DIR --all    every model, without optimization and with all of it only
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

TOLERANCE = 1e-3
CONFIGURATIONS = [(executor, level, threads) for executor in ("graph", "aot")
                  for level, threads in ((0, 1), (1, 1), (2, 2), (3, 1), (3, 2))]
CONFIGURATIONS += [("vm", 0, 1), ("vm", 3, 2)]
QUICK = [("aot", 0, 1), ("aot", 3, 2)]
# Images that are large enough for every reduction of the network.
SIZES = {"inception_v3": 75}


def write_npy(path, shape, code, values):
    """A NumPy file of little-endian `code` ("f4", "i8") elements."""
    header = f"{{'descr': '<{code}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    kind = {"f4": "f", "i8": "q"}[code]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{kind}", *values))


def read_npy(path):
    """The float32 elements of a NumPy file."""
    with open(path, "rb") as file:
        content = file.read()
    start = 10 + struct.unpack_from("<H", content, 8)[0]
    return struct.unpack(f"<{(len(content) - start) // 4}f", content[start:])


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def write_inputs(tenon, model, folder):
    rng = random.Random(1)
    for index, value in enumerate(json.loads(run([tenon, "inspect", model, "--json"]))["inputs"]):
        count = 1
        for dim in value["shape"]:
            count *= int(dim)
        path = os.path.join(folder, f"input_{index}.npy")
        if value["dtype"] == "int64":
            limit = 2 if value["name"] == "mask" else 1000
            write_npy(path, value["shape"], "i8", [rng.randrange(limit) for _ in range(count)])
        else:
            write_npy(path, value["shape"], "f4", [rng.gauss(0, 1) for _ in range(count)])


def check_passes(tenon, model):
    """Largest difference over all passes from the model as imported, by the interpreter."""
    passes = json.loads(run([tenon, "passes", model, "--verify-numerics", "--json"]))["passes"]
    errors = {p["name"]: p.get("max_abs_error") or 0 for p in passes}
    worst = max(errors, key=errors.get)
    print(f"passes: largest difference {errors[worst]:.3g} after {worst}")


def check_executors(tenon, model, inputs, folder, configurations):
    wanted = None
    for executor, level, threads in configurations:
        outputs = os.path.join(folder, f"{executor}{level}{threads}")
        os.makedirs(outputs)
        run([tenon, "run", model, "--inputs", inputs, "--outputs", outputs, "--executor",
             executor, "--opt-level", str(level), "--threads", str(threads)])
        got = read_npy(os.path.join(outputs, "output_0.npy"))
        wanted = wanted or got
        scale = max(max(abs(v) for v in wanted), 1e-6)
        error = max(abs(a - b) for a, b in zip(got, wanted)) / scale
        print(f"{executor} opt {level}, {threads} thread(s): relative difference {error:.3g}")
        if not len(got) == len(wanted) or not error <= TOLERANCE:
            sys.exit("differs from the first configuration")


def check(programs, name, folder):
    tenon = os.path.join(programs, "tenon")
    model = os.path.join(folder, "model.onnx")
    run([os.path.join(programs, "tenon-zoo"), name, model, "--divide-channels", "8", "--size", "32",
         "--nodes", "200"])
    inputs = os.path.join(folder, "inputs")
    os.makedirs(inputs)
    write_inputs(tenon, model, inputs)
    check_passes(tenon, model)
    check_executors(tenon, model, inputs, folder, CONFIGURATIONS)


def check_calibrated(programs, name, folder):
    """Deep networks tell differences of rounding from others only with the statistics they leave."""
    tenon = os.path.join(programs, "tenon")
    size = str(SIZES.get(name, 64))
    write = [os.path.join(programs, "tenon-zoo"), name]
    options = ["--divide-channels", "8", "--size", size, "--nodes", "200", "--inputs", "1"]
    measuring, statistics = os.path.join(folder, "measuring"), os.path.join(folder, "statistics")
    count = int(run([*write, os.path.join(measuring, "model.onnx"), *options, "--batch", "4",
                     "--measure-statistics", "1"]))
    if count > 0:
        os.makedirs(statistics)
        run([tenon, "run", os.path.join(measuring, "model.onnx"), "--opt-level", "1", "--inputs",
             os.path.join(measuring, "test_data_set_0"), "--outputs", statistics])
        options += ["--statistics", statistics]
    model = os.path.join(folder, "model.onnx")
    run([*write, model, *options])
    check_executors(tenon, model, os.path.join(folder, "test_data_set_0"), folder, QUICK)


def names_of(program):
    """What the zoo holds."""
    usage = subprocess.run([program], stderr=subprocess.PIPE, text=True, check=False).stderr
    return usage.split("names:", 1)[1].split()


def main():
    programs, name = sys.argv[1:3]
    if name != "--all":
        with tempfile.TemporaryDirectory() as folder:
            check(programs, name, folder)
        return
    for each in names_of(os.path.join(programs, "tenon-zoo")):
        print(each, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            check_calibrated(programs, each, folder)


if __name__ == "__main__":
    main()
