#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the cases inside each CTest entry (GoogleTest, Qt Test) from CTest's JUnit file.

usage: summarize_tests.py RESULTS.xml      the last line is "N passed, N failed, N skipped"

GoogleTest is expected to run brief (GTEST_BRIEF=1): it then tells what failed, and its total of the passed ones.
"""
import re
import sys
import xml.etree.ElementTree as xml

GTEST = {"passed": r"^\[  PASSED  \] (\d+) test", "skipped": r"^\[  SKIPPED \] (\d+) test"}
GTEST_FAILED = r"^\[  FAILED  \] (\S+\.\S+?)(?:, where .*)? \(\d+ ms\)"
QTEST = r"^Totals: (\d+) passed, (\d+) failed, (\d+) skipped"


def last_number(pattern, output):
    found = re.findall(pattern, output, re.M)
    return int(found[-1]) if found else 0


def failed_cases(case):
    """Names of the failed GoogleTest cases of one CTest entry."""
    return re.findall(GTEST_FAILED, case.findtext("system-out") or "", re.M)


def case_counts(case):
    """(passed, failed, skipped) of one CTest entry; a crash counts as one failure."""
    output = case.findtext("system-out") or ""
    status = case.get("status")
    qt = re.findall(QTEST, output, re.M)
    if qt:
        counts = [sum(int(row[i]) for row in qt) for i in range(3)]
    elif "[==========]" in output:
        counts = [last_number(GTEST["passed"], output), len(failed_cases(case)), last_number(GTEST["skipped"], output)]
    else:
        counts = [status == "run", status == "fail", status in ("notrun", "disabled")]
    if status == "fail" and counts[1] == 0:
        counts[1] = 1
    return [int(n) for n in counts]


def main():
    totals = [0, 0, 0]
    failed = []
    reasons = set()
    for case in xml.parse(sys.argv[1]).getroot().iter("testcase"):
        counts = case_counts(case)
        totals = [a + b for a, b in zip(totals, counts)]
        if counts[1]:
            failed.append(": ".join([case.get("name"), ", ".join(failed_cases(case))]).removesuffix(": "))
        reasons.update(re.findall(r"SKIP: .*", case.findtext("system-out") or ""))
    for reason in sorted(reasons):
        print(reason)
    for name in failed:
        print(f"failed: {name}")
    print("{} passed, {} failed, {} skipped".format(*totals))


if __name__ == "__main__":
    main()
