#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no test passes without having tried anything.

- Every golden file is named by a test beside it or above it.
- A test is skipped by the macros of tests/support only, which fail where TENON_REQUIRE lists what
  is missing.
- Every test asserts something, itself or in a function that it calls.
- Tests mirror the tree: every folder below tests/app, compiler, core, remote, runtime and views is
  one of the tree's, and x_test stands where x does. A room has its own program, or its parent's.

usage: check_tests.py      exit status 1 on any of them
"""
import os
import re
import sys

from source_tree import ROOT, read, report, with_suffix

ASSERTS = re.compile(r"\b(EXPECT|ASSERT|QVERIFY2?|QCOMPARE|QTRY|QFAIL|FAIL|ADD_FAILURE|CHECK)"
                     r"(_[A-Z_]+)?\(")
SKIPS = re.compile(r"\b(GTEST_SKIP|QSKIP)\(")
CASE = re.compile(r"TEST(?:_F|_P)?\((\w+), (\w+)\)")
SLOT = re.compile(r"    void (\w+)\(\)$")
PASSES = "tests/compiler/passes"
MIRRORED = {"app", "compiler", "core", "remote", "runtime", "views"}
NOT_FUNCTIONS = {"TEST", "TEST_F", "TEST_P", "if", "for", "while", "switch", "catch", "void"}
NOT_CASES = {"init", "cleanup", "initTestCase", "cleanupTestCase"}
FUNCTION = re.compile(r"( *)(?:[\w:<>,&* ]+ )?[&*]?(?:\w+::)*(\w+)\([^;]*$")
CALL = re.compile(r"\b(\w+)(?:<[\w:, ]+>)?\(")


def body_at(lines, row, indent):
    """The text from `row` to the brace that closes what begins there; the layout is the format's."""
    text = []
    for line in lines[row:]:
        text.append(line)
        closed = line.startswith(indent + "}") or (len(text) == 1 and line.endswith("}"))
        if closed or (len(text) > 1 and line == ""  and text[-2] == indent + "}"):
            break
    return "\n".join(text)


def functions(lines):
    """(name, body) of everything that looks like a definition."""
    for row, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match or line.endswith(";") or match.group(2) in NOT_FUNCTIONS:
            continue
        head = next((i for i in range(row, min(row + 6, len(lines)))
                     if lines[i].endswith(("{", "}", ";"))), None)
        if head is None or lines[head].endswith(";"):
            continue
        yield match.group(2), body_at(lines, row, match.group(1))


def asserting_functions(files):
    bodies = {}
    for lines in files.values():
        for name, body in functions(lines):
            bodies.setdefault(name, []).append(body)
    asserting = {name for name, texts in bodies.items() if any(map(ASSERTS.search, texts))}
    while True:
        more = {name for name, texts in bodies.items() if name not in asserting and any(
            set(CALL.findall(text)) & asserting for text in texts)}
        if not more:
            return asserting
        asserting |= more


def cases(lines):
    """(line, name, body) of the tests of a file."""
    is_slot = False
    for row, line in enumerate(lines):
        if line.strip() == "private slots:":
            is_slot = True
        elif line.startswith("};"):
            is_slot = False
        case, slot = CASE.match(line), SLOT.match(line)
        if case:
            yield row + 1, f"{case.group(1)}.{case.group(2)}", body_at(lines, row, "")
        elif is_slot and slot and slot.group(1) not in NOT_CASES and \
                not slot.group(1).endswith("_data"):
            yield row + 1, slot.group(1), body_at(lines, row, "    ")


def without_assertion(files):
    asserting = asserting_functions(files)
    for name, lines in files.items():
        for line, case, body in cases(lines):
            if not ASSERTS.search(body) and not set(CALL.findall(body)) & asserting:
                yield f"{name}:{line}: {case} asserts nothing"


def unlisted_goldens():
    tests = [n for n in with_suffix(".cpp", ".h", ".py", ".sh", "CMakeLists.txt")
             if n.startswith("tests/")]
    passes = read("compiler/passes/passes.def")
    for golden in with_suffix(".txt"):
        folder, file = os.path.split(golden)
        if not golden.startswith("tests/") or file == "CMakeLists.txt":
            continue
        if any(f'goldenFilesIn("{folder}")' in read(test) for test in tests):
            continue
        stem = re.escape(file[:-len(".txt")])
        named = re.compile(rf'["/ ]{stem}(\.txt)?["/ )\n]')
        # The test of the passes goes through this list.
        is_pass = (folder + "/").startswith(PASSES + "/") and f'"{file[:-4].replace("_", "-")}"' in passes
        if not is_pass and not any(named.search(read(test)) for test in tests
                                   if folder.startswith(os.path.dirname(test))):
            yield f"{golden}: no test names it"


def misplaced(tests):
    """Folders that the tree does not have, and tests that stand elsewhere than what they test."""
    homes = {}
    for name in with_suffix(".h", ".cpp", ".c"):
        folder, file = os.path.split(name)
        top = name.split("/")[0]
        homes.setdefault((top, file.rsplit(".", 1)[0]), set()).add(folder)
    for name in tests:
        folder, file = os.path.split(name[len("tests/"):])
        top = folder.split("/")[0]
        if top not in MIRRORED:
            continue
        if not os.path.isdir(os.path.join(ROOT, folder)):
            yield f"{name}: the tree has no folder {folder}"
        subject = homes.get((top, file[:-len("_test.cpp")]), set())
        if file.endswith("_test.cpp") and len(subject) == 1 and folder not in subject:
            yield f"{name}: belongs to tests/{subject.pop()}, where its subject is"


def main():
    files = {name: read(name).splitlines() for name in with_suffix(".cpp", ".h")
             if name.startswith("tests/")}
    problems = list(unlisted_goldens()) + list(without_assertion(files)) + list(misplaced(files))
    for name, lines in files.items():
        if name.startswith("tests/support/"):
            continue
        problems += [f"{name}:{number}: skip by TENON_NEED of tests/support"
                     for number, line in enumerate(lines, 1) if SKIPS.search(line)]
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
