#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the sample's instructions under emulation: each run about alike, all of them in kernels' code,
fewer stores than loads among them.

usage: instruction_count_test.py SOURCE_DIR BUILD_DIR
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(sys.argv[1], "packaging/dev"))
import instruction_count  # pylint: disable=wrong-import-position


def main():
    source, build = sys.argv[1:3]
    runner = instruction_count.tenon_runner(build, "aarch64")
    for tool, path in (("qemu-aarch64", shutil.which("qemu-aarch64")),
                       ("aarch64-linux-gnu-gcc", os.path.exists(runner))):
        if not path:
            print(f"SKIP: {tool} is not installed")
            return 1 if tool in os.environ.get("TENON_REQUIRE", "").split(",") else 77
    if not instruction_count.takes_plugins("qemu-aarch64"):
        print("SKIP: this qemu-aarch64 was built without plugins, as that of Debian 13")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        artifact = os.path.join(folder, "model.so")
        subprocess.run([os.path.join(build, "bin/tenon"), "compile",
                        os.path.join(source, "resources/sample/digits/model.onnx"), "-o", artifact,
                        "--threads", "1", "--target",
                        "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"], check=True,
                       stdout=subprocess.DEVNULL)
        emulator = ["qemu-aarch64", "-cpu", "cortex-a72"]
        second = instruction_count.run_counted(build, emulator, [runner, artifact, "2"])
        third = instruction_count.run_counted(build, emulator, [runner, artifact, "3"])
        total, blocks = instruction_count.run_counted(build, emulator, [runner, artifact, "3"], True)
        kernels = instruction_count.kernel_counts(artifact, blocks)
    assert abs(second - third) < third / 100 and abs(third - total) < third / 100, \
        (second, third, total)
    assert 0 < total.stores < total.loads < total - total.stores, (total.loads, total.stores)
    assert sum(size * times for _, size, times, _ in blocks) == total
    inside = sum(count for count, name in kernels if name.endswith("_kernel"))
    assert 0.5 * total < inside <= total, kernels
    try:
        instruction_count.run_counted(build, emulator, [runner, artifact + ".none", "2"])
    except RuntimeError as error:
        assert "model.so.none" in str(error), error
        return 0
    raise AssertionError("a missing artifact was counted")


if __name__ == "__main__":
    sys.exit(main())
