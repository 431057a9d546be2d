#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the options, files and words of ./dev that the documents name exist, and that every
page of the manual is linked from the README.

usage: check_documents.py      exit status 1 on a name that leads nowhere
"""
import fnmatch
import os
import re
import sys

from source_tree import all_files, read, report, with_suffix

OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*[a-z0-9])(?![^|`]*-->)")  # --no arrow-->
PATH = re.compile(r"(?<![\w./~-])((?:app|compiler|core|packaging|remote|resources|runtime|tests|views)"
                  r"/[\w./{},*-]*\w[}/]?)")
LINK = re.compile(r"(?<!\")\]\(([\w./-]+)\)")
WORD = re.compile(r"\./dev ([a-z]+)")
# Where programs and scripts declare their options.
DECLARING = ("app/", "packaging/dev/", "runtime/rpc/", "tests/interop/", "tests/fuzz/", "dev")
# Those of CMake and pkg-config, which the documents show how to use.
FOREIGN = {"build", "cflags", "install", "libs", "prefix"}


def declared_options(files):
    text = "\n".join(read(f) for f in files
                     if f.startswith(DECLARING) and f.endswith((".cpp", ".c", ".py", ".sh", "dev")))
    words = set(re.findall(r"--([a-z][a-z0-9-]*)", text))
    # Qt's command line parser takes names without dashes.
    return words | set(re.findall(r'"([a-z-]+)"', read("app/workbench/window_request.cpp"))) | FOREIGN


def exists(path, files):
    """Braces list endings, `*` stands for any text, and x for what a reader is about to add."""
    if re.search(r"(^|/)x(_\w+)?(\.|/|$)", path):
        return True
    braces = re.search(r"\{([^}]*)\}", path)
    if braces:
        return all(exists(path.replace(braces.group(0), part), files)
                   for part in braces.group(1).split(","))
    path = path.rstrip("/")
    return any(f == path or f.startswith(path + "/") or
               f.rsplit("/", 1)[0].endswith("/" + path) or fnmatch.fnmatch(f, path) for f in files)


def line_problems(document, line, options, words, files):
    folder = os.path.dirname(document)
    for name in OPTION.findall(line):
        if name not in options:
            yield f"no program has an option --{name}"
    for link in LINK.findall(line):
        if not exists(os.path.normpath(os.path.join(folder, link)), files):
            yield f"the link to {link} leads nowhere"
    for path in PATH.findall(LINK.sub("", line)):
        if not exists(path, files):
            yield f"there is no {path}"
    for word in WORD.findall(line):
        if word not in words:
            yield f"./dev knows no `{word}`"


def main():
    files = all_files()
    options, words = declared_options(files), WORD.findall(read("dev"))
    linked = LINK.findall(read("README.md"))
    problems = [f"README.md: no link to {page}" for page in files
                if fnmatch.fnmatch(page, "resources/manual/*.md") and page not in linked]
    for document in with_suffix(".md"):
        if document != "CHANGELOG.md": # what changed may have gone since
            for number, line in enumerate(read(document).splitlines(), 1):
                problems += [f"{document}:{number}: {problem}" for problem in
                             line_problems(document, line, options, words, files)]
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
