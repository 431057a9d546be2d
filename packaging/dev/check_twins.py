#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that header, source and test share a stem, and that sources include their header first.

usage: check_twins.py      exit status 1 on a source or test without its twin
"""
import os
import re
import sys

from source_tree import all_files, read, report

LIBRARIES = ("core/", "compiler/", "remote/", "views/")
# Declared by a .def list instead of a header of their own.
LISTED = ("compiler/ops/", "compiler/passes/")


def first_include(name):
    match = re.search(r'^#include "([^"]+)"', read(name), re.M)
    return match.group(1) if match else ""


def source_problems(files):
    for name in files:
        if not name.startswith(LIBRARIES) or not name.endswith(".cpp"):
            continue
        header = name[:-4] + ".h"
        if header in files and first_include(name) != header:
            yield f"{name}: does not include its own header first"
        folder = os.path.dirname(name)
        near = any(f.endswith(".h") and os.path.dirname(f) in (folder, os.path.dirname(folder))
                   for f in files)
        if header not in files and not name.startswith(LISTED) and not near:
            yield f"{name}: no header {header} and none beside it or above"


def test_problems(files):
    """A test below tests/F/ tests something of F, and a golden of a listed file has its source."""
    for name in files:
        match = re.match(r"tests/(core|compiler|remote|views|app)/.*_test\.cpp$", name)
        if match and not re.search(rf'#include "(tests/|{match.group(1)}/)', read(name)):
            yield f"{name}: includes nothing of {match.group(1)}/"
        match = re.match(r"tests/(compiler/(?:ops|passes))/(?!bad_|CMakeLists)(\w+)\.txt$", name)
        if match and f"{match.group(1)}/{match.group(2)}.cpp" not in files:
            yield f"{name}: there is no {match.group(1)}/{match.group(2)}.cpp"


def main():
    files = set(all_files())
    return report(sorted(list(source_problems(files)) + list(test_problems(files))))


if __name__ == "__main__":
    sys.exit(main())
