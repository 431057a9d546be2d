#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each file names the licence its folder has, and says in a sentence what it holds.

usage: check_licences.py      exit status 1 on a missing or wrong SPDX line
"""
import fnmatch
import re
import sys

from source_tree import all_files, read, report

GPL = ("views/", "app/engine/", "app/workbench/", "tests/views/", "tests/app/")
MIT0 = ("runtime/include/", "runtime/micro/", "resources/examples/")
CODE = (".h", ".cpp", ".c", ".py", ".cmake", ".proto", ".def", ".sh")


def allowed_licences(name):
    if name.startswith(("tests/views/", "tests/app/")):
        return ("GPL-3.0-or-later", "Apache-2.0")
    if name.startswith(GPL):
        return ("GPL-3.0-or-later",)
    if name.startswith(MIT0):
        return ("MIT-0",)
    return ("Apache-2.0",)


def patterns_of_dep5():
    """File patterns that .reuse/dep5 covers: what cannot carry a comment."""
    patterns = []
    for block in re.findall(r"^Files:((?:.*\n)(?: .*\n)*)", read(".reuse/dep5"), re.M):
        patterns += block.split()
    return patterns


def problem_of(name, head):
    match = re.search(r"SPDX-License-Identifier: ([\w.-]+)", "\n".join(head[:3]))
    if not match:
        return "no SPDX line in its first lines"
    if match.group(1) not in allowed_licences(name):
        return f"is {match.group(1)} but its folder is {' or '.join(allowed_licences(name))}"
    line = next(i for i, text in enumerate(head) if "SPDX" in text)
    following = head[line + 1] if line + 1 < len(head) else ""
    comment = r"\s*(//|/?\*)" if name.endswith((".h", ".cpp", ".c")) else r'\s*(//|#|/?\*|"""|;|<!--)'
    if name.endswith(CODE) and not re.match(comment, following):
        return "no sentence after the SPDX line that says what the file holds"
    return None


def main():
    covered = patterns_of_dep5()
    problems = []
    for name in all_files():
        if any(fnmatch.fnmatch(name, pattern) for pattern in covered):
            continue
        problem = problem_of(name, read(name).splitlines()[:4])
        if problem:
            problems.append(f"{name}: {problem}")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
