#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every #include line against the table of who may use whom.

usage: check_includes.py      prints offending lines; exit status 1 if there are any
"""
import os
import re
import sys

from source_tree import ROOT, read, report, with_suffix

# folder: (project folders it may include, libraries it may include). The longest prefix counts.
# "std" is C and C++ standard headers, "posix" the system's.
TABLE = {
    "runtime/": (["runtime/"], ["c", "posix"]),
    "runtime/include/": (["runtime/include/"], ["c"]),
    "runtime/executor/": (["runtime/"], ["c"]),
    "runtime/executor/backend.c": (["runtime/"], ["c", "posix"]),  # one mutex
    "runtime/executor/profile.c": (["runtime/"], ["c", "posix"]),  # one mutex
    "core/": (["core/", "runtime/include/"], ["std", "posix", "json"]),
    "compiler/": (["compiler/", "core/", "runtime/include/"],
                  ["std", "posix", "json", "llvm", "protobuf", "archive", "zstd"]),
    "remote/": (["remote/", "core/", "compiler/driver/", "runtime/include/", "runtime/rpc/",
                 "runtime/micro/rpc/"],
                ["std", "posix", "json", "libssh", "sqlite", "avahi"]),
    "views/models/": (["views/models/", "core/"], ["std", "QtCore"]),
    "views/scene/": (["views/scene/", "views/models/", "core/"], ["std", "QtCore"]),
    "views/presenters/": (["views/presenters/", "views/scene/", "views/models/", "core/"],
                          ["std", "QtCore"]),
    "views/": (["views/", "core/layout/", "core/base/"],
               ["std", "QtCore", "QtGui", "QtWidgets"]),
    "views/theme/": (["views/theme/", "views/scene/", "views/models/", "core/base/"],
                     ["std", "QtCore", "QtGui", "QtWidgets"]),
    "views/canvas/": (["views/canvas/", "views/scene/", "views/models/", "views/theme/",
                       "core/layout/", "core/base/"],
                      ["std", "QtCore", "QtGui", "QtSvg", "QtWidgets"]),
    "views/charts/": (["views/charts/", "views/models/", "views/theme/", "core/base/"],
                      ["std", "QtCore", "QtGui", "QtWidgets", "qcustomplot"]),
    "app/": (["app/", "views/", "remote/", "compiler/", "core/", "runtime/"],
             ["std", "posix", "json", "QtCore", "QtGui", "QtWidgets"]),
    "app/runs/": (["app/runs/", "remote/", "compiler/", "core/", "runtime/"], ["std", "posix"]),
    "app/runs/samples/jpeg.cpp": (["app/runs/", "core/"], ["std", "jpeg"]),
    "app/runs/samples/png.cpp": (["app/runs/", "core/"], ["std", "png"]),
    "app/engine/": (["app/engine/", "app/runs/", "views/presenters/", "views/models/", "remote/",
                     "compiler/", "core/"], ["std", "QtCore"]),
    "app/workbench/": (["app/workbench/", "app/engine/", "views/", "core/"],
                       ["std", "QtCore", "QtGui", "QtWidgets"]),
    # It is also the worker that the window starts.
    "app/workbench/main.cpp": (["app/", "views/", "remote/peer/", "compiler/driver/", "core/"],
                               ["std", "QtCore", "QtGui", "QtWidgets"]),
    "app/cli/": (["app/cli/", "app/report/", "app/runs/", "remote/", "compiler/", "core/",
                  "runtime/"],
                 ["std", "posix", "json", "cli11"]),
    "app/report/": (["app/report/", "remote/", "compiler/", "core/"], ["std", "json"]),
}

LIBRARIES = [
    (r"llvm(-c)?/|lld/", "llvm"),
    (r"google/protobuf/", "protobuf"),
    (r"nlohmann/", "json"),
    (r"CLI/", "cli11"),
    (r"libssh/", "libssh"),
    (r"avahi-", "avahi"),
    (r"archive(_entry)?\.h$", "archive"),
    (r"zstd\.h$", "zstd"),
    (r"sqlite3\.h$", "sqlite"),
    (r"jpeglib\.h$", "jpeg"),
    (r"png\.h$", "png"),
    (r"qcustomplot\.h$", "qcustomplot"),
    (r"Q[A-Za-z0-9]+(/\w+)?$", "qt"),
    (r"(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|"
     r"stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|tgmath|"
     r"threads|time|uchar|wchar|wctype)\.h$", "c"),
    (r"(sys|netinet|arpa|net|linux|asm)/\w+\.h$|\w+\.h$", "posix"),
    (r"[a-z_0-9]+$", "std"),
]

QT_HEADERS = "/usr/include/x86_64-linux-gnu/qt6"


def qt_module(header):
    """QtCore, QtGui, QtWidgets, ...: by prefix, or by the installed headers; None if unknown."""
    if "/" in header:
        return header.split("/")[0]
    for module in ("QtCore", "QtGui", "QtWidgets", "QtTest", "QtPrintSupport", "QtSvg"):
        if os.path.exists(os.path.join(QT_HEADERS, module, header)):
            return module
    return None


def library_of(header):
    for pattern, name in LIBRARIES:
        if re.match(pattern, header):
            return qt_module(header) if name == "qt" else name
    return "unknown"


def problem_of(name, quote, header):
    folders, libraries = TABLE[max((p for p in TABLE if name.startswith(p)), key=len)]
    if quote == '"':
        # The runtime builds without include paths of ours: there a header may be named relatively.
        # Boards share what lies with the first of them; a project has all in one folder.
        folders_here = [os.path.dirname(name)] if name.startswith("runtime/") else []
        if name.startswith("runtime/micro/"):
            folders_here.append("runtime/micro/mps2")
        for folder in folders_here:
            beside = os.path.normpath(os.path.join(folder, header))
            if os.path.exists(os.path.join(ROOT, beside)):
                header = beside
                break
        if any(header.startswith(f) for f in folders):
            return None
        return f"may not include {header}"
    library = library_of(header)
    if library is None or library in libraries:
        return None
    if library == "c" and "std" in libraries:
        return None
    return f"may not include <{header}> ({library})"


def main():
    problems = []
    for name in with_suffix(".h", ".cpp", ".c"):
        if not any(name.startswith(p) for p in TABLE):
            continue
        for number, line in enumerate(read(name).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            problem = match and problem_of(name, match.group(1), match.group(2))
            if problem:
                problems.append(f"{name}:{number}: {problem}")
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
