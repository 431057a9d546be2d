#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks file lengths; size_allowances.txt holds the exceptions, each with its reason.

usage: check_sizes.py      exit status 1 if a file is too long or an allowance is not needed
"""
import sys

from source_tree import read, report, with_suffix

LIMITS = {".h": 150, ".cpp": 400, ".c": 400, ".py": 400}
ALLOWANCES = "packaging/dev/size_allowances.txt"


def allowances():
    """path -> (limit, reason) from lines `path | lines | reason`."""
    table = {}
    for line in read(ALLOWANCES).splitlines():
        if line and not line.startswith("#"):
            path, lines, reason = (part.strip() for part in line.split("|", 2))
            table[path] = (int(lines), reason)
    return table


def main():
    problems = []
    allowed = allowances()
    seen = set()
    for name in with_suffix(*LIMITS):
        limit = LIMITS[name[name.rindex("."):]]
        lines = read(name).count("\n")
        if name in allowed:
            seen.add(name)
            if lines <= limit:
                problems.append(f"{name}: {lines} lines; its allowance is not needed any more")
            limit = max(limit, allowed[name][0])
        if lines > limit:
            problems.append(f"{name}: {lines} lines, limit {limit}; split it by reason to change")
    for name, (_, reason) in allowed.items():
        if name not in seen:
            problems.append(f"{ALLOWANCES}: {name} does not exist")
        if len(reason.split()) < 4:
            problems.append(f"{ALLOWANCES}: {name} has no real reason")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
