#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts a WebAssembly loop by hand and by the counting copy.

usage: wasm_count_test.py SOURCE_DIR
"""
import os
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "packaging/dev"))
import wasm_count  # pylint: disable=wrong-import-position

# local.get 0; loop: local.get 0; i32.const 1; i32.sub; local.tee 0; br_if 0; end; drop; end
LOOP = bytes([0, 0x20, 0, 0x03, 0x40, 0x20, 0, 0x41, 1, 0x6B, 0x22, 0, 0x0D, 0, 0x0B, 0x1A, 0x0B])


def added(body):
    """What the counting copy of a body adds, stretch by stretch."""
    out, at, numbers = wasm_count.counting_body(body, b"\0"), 0, []
    while (at := out.find(b"\x23\0\x42", at)) >= 0:
        numbers.append(wasm_count.Reader(out, at + 3).number())
        at += 3
    return numbers


assert added(LOOP) == [1, 5, 1], added(LOOP)
assert wasm_count.encoded(300) == b"\xac\x02" and wasm_count.encoded(64, True) == b"\xc0\0"
