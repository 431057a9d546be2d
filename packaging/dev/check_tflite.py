#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every case of tests/conformance/tflite, a .tflite file each, by TensorFlow Lite (as WebAssembly,
from npm) and by Tenon, and prints the outcomes by operator and type.

Options it does not know go to `tflite_cases check`, e.g. --only CONV, --levels 3, --target TEXT.
"""
import argparse
import os
import shutil
import subprocess
import sys

from source_tree import ROOT

PACKAGE = "@tensorflow/tfjs-tflite"
VERSION = "0.0.1-alpha.10"


def runtime(build):
    """The folder of the runtime's WebAssembly, installed on demand next to the build and never into
    the tree."""
    folder = os.path.join(os.path.dirname(os.path.abspath(build)), "npm-tflite")
    path = os.path.join(folder, "node_modules", PACKAGE, "wasm")
    if not os.path.isdir(path):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
            file.write('{"private": true}\n')
        # Its peers are the rest of TensorFlow.js, which only its own front end needs.
        subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
                        "--legacy-peer-deps", f"{PACKAGE}@{VERSION}"],
                       cwd=folder, check=True, stdout=sys.stderr)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--cases", help="folder for the cases (default: below the build)")
    parser.add_argument("--keep", action="store_true",
                        help="take the cases and TensorFlow Lite's results of the last time")
    options, rest = parser.parse_known_args()
    program = os.path.join(options.build, "bin/tflite_cases")
    cases = os.path.abspath(options.cases or os.path.join(options.build, "tflite-cases"))
    if not (options.keep and os.path.isdir(cases)):
        shutil.rmtree(cases, ignore_errors=True)
        subprocess.run([program, "write", cases], check=True)
        script = os.path.join(ROOT, "tests/conformance/tflite/run_reference.cjs")
        subprocess.run(["node", script, runtime(options.build), cases], check=True)
    return subprocess.run([program, "check", cases, *rest], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
