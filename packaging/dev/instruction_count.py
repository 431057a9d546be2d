# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of an inference under QEMU's user-mode emulation."""
import os
import shutil
import subprocess
import tempfile


class Counts(int):
    """Instructions, and how many of them load and store (known of AArch64)."""

    def __new__(cls, words):
        self = super().__new__(cls, words[0])
        self.loads, self.stores = map(int, words[1:3])
        return self

    @property
    def accesses(self):
        return self.loads + self.stores


def takes_plugins(emulator):
    """False for static builds: they load no shared objects."""
    text = subprocess.run([emulator, "-h"], capture_output=True, text=True, check=False).stdout
    return "-plugin" in text


def run_counted(build, emulator, command, blocks=False):
    """Counts between the last two marks of `command`, a list of a guest program and its arguments;
    `emulator` is such as ["qemu-aarch64", "-cpu", "max"]. With blocks also the list of
    (address, instructions, times, code)."""
    program = shutil.which(emulator[0])
    if not program:
        raise RuntimeError(f"{emulator[0]} is not installed; it is in the package qemu-user")
    with tempfile.TemporaryDirectory() as folder:
        counts = os.path.join(folder, "counts")
        plugin = f"{os.path.join(build, 'lib/libcount_plugin.so')},out={counts}"
        done = subprocess.run(
            [program, *emulator[1:], "-plugin", plugin + (",blocks=on" if blocks else ""), *command],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            message = done.stderr.strip().splitlines()
            raise RuntimeError(message[-1] if message else f"exit code {done.returncode}")
        with open(counts, encoding="ascii") as file:
            lines = [line.split() for line in file]
    ends = [i for i, line in enumerate(lines) if line[0] == "region"]
    if len(ends) < 2:
        raise RuntimeError("the program made no marks")
    count = Counts(lines[ends[-1]][1:4])
    if not blocks:
        return count
    return count, [(int(line[1], 16), int(line[2]), int(line[3]), bytes.fromhex(line[4]))
                   for line in lines[ends[-2] + 1:ends[-1]]]


def tenon_runner(build, processor):
    """The program that loads an artifact for that processor and runs it, with marks."""
    return os.path.join(build, "lib/tenon/footprint", f"runner-{processor}")


def kernel_counts(artifact, blocks, nm="nm", objdump="objdump"):
    """(instructions, symbol) of an artifact's functions, most first: blocks are placed by their
    code, because the guest loads the artifact wherever it likes."""
    symbols = []
    for line in subprocess.run([nm, "-n", "--defined-only", artifact], capture_output=True,
                               text=True, check=True).stdout.splitlines():
        address, kind, name = line.split()
        if kind in "tT":
            symbols.append((int(address, 16), name))
    text = text_section(artifact, objdump)
    base = base_of(blocks, *text)
    totals = {}
    for address, size, times, _ in blocks:
        at = address - base
        name = "(outside)"
        if text[0] <= at < text[0] + len(text[1]):
            name = [s for a, s in symbols if a <= at][-1:] or ["(no symbol)"]
            name = name[0]
        totals[name] = totals.get(name, 0) + size * times
    return sorted(((count, name) for name, count in totals.items()), reverse=True)


def text_section(artifact, objdump):
    """(address, bytes) of the code."""
    for line in subprocess.run([objdump, "-h", artifact], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        words = line.split()
        if len(words) > 5 and words[1] == ".text":
            size, address, offset = (int(words[i], 16) for i in (2, 3, 5))
            with open(artifact, "rb") as file:
                file.seek(offset)
                return address, file.read(size)
    raise RuntimeError(f"{artifact} has no .text")


def base_of(blocks, start, code):
    """Where the guest put address 0 of the artifact: by the hottest block with code of its own."""
    for address, _, _, head in sorted(blocks, key=lambda b: -b[1] * b[2]):
        if len(head) >= 32 and code.count(head) == 1:
            return address - (start + code.index(head))
    raise RuntimeError("no block is of this artifact")
