#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `./dev run` builds everything that users get: the target `product`.

usage: check_product.py BUILD_FOLDER      prints what is missing; exit status 1 if anything is

Every program, library and shared file of the build that is no test's must be built with `product`:
then the window and the command line find what they look for at run time.
"""
import os
import re
import sys

from source_tree import read, report

PLACES = ("bin/", "lib/")


def build_graph(build):
    """Output -> inputs of all rules, paths as below the build folder."""
    with open(os.path.join(build, "build.ninja"), encoding="utf-8") as file:
        text = file.read().replace("$\n", " ")
    root = os.path.abspath(build) + "/"

    def names(part):
        return [name.removeprefix("${cmake_ninja_workdir}").removeprefix(root)
                for name in part.replace("|", " ").split()]

    graph = {}
    for outputs, inputs in re.findall(r"^build (.*?): \S+(.*)$", text, re.M):
        for output in names(outputs):
            graph.setdefault(output, []).extend(names(inputs))
    return graph


def built_with(graph, target):
    """Everything that building the target makes or reads."""
    found, pending = set(), [target]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(graph.get(name, []))
    return found


def is_a_tests(inputs):
    return any(re.match(r"(\S*/)?tests/", name) for name in inputs)


def is_a_link_to(inputs, product):
    """libtenon_runtime.so.0 and the like, which come with the library that they name."""
    return any(name in product and name.startswith("lib/") for name in inputs)


def main(build):
    graph = build_graph(build)
    product = built_with(graph, "product")
    problems = [f"{output}: not built with `product`; add its target there (CMakeLists.txt)"
                for output, inputs in sorted(graph.items())
                if output.startswith(PLACES) and not output.endswith(("/all", ".a"))
                and output not in product and not is_a_tests(inputs) and not is_a_link_to(inputs, product)]
    if not any(output.startswith("lib/tenon/") for output in product):
        problems.append("product: nothing below lib/tenon/ is built with it")
    if "build release product" not in read("dev"):
        problems.append("dev: `./dev run` does not build `product`")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
