#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that operators are asked for by their definitions, not by names in strings.

usage: check_ops.py      prints offending lines; exit status 1 if there are any
Outside compiler/ops write isOp(node, conv2dOp) and patch.op(reshapeOp, ..) (compiler/ops/ops.h); what is true of
several operators is a field of OpDef that each states in its own file. Importers name what they emit.
"""
import re
import sys

from source_tree import read, report, with_suffix

FOLDERS = ("app/", "compiler/", "remote/", "views/")
# The room itself; statements about loops and instructions, whose words are not operators.
ROOMS = ("compiler/ops/", "compiler/schedule/", "compiler/codegen/")
IMPORTERS = ("compiler/frontend/",)
# Views know no compiler; what they show of a node's attributes depends on its name.
ALLOWED = {("views/models/node_text.cpp", "clip")}


def operator_names():
    rows = re.findall(r"^OP\(\w+\) // (\S+)$", read("compiler/ops/ops.def"), re.M)
    return "|".join(re.escape(name) for name in sorted(rows, key=len, reverse=True))


def questions():
    name = f'"({operator_names()})"'
    compared = [re.compile(rf"(\.|->)op\s*[!=]=\s*{name}"), re.compile(rf"\bop\s*[!=]=\s*{name}"), re.compile(rf"{name}\s*[!=]=\s*[\w.>-]*\bop\b"),
                re.compile(rf"\bis(Op|Named|OneOf)\(.*{name}")]
    written = [re.compile(rf"(\.|->)op\(\s*{name}"), re.compile(rf"\bop = {name}"),
               re.compile(rf"\bnewOpNode\([^,]*, {name}"),
               re.compile(rf"{name}(, {name})+"), re.compile(rf'"(?=\w+\.)({operator_names()})"')]
    return compared, written


def problems():
    compared, written = questions()
    for path in with_suffix(".h", ".cpp"):
        if not path.startswith(FOLDERS) or path.startswith(ROOMS):
            continue
        patterns = compared[:1] if path.startswith(IMPORTERS) else compared
        patterns = patterns + (written if path.startswith("compiler/") and not path.startswith(IMPORTERS) else [])
        for number, line in enumerate(read(path).splitlines(), 1):
            code = line.split("//")[0]
            if any(pattern.search(code) for pattern in patterns) and not any(
                    path == file and f'"{word}"' in line for file, word in ALLOWED):
                yield f"{path}:{number}: names an operator; ask or write its definition: {line.strip()}"


if __name__ == "__main__":
    sys.exit(report(list(problems())))
