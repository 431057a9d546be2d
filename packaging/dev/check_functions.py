#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks function lengths; function_allowances.txt lists the longer ones and can only shrink.

A length is the number of lines between a function's braces; a lambda counts with the function
around it. The layout is clang-format's, so a body ends at the first closing brace that stands as
far in as its opening one.

usage: check_functions.py [LINES]   exit status 1 if a function is too long or an allowance is
                                    not tight; with LINES print the functions longer than that
"""
import ast
import re
import sys

from source_tree import read, report, with_suffix

LIMIT = 40
ALLOWANCES = "packaging/dev/function_allowances.txt"
# What else a brace on a line of its own may follow.
OTHER = re.compile(r"(template <.*> )?(struct|class|enum|union)\b")
# A statement before the signature ends so.
END = re.compile(r"[;{}:]\s*(//.*)?$|^\s*(//|#|Q_\w+$)|^\s*$")
NAME = re.compile(r"((?:\w+::)*~?(?:operator\W+|\w+))\(")
TEST_NAME = re.compile(r"TEST(?:_[FP])?\((\w+), (\w+)\)")


def signature(lines, row):
    """The statement whose body the brace on `row` opens: its first row, and its text."""
    first = row
    while first and not END.search(lines[first - 1]):
        first -= 1
    return first, " ".join(line.strip() for line in lines[first:row])


def name_of(head):
    test = TEST_NAME.match(head)
    if test:
        return f"{test.group(1)}.{test.group(2)}"
    name = NAME.search(head)
    return name.group(1) if name and not OTHER.match(head) else None


def functions_of_c(text):
    """(name, line, length) of each function that takes more than a line."""
    lines = text.splitlines()
    row = 0
    while row < len(lines):
        opening = re.match(r"( *)\{$", lines[row])
        first, head = signature(lines, row) if opening else (row, "")
        name = name_of(head)
        if name:
            closing = re.compile(opening.group(1) + r"\}(?!;)")
            start, row = row, next(
                (i for i in range(row, len(lines)) if closing.match(lines[i])), len(lines) - 1)
            yield name, first + 1, row - start - 1
        row += 1


def functions_of_python(text):
    """The same of a Python file; a function's text counts, its signature and docstring do not."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) and node.body[1:] else node.body
            yield node.name, node.lineno, node.end_lineno - body[0].lineno + 1


def all_functions():
    """(path, name, line, length)"""
    for suffix, functions in ((".c", functions_of_c), (".cpp", functions_of_c),
                              (".h", functions_of_c), (".py", functions_of_python)):
        for path in with_suffix(suffix):
            for function in functions(read(path)):
                yield path, *function


def allowances():
    """(path, name) -> length from lines `path | name | lines`."""
    table = {}
    for line in read(ALLOWANCES).splitlines():
        if line and not line.startswith("#"):
            path, name, lines = (part.strip() for part in line.split("|"))
            table[path, name] = int(lines)
    return table


def main():
    if len(sys.argv) > 1:
        longer = [f for f in all_functions() if f[3] > int(sys.argv[1])]
        for path, name, line, length in sorted(longer, key=lambda f: -f[3]):
            print(f"{length:4} {path}:{line} {name}")
        return 0
    problems = []
    allowed = allowances()
    for path, name, line, length in all_functions():
        limit = allowed.pop((path, name), LIMIT) if length > LIMIT else LIMIT
        if length > limit:
            problems.append(f"{path}:{line}: {name} has {length} lines, limit {limit}; "
                            "split it into parts that each do what their name says")
        elif length > LIMIT and length < limit:
            problems.append(f"{ALLOWANCES}: {name} of {path} has {length} lines now, not {limit}")
    for path, name in allowed:
        problems.append(f"{ALLOWANCES}: {name} of {path} needs no allowance any more")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
