#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the sections of the stripped runtime library and checks its code against the budget.

usage: check_runtime_size.py LIBRARY      exit status 1 above the budget, 77 without binutils
"""
import os
import shutil
import subprocess
import sys
import tempfile

TEXT_BUDGET = 100 * 1024


def section_sizes(library):
    """Section name -> bytes of a stripped copy, and the size of that file."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "runtime.so")
        subprocess.run(["strip", "-o", copy, library], check=True)
        listing = subprocess.run(["size", "-A", copy], check=True, capture_output=True, text=True)
        rows = [line.split() for line in listing.stdout.splitlines()]
        sizes = {row[0]: int(row[1]) for row in rows if row and row[0].startswith(".")}
        return sizes, os.path.getsize(copy)


def main():
    if not shutil.which("strip") or not shutil.which("size"):
        print("SKIP: strip and size (binutils) are not installed")
        return 77
    sizes, total = section_sizes(sys.argv[1])
    text = sizes[".text"]
    shown = {name: sizes.get(name, 0) for name in (".text", ".rodata", ".data", ".bss")}
    print("runtime, stripped: " + ", ".join(f"{n} {b:,}" for n, b in shown.items())
          + f", file {total:,} bytes; .text budget {TEXT_BUDGET:,} ({100 * text // TEXT_BUDGET} %)")
    return 1 if text > TEXT_BUDGET else 0


if __name__ == "__main__":
    sys.exit(main())
