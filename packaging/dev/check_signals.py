#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what the window's parts hand one another cannot dangle.

- Signals and slots take values: a slot may replace the rows that a reference would point into.
- A lambda that is connected names the object whose death ends the connection.
- Nothing waits inside of a handler: a menu or dialog that is executed keeps frames alive over
  whatever happens behind it.
- A row is looked up by the model, which knows when an index is older than its rows.

usage: check_signals.py      exit status 1 on any of them
"""
import re
import sys

from source_tree import read, report, with_suffix

FOLDERS = ("app/engine/", "app/workbench/", "views/")
SECTION = re.compile(r"\s*(?:(signals|(?:public|protected|private) slots)|\w+)\s*:$")
BORROWED = re.compile(r"[&*]|\b(string_view|span|QModelIndex|QStringView)\b")
NESTED = re.compile(r"(?:\.|->)exec\(|QFileDialog::get|QInputDialog::get|QEventLoop|processEvents"
                    r"|QMessageBox::(?:about|critical|information|question|warning)\(")
ROW = re.compile(r"rows\(\)\[static_cast<size_t>\(\w+\.row\(\)\)\]")
# The program's own loop, and pictures made without one.
WAITING = {"app/workbench/main.cpp"}


def borrowed_parameters(name):
    is_handed = False
    for number, line in enumerate(read(name).splitlines(), 1):
        section = SECTION.match(line)
        if section or line.startswith("};"):
            is_handed = bool(section and section.group(1))
            continue
        code = line.split("//")[0].split("{")[0]
        if is_handed and "(" in code and BORROWED.search(code[code.index("("):]):
            yield f"{name}:{number}: a signal or slot takes values, no references or views"
        elif is_handed and "(" not in code and BORROWED.search(code):
            yield f"{name}:{number}: a signal or slot takes values, no references or views"


def arguments(text, start):
    """Of the call whose opening parenthesis stands before `start`: texts between its commas."""
    depth, parts = 0, [""]
    for char in text[start:]:
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                break
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def lambdas_without_context(name):
    text = read(name)
    for call, place in ((r"\bconnect\(", 2), (r"\bsingleShot\(", 1)):
        for match in re.finditer(call, text):
            given = arguments(text, match.end())
            if len(given) > place and given[place].startswith("["):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{name}:{line}: a lambda needs the object whose death ends the connection"


def main():
    problems = []
    for name in with_suffix(".h", ".cpp"):
        if not name.startswith(FOLDERS):
            continue
        if name.endswith(".h"):
            problems += borrowed_parameters(name)
        problems += lambdas_without_context(name)
        for number, line in enumerate(read(name).splitlines(), 1):
            if NESTED.search(line) and name not in WAITING:
                problems.append(f"{name}:{number}: nothing waits inside of a handler")
            if ROW.search(line):
                problems.append(f"{name}:{number}: take the model's row(index)")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
