#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that only the back ends' room compares kinds of targets, triples and suffixes of artifacts.

usage: check_back_ends.py      prints offending lines; exit status 1 if there are any
Elsewhere compiler/codegen/back_end.h answers: findBackEnd(target), machine.backEnd, outputFormatOf(path).
"""
import re
import sys

from source_tree import read, report, with_suffix

FOLDERS = ("app/", "compiler/", "core/", "remote/", "views/")
# The room itself, and the tables of what target strings may say.
ROOMS = ("compiler/codegen/", "core/target/")
QUESTIONS = [
    (r'(\.|->)kind\s*[!=]=\s*"', "a kind of target is compared"),
    (r"\bis(Wasm|Hexagon|Source)\b", "a back end is asked for by name"),
    (r'riple(\(\))?\s*[!=]=\s*"|riple\.(starts_with|find|rfind)\(', "a triple is compared"),
    (r'(ends|starts)_with\("\.?(so|o|tar|wasm|wasm32|elf|hexagon)"\)', "a suffix is compared"),
    (r"Triple::(wasm|hexagon)|\.isWasm\(\)", "an architecture is compared"),
]
# In the room, each folder speaks of itself only.
FOREIGN = {
    "compiler/codegen/c/": r"wasm|hexagon|llvm::",
    "compiler/codegen/llvm/": r"isWasm|Triple::(wasm|hexagon)|wasm-ld|hexagonv",
}
# C source is what its own commands are about: an option of the command line, not a question to a target.
ALLOWED = {("app/cli/compile_command.cpp", "isSource")}


def problems():
    for name in with_suffix(".h", ".cpp"):
        if not name.startswith(FOLDERS):
            continue
        outside = not name.startswith(ROOMS)
        foreign = next((FOREIGN[f] for f in FOREIGN if name.startswith(f)), None)
        for number, line in enumerate(read(name).splitlines(), 1):
            for pattern, what in QUESTIONS if outside else ():
                found = re.search(pattern, line)
                if found and not any(name == file and word in line for file, word in ALLOWED):
                    yield f"{name}:{number}: {what}; ask the back end's row: {line.strip()}"
            if foreign and re.search(foreign, line) and not line.lstrip().startswith("//"):
                yield f"{name}:{number}: speaks of another back end: {line.strip()}"


if __name__ == "__main__":
    sys.exit(report(list(problems())))
