# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of an inference of a WebAssembly module: a copy of the module counts itself.

Each stretch of instructions without a branch adds its length to a global before it runs. block, loop,
else and end say where code begins and ends and are not counted.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile

COUNTER = b"tenon_executed"
STRUCTURE = {0x02, 0x03, 0x05, 0x0B}  # block, loop, else, end
BRANCHES = {0x03, 0x04, 0x05, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F}  # the next one starts a stretch


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        """An unsigned number; a signed one is as long."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def skip(self, count):
        self.at += count

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]


def encoded(value, signed=False):
    out = bytearray()
    while True:
        low, value = value & 127, value >> 7
        if value == 0 and not (signed and low & 64):
            return bytes(out + bytes([low]))
        out.append(low | 128)


def skip_operands(reader, code):
    if code in (0x02, 0x03, 0x04, 0x0C, 0x0D, 0x10, 0x41, 0x42, 0xD0, 0xD2) or 0x20 <= code <= 0x26:
        reader.number()
    elif code == 0x11 or 0x28 <= code <= 0x3E:
        reader.number(), reader.number()
    elif code in (0x0E, 0x1C):
        for _ in range(reader.number() + (code == 0x0E)):
            reader.number()
    elif code in (0x3F, 0x40):
        reader.byte()
    elif code in (0x43, 0x44):
        reader.skip(4 if code == 0x43 else 8)
    elif code == 0xFC:
        which = reader.number()
        for _ in range(0 if which < 8 else 1 if which in (9, 11, 13, 15, 16, 17) else 2):
            reader.number()
    elif code == 0xFD:
        skip_vector_operands(reader, reader.number())


def skip_vector_operands(reader, which):
    has_address = which <= 11 or 84 <= which <= 93
    if has_address:
        reader.number(), reader.number()
    if which in (12, 13):
        reader.skip(16)
    elif 21 <= which <= 34 or 84 <= which <= 91:
        reader.byte()


def counting_body(body, counter):
    """The same function with a counter before each stretch."""
    reader = Reader(body)
    for _ in range(reader.number()):  # local variables
        reader.number(), reader.byte()
    out = bytearray(body[:reader.at])
    start, count = reader.at, 0

    def finish():
        if count:
            out.extend(b"\x23" + counter + b"\x42" + encoded(count, True) + b"\x7c\x24" + counter)
        out.extend(body[start:reader.at])

    while reader.at < len(body):
        code = reader.byte()
        skip_operands(reader, code)
        count += code not in STRUCTURE
        if code in BRANCHES:
            finish()
            start, count = reader.at, 0
    finish()
    return bytes(out)


def with_one_more(content, item):
    """A section's vector with an item at its end."""
    reader = Reader(content)
    count = reader.number()
    return encoded(count + 1) + content[reader.at:] + item


def counting_code(content, counter):
    reader = Reader(content)
    bodies = []
    for _ in range(reader.number()):
        body = counting_body(reader.take(reader.number()), counter)
        bodies.append(encoded(len(body)) + body)
    return encoded(len(bodies)) + b"".join(bodies)


def counting_module(module):
    """A copy of a module without imported globals that exports what it executed."""
    reader = Reader(module, 8)
    out, counter = bytearray(module[:8]), None
    while reader.at < len(module):
        kind = reader.byte()
        content = reader.take(reader.number())
        if kind == 6:  # globals: an i64 that can change, from 0
            counter = encoded(Reader(content).number())
            content = with_one_more(content, b"\x7e\x01\x42\x00\x0b")
        elif kind == 7:  # exports
            content = with_one_more(content, encoded(len(COUNTER)) + COUNTER + b"\x03" + counter)
        elif kind == 10:
            content = counting_code(content, counter)
        out += bytes([kind]) + encoded(len(content)) + content
    return bytes(out)


def manifest_of(module):
    reader = Reader(module, 8)
    while reader.at < len(module):
        kind = reader.byte()
        content = Reader(reader.take(reader.number()))
        if kind == 0 and content.take(content.number()) == b".tenon.manifest":
            return json.loads(content.data[content.at:].rstrip(b"\0"))
    raise RuntimeError("the module has no manifest")


def specs(tensors):
    out = []
    for tensor in tensors:
        kind, bits = re.fullmatch(r"([a-z]+)(\d*)", tensor["dtype"]).groups()
        bits = int(bits or 8)
        size = (bits + 7) // 8
        for extent in tensor["shape"]:
            size *= extent
        out.append({"code": {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 1}[kind],
                    "bits": bits, "shape": tensor["shape"], "bytes": size})
    return out


def executed(host, module, repeat, folder):
    """Instructions of 1 + repeat inferences on zeros, and what comes before them."""
    node = shutil.which("node")
    if not node:
        raise RuntimeError("node is not installed; it is in the package nodejs")
    manifest = manifest_of(module)
    prefix = f"tvmgen_{manifest.get('module_name', 'default')}"
    inputs = specs(manifest["inputs"])
    files = {name: os.path.join(folder, name) for name in ("module", "request", "input", "output",
                                                          "times")}
    request = {"entry": prefix + "___tvm_main__", "profile": prefix + "___tenon_profile__",
               "perCall": False, "inputs": inputs, "outputs": specs(manifest["outputs"]),
               "number": 1, "repeat": repeat, "minRepeatMs": 0}
    for name, content in (("module", counting_module(module)), ("request", json.dumps(request).encode()),
                          ("input", bytes(sum(i["bytes"] for i in inputs)))):
        with open(files[name], "wb") as file:
            file.write(content)
    script = ("const Real = WebAssembly.Instance; let made;\n"
              "WebAssembly.Instance = function (m, i) { const x = new Real(m, i); made ??= x; return x; };\n"
              + host + f"\nconsole.log(String(made.exports.{COUNTER.decode()}.value));")
    done = subprocess.run([node, "-e", script, "--", *files.values()], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["node failed"])[-1])
    return int(done.stdout)


def count(host_file, module_file):
    """Instructions of one inference: what one more inference adds."""
    with open(host_file, encoding="utf-8") as file:
        host = file.read()
    with open(module_file, "rb") as file:
        module = file.read()
    with tempfile.TemporaryDirectory() as folder:
        return executed(host, module, 2, folder) - executed(host, module, 1, folder)
