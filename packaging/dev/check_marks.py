#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks for unfinished marks, machine paths, unsorted source lists and tracked files over 1 MiB.

usage: check_marks.py      exit status 1 on any of them
"""
import os
import re
import sys

from source_tree import ROOT, all_files, read, report, with_suffix

MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
PATHS = re.compile(r"(?<![\w./])/(work|root|farm|home/\w+)/")
TEXT = (".h", ".cpp", ".c", ".py", ".sh", ".txt", ".md", ".cmake", ".proto", ".def", ".json")


def unsorted_lists(name):
    """Each run of source files in a CMake list is in alphabetical order."""
    run = []
    for number, line in enumerate(read(name).splitlines(), 1):
        match = re.match(r"\s+([\w./-]+\.(?:cpp|c|h))\)?$", line)
        if not match:
            run = []
            continue
        if run and match.group(1) < run[-1]:
            yield f"{name}:{number}: {match.group(1)} is out of alphabetical order"
        run.append(match.group(1))


def main():
    problems = []
    for name in all_files():
        if os.path.getsize(os.path.join(ROOT, name)) > 1 << 20:
            problems.append(f"{name}: over 1 MiB")
    for name in with_suffix(*TEXT):
        for number, line in enumerate(read(name).splitlines(), 1):
            if MARKS.search(line):
                problems.append(f"{name}:{number}: unfinished mark")
            if PATHS.search(line):
                problems.append(f"{name}:{number}: path of one machine")
        if name.endswith("CMakeLists.txt"):
            problems += unsorted_lists(name)
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
