#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every diagnostic code is produced somewhere and expected by some test.

usage: check_diagnostics.py      exit status 1 on a code without producer or test
"""
import re
import sys

from source_tree import read, report, with_suffix

LISTS = ("core/base/diagnostics.def", "core/base/board_diagnostics.def",
         "core/base/option_diagnostics.def")


def main():
    codes = []
    problems = []
    for path in LISTS:
        listed = re.findall(r'^DIAGNOSTIC\((\w+), "([\w-]+)"\)', read(path), re.M)
        if [name for name, _ in listed] != sorted(name for name, _ in listed):
            problems.append(f"{path}: not in alphabetical order")
        codes += listed
    sources = "\n".join(read(f) for f in with_suffix(".cpp", ".h")
                        if not f.startswith(("tests/", "core/base/diagnostic.")))
    tests = "\n".join(read(f) for f in with_suffix(".cpp", ".txt", ".h")
                      if f.startswith("tests/"))
    for name, text in codes:
        if not re.search(rf"\bDiagnosticCode::{name}\b|\b{name}\b", sources):
            problems.append(f"{text}: no code produces it")
        if not re.search(rf"\b(Diagnostic|Board|Option)Code::{name}\b|[^\w-]{text}[^\w-]", tests):
            problems.append(f"{text}: no test expects it")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
