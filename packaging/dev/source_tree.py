# SPDX-License-Identifier: Apache-2.0
"""The files of the source tree, for the lints: what git tracks or would track.

usage: source_tree.py SUFFIX...      prints the files that end so
"""
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def all_files():
    """Paths relative to the root, sorted; from git where there is one, else from a walk."""
    if shutil.which("git") and os.path.exists(os.path.join(ROOT, ".git")):
        names = subprocess.run(
            ["git", "-C", ROOT, "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"],
            capture_output=True, text=True, check=True).stdout.splitlines()
    else:
        names = []
        for folder, subfolders, files in os.walk(ROOT):
            subfolders[:] = [s for s in subfolders if s not in (".git", "build", "__pycache__")]
            names += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
    return sorted({n for n in names if os.path.isfile(os.path.join(ROOT, n))})


def with_suffix(*suffixes):
    return [name for name in all_files() if name.endswith(suffixes)]


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def report(problems):
    """Prints the problems and returns the exit status."""
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    print("\n".join(with_suffix(*sys.argv[1:])))
