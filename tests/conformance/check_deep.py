#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Deep networks with calibrated statistics: results against an evaluation in binary64, and the
error that was expected of them.

usage: check_deep.py BIN_DIR [NAME:SIZE:IMAGES[:DIVIDE_CHANNELS] ...]    without: all, full size
"""
import json
import os
import sys
import tempfile

from check_zoo import read_npy, run

# Results may leave the exact ones by so much of the largest, and so much of themselves.
ABSOLUTE, RELATIVE = 2e-5, 1e-3
# Expected errors are those of the largest result, so that measured ones are below, not far.
LEAST, MOST = 0.8, 8
ALL = ["inception_v3:299:4", "inception_v3:139:6", "resnet50:224:4", "resnet18:224:4",
       "vgg16:224:2", "densenet121:224:4"]
BUDGET = "winograd.output_error="
VARIANTS = [("level 0", ["--opt-level", "0"]), ("level 1", ["--opt-level", "1"]),
            ("level 2", ["--opt-level", "2"]), ("level 3", []),
            ("level 3, no Winograd", ["--pass-config", "winograd.max_error=0"]),
            ("level 3, any error", ["--pass-config", BUDGET + "1"])]


def expected_error(tenon, model, options, folder):
    library = os.path.join(folder, "model.so")
    reply = json.loads(run([tenon, "compile", model, "-o", library, "--json", *options]))
    error = reply["expected_error"]
    forms = sum(layer["method"].startswith("Winograd") for layer in error["layers"])
    return error["output"], forms


def measured(tenon, model, options, folder, exact):
    """Error of the largest result, and how many results are outside the tolerance."""
    run([tenon, "run", model, "--inputs", model + ".input.npy", "--outputs", folder, *options])
    got = read_npy(os.path.join(folder, "output_0.npy"))
    largest = max(abs(v) for v in exact)
    errors = [abs(a - b) for a, b in zip(got, exact)]
    outside = sum(e > ABSOLUTE * largest + RELATIVE * abs(v) for e, v in zip(errors, exact))
    return max(errors) / largest, outside


def check(tenon, zoo, spec, folder):
    name, size, images, divide = (spec.split(":") + ["1"])[:4]
    model = os.path.join(folder, name + ".onnx")
    run([zoo, name, model, "--size", size, "--calibrate", images, "--divide-channels", divide])
    exact = read_npy(model + ".exact.npy")
    failures = []
    for title, options in VARIANTS:
        wanted, forms = expected_error(tenon, model, options, folder)
        error, outside = measured(tenon, model, options, folder, exact)
        print(f"{spec} {title}: error {error:.1e} of the largest, {outside} outside, "
              f"expected {wanted:.1e} ({wanted / error:.1f} times), {forms} Winograd")
        if not LEAST <= wanted / error <= MOST:
            failures.append(f"{spec} {title}: expected {wanted:.1e}, measured {error:.1e}")
        if outside and "any error" not in title:
            failures.append(f"{spec} {title}: {outside} results outside the tolerance")
    return failures


def main():
    programs, specs = sys.argv[1], sys.argv[2:] or ALL
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for spec in specs:
            failures += check(os.path.join(programs, "tenon"), os.path.join(programs, "tenon-zoo"),
                              spec, folder)
    sys.exit("\n".join(failures) if failures else 0)


if __name__ == "__main__":
    main()
