#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the cases of the ONNX backend suite that `tenon verify` passes: in all, and among those
whose inputs and outputs are tensors of the computed types.

Options it does not know go to `tenon verify`, e.g. --executor aot or --target TEXT.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

NAMED = {"bool", "float16", "bfloat16", "float32", "float64"} | {
    sign + "int" + bits for sign in ("", "u") for bits in ("8", "16", "32", "64")}


def cases_below(folder):
    return sorted(str(path.parent) for path in pathlib.Path(folder).rglob("model.onnx"))


def verified(program, folders, options):
    command = [program, "verify", "--json", "--jobs", str(os.cpu_count()), "--timeout", "300",
               *options, *folders]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    try:
        return json.loads(done.stdout)["cases"]
    except (ValueError, KeyError):
        sys.exit(f"tenon verify gave no result: exit code {done.returncode}")


def line(name, cases):
    count = {status: sum(case["status"] == status for case in cases)
             for status in ("passed", "failed", "unsupported")}
    share = 100 * count["passed"] / max(1, len(cases))
    return (f"{name:12} {len(cases):5} cases  {count['passed']:5} passed ({share:.1f} %)  "
            f"{count['failed']} failed  {count['unsupported']} unsupported")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/release/bin/tenon")
    parser.add_argument("--data", default=os.environ.get("TENON_TEST_DATA", "../shared/data"),
                        help="folder of onnx-conformance.tar.zst (default: TENON_TEST_DATA)")
    parser.add_argument("--sample", type=int, help="only so many cases, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--reasons", action="store_true", help="list what did not pass, and why")
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(options.data, "onnx-conformance.tar.zst")
        subprocess.run(["tar", "--zstd", "-xf", archive, "-C", folder], check=True)
        folders = cases_below(folder)
        if options.sample:
            folders = sorted(random.Random(options.seed).sample(folders, options.sample))
        cases = verified(options.program, folders, rest)
        if options.reasons:
            for case in cases:
                if case["status"] != "passed":
                    name = os.path.relpath(case["case"], folder)
                    print(f"{case['status']}  {name}  {case['reason']}")
    print(line("all", cases))
    print(line("named types", [case for case in cases if set(case["types"]) <= NAMED]))
    return 1 if any(case["status"] == "failed" for case in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
