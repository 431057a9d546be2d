#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Deploys a model to a virtual Raspberry Pi and prints what that costs beyond the work itself.

usage: bench_deploy.py --build FOLDER [--model FILE] [--rounds N]

First deployments come from fresh processes, each step timed. The second deployment, after a change of
one kernel, uses the connection of the first. Cancelling is timed from Ctrl-C to the end of the last
process on the board. Everything happens in a folder of its own, which is removed afterwards.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LIMITS = {"first": 3000, "second": 500, "cancel": 1000}


def tenon(arguments, folder, **options):
    command = [arguments.build + "/bin/tenon", *options.pop("words"), "--config", folder]
    return subprocess.run(command, capture_output=True, text=True, **options)


def deploy(arguments, folder, models):
    result = tenon(arguments, folder, words=["deploy", *models, "--board", "pi", "--no-bench", "--json"])
    if result.returncode != 0:
        sys.exit(result.stderr)
    answer = json.loads(result.stdout)
    return answer.get("deployments", [answer])


def changed_model(model, folder):
    """A copy with one Add turned into a Sub, which changes one kernel; None without an Add."""
    with open(model, "rb") as file:
        content = file.read()
    add = b"\x22\x03Add"  # NodeProto.op_type
    at = content.rfind(add)
    if at < 0:
        return None
    path = os.path.join(folder, "changed.onnx")
    with open(path, "wb") as file:
        file.write(content[:at] + b"\x22\x03Sub" + content[at + len(add):])
    return path


def processes_below(folder):
    found = []
    for name in os.listdir("/proc"):
        for link in ("cwd", "exe"):
            try:
                if name.isdigit() and os.readlink(f"/proc/{name}/{link}").startswith(folder):
                    found.append(int(name))
            except OSError:
                pass  # it has ended, or is somebody else's
    return found


def cancel_after(arguments, folder, step):
    """Milliseconds from Ctrl-C, after `step` has ended, to the end of the board's last process."""
    command = [arguments.build + "/bin/tenon", "deploy", arguments.model, "--board", "pi", "--config", folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        if line.startswith(step):
            break
    time.sleep(0.1)  # into the middle of the next one
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    while processes_below(folder + "/virtual/pi/system") and time.monotonic() < start + 60:
        time.sleep(0.005)
    spent = (time.monotonic() - start) * 1000
    process.stdout.read()
    process.wait()
    return spent


def report(text, values, limit):
    middle = statistics.median(values)
    verdict = "" if limit is None else f"   limit {limit} ms: {'held' if middle <= limit else 'MISSED'}"
    print(f"{text:34} median {middle:8.1f} ms   of {', '.join(f'{v:.0f}' for v in values)}{verdict}")


def note_load():
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores / 2:
        print(f"note: load {load:.1f} on {cores} cores: other work makes all of this longer, and the limits"
              " are those of a quiet computer")


def measure(arguments, folder):
    first = [deploy(arguments, folder, [arguments.model])[0] for _ in range(arguments.rounds)]
    print(f"virtual rpi4, {arguments.model}: first deployment of a process")
    note_load()
    for i, step in enumerate(first[0]["steps"]):
        if step["state"] == "done":
            report("  " + step["step"], [each["steps"][i]["ms"] for each in first], None)
    report("overhead, first", [each["overhead_ms"] for each in first], LIMITS["first"])
    changed = changed_model(arguments.model, folder)
    if changed:
        pairs = [deploy(arguments, folder, [arguments.model, changed])[1] for _ in range(arguments.rounds)]
        report("overhead, second, one kernel new", [each["overhead_ms"] for each in pairs],
               LIMITS["second"])
        print(f"  {pairs[0]['sent_bytes']:,} bytes sent, {pairs[0]['reused_bytes']:,} were there")
    else:
        print("the model has no Add: there is no second deployment after a change of one kernel")
    for step in ("preflight", "load", "run"):
        report(f"cancelled after {step}",
               [cancel_after(arguments, folder, step) for _ in range(arguments.rounds)], LIMITS["cancel"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--model", default="resources/sample/digits/model.onnx")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words = ["board", "add", "--virtual", "rpi4", "--name", "pi"]
        added = tenon(arguments, folder, words=words)
        if added.returncode != 0:
            sys.exit(added.stderr)
        measure(arguments, folder)
        tenon(arguments, folder, words=["board", "remove", "pi"])


if __name__ == "__main__":
    main()
