#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One model of the zoo: every pass keeps its values, and every executor and opt level agree.

usage: check_zoo.py BIN_DIR NAME      writes the model and its input to a temporary folder
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
            write_npy(path, value["shape"], "i8", [rng.randrange(1000) for _ in range(count)])
        else:
            write_npy(path, value["shape"], "f4", [rng.gauss(0, 1) for _ in range(count)])


def check_passes(tenon, model):
    """Largest difference over all passes from the model as imported, by the interpreter."""
    passes = json.loads(run([tenon, "passes", model, "--verify-numerics", "--json"]))["passes"]
    errors = {p["name"]: p.get("max_abs_error") or 0 for p in passes}
    worst = max(errors, key=errors.get)
    print(f"passes: largest difference {errors[worst]:.3g} after {worst}")


def check_executors(tenon, model, inputs, folder):
    wanted = None
    for executor, level, threads in CONFIGURATIONS:
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


def main():
    folder_of_programs, name = sys.argv[1:3]
    tenon = os.path.join(folder_of_programs, "tenon")
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.onnx")
        run([os.path.join(folder_of_programs, "tenon-zoo"), name, model, "--divide-channels", "8",
             "--size", "32", "--nodes", "200"])
        inputs = os.path.join(folder, "inputs")
        os.makedirs(inputs)
        write_inputs(tenon, model, inputs)
        check_passes(tenon, model)
        check_executors(tenon, model, inputs, folder)


if __name__ == "__main__":
    main()
