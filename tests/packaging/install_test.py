#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build, moves the installation, uses it, and builds the examples against it.

usage: install_test.py --build FOLDER --cmake PROGRAM --compiler PROGRAM [--window]
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EMBEDDED = os.path.join(ROOT, "resources/examples/embed")
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(embed CXX)
find_package(tenon REQUIRED)
add_executable(run_model run_model.cpp)
target_compile_features(run_model PRIVATE cxx_std_17)
target_link_libraries(run_model PRIVATE tenon::tenon_runtime)
"""
INSTALLED = """bin/tenon bin/tenon-rpc-server include/tenon/tenon.hpp include/tenon/c_runtime_api.h
share/bash-completion/completions/tenon share/doc/tenon/manual/deploy.md share/doc/tenon/examples/embed/run_model.c
share/man/man1/tenon.1.gz share/tenon/boards/rpi4.json share/tenon/sample/digits/model.onnx
share/tenon/runtime/micro/mps2/link.ld lib/tenon/servers/tenon-rpc-server-x86_64"""
WINDOW = """bin/tenon-workbench share/applications/org.tenon.workbench.desktop
share/icons/hicolor/scalable/apps/org.tenon.workbench.svg share/metainfo/org.tenon.workbench.metainfo.xml
share/mime/packages/org.tenon.workbench.xml share/man/man1/tenon-workbench.1.gz"""


def call(words, **environment):
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def install(arguments, folder):
    first, moved = os.path.join(folder, "first"), os.path.join(folder, "moved here")
    for component in ["cli"] + ["workbench"] * arguments.window:
        call([arguments.cmake, "--install", arguments.build, "--prefix", first, "--component", component])
    os.rename(first, moved)
    wanted = INSTALLED.split() + WINDOW.split() * arguments.window
    missing = [name for name in wanted if not os.path.exists(os.path.join(moved, name))]
    if missing:
        sys.exit(f"not installed: {' '.join(missing)}")
    return moved


def libraries_of(prefix):
    for folder, _, files in os.walk(os.path.join(prefix, "lib")):
        if "libtenon_runtime.so" in files:
            return folder
    return sys.exit("libtenon_runtime.so is not installed")


def validate(prefix):
    checks = {"desktop-file-validate": ["share/applications/org.tenon.workbench.desktop"],
              "appstreamcli": ["validate", "--no-net", "share/metainfo/org.tenon.workbench.metainfo.xml"]}
    for program, words in checks.items():
        if shutil.which(program):
            done = subprocess.run([program] + words[:-1] + [os.path.join(prefix, words[-1])],
                                  capture_output=True, text=True, check=False)
            said = done.stdout + done.stderr
            # AppStream 1.0 asks for a homepage; there is none.
            faults = [line for line in said.splitlines()
                      if line.startswith(("E:", "W:")) and "url-homepage-missing" not in line]
            is_refused = done.returncode != 0 and "url-homepage-missing" not in said
            if faults or is_refused or (program == "desktop-file-validate" and said):
                sys.exit(said)
        elif program in os.environ.get("TENON_REQUIRE", "").split(","):
            sys.exit(f"{program} is required and not installed")
        else:
            print(f"{program} is not installed: not asked")


def run_examples(arguments, prefix, model, work):
    """What the C, the C++ and the Python program say of the same model."""
    libraries = libraries_of(prefix)
    flags = call(["pkg-config", "--cflags", "--libs", "tenon"], PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"))
    program = os.path.join(work, "run_model")
    # The folder's name has a blank, which pkg-config writes with a backslash.
    options = [word.replace("\0", " ") for word in flags.replace("\\ ", "\0").split()]
    call([arguments.compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", os.path.join(EMBEDDED, "run_model.c"),
          "-o", program] + options)
    yield call([program, model], LD_LIBRARY_PATH=libraries)

    source = os.path.join(work, "project")
    os.mkdir(source)
    shutil.copy(os.path.join(EMBEDDED, "run_model.cpp"), source)
    with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(PROJECT)
    call([arguments.cmake, "-S", source, "-B", os.path.join(source, "build"), f"-DCMAKE_PREFIX_PATH={prefix}",
          "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"])
    call([arguments.cmake, "--build", os.path.join(source, "build")])
    yield call([os.path.join(source, "build/run_model"), model])

    yield call([sys.executable, os.path.join(EMBEDDED, "run_model.py"), model,
                os.path.join(libraries, "libtenon_runtime.so")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for option in ("--build", "--cmake", "--compiler"):
        parser.add_argument(option, required=True)
    parser.add_argument("--window", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        prefix = install(arguments, work)
        if arguments.window:
            validate(prefix)
        tenon = os.path.join(prefix, "bin/tenon")
        sample = os.path.join(prefix, "share/tenon/sample/digits")
        call([tenon, "verify", sample])
        for executor in ("aot", "graph"):
            model = os.path.join(work, executor + ".so")
            call([tenon, "compile", os.path.join(sample, "model.onnx"), "-o", model, "--executor", executor])
            folder = os.path.join(work, executor)
            os.mkdir(folder)
            said = list(run_examples(arguments, prefix, model, folder))
            numbers = [text.split()[:10] for text in said]
            if not numbers[0] == numbers[1] == numbers[2] or abs(sum(map(float, numbers[0])) - 1) > 1e-4:
                sys.exit(f"the examples do not agree on {executor}:\n" + "\n".join(said))
            if any("nothing copied" not in text for text in said[1:]):
                sys.exit(f"a tensor was copied on {executor}:\n" + "\n".join(said))
    print("installed, moved, used; the examples agree")


if __name__ == "__main__":
    main()
