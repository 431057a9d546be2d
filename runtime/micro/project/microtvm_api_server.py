#!/usr/bin/env python3
# SPDX-License-Identifier: MIT-0
"""TVM's Project API of this folder: JSON-RPC 2.0, a line per message, over two descriptors.

usage: microtvm_api_server.py --read-fd N --write-fd M

`build`, `flash` and the transport are those of the Makefile and of serve.sh; the transport carries
the bytes of the server's line, so that `tvm.micro.Session` drives the board.
"""
import argparse
import base64
import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOCOL_VERSION = 1


class TransportClosedError(Exception):
    """The line has ended, or was never opened."""


class IoTimeoutError(Exception):
    """Nothing came, or nothing was taken, in time."""


class InvalidParams(Exception):
    """Parameters that the method does not take, or lacks."""


class Server:
    """The project's state: at most one open line."""

    def __init__(self):
        self.child = None

    def server_info_query(self, tvm_version):
        facts = json.load(open(os.path.join(HERE, "project.json"), encoding="utf-8"))
        option = {"name": "verbose", "choices": None, "default": False, "type": "bool",
                  "required": None, "optional": ["build", "flash"], "help": "print what make says"}
        return {"platform_name": facts["template"], "is_template": False,
                "model_library_format_path": os.path.join(HERE, "model.tar"),
                "project_options": [option], "protocol_version": PROTOCOL_VERSION}

    def generate_project(self, model_library_format_path, standalone_crt_dir, project_dir, options):
        raise RuntimeError("this is a project, no template; `tenon project create` makes others")

    def make(self, target, options):
        done = subprocess.run(["make", "-C", HERE, target], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if options.get("verbose") or done.returncode != 0:
            sys.stderr.write(done.stdout)
        if done.returncode != 0:
            raise RuntimeError(f"make {target} failed:\n{done.stdout}")

    def build(self, options):
        self.make("server", options)

    def flash(self, options):
        self.make("flash", options)

    def open_transport(self, options):
        if self.child is None:
            self.child = subprocess.Popen(["sh", os.path.join(HERE, "serve.sh")], bufsize=0,
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          start_new_session=True)
            os.set_blocking(self.child.stdin.fileno(), False)
        return {"timeouts": {"session_start_retry_timeout_sec": 2.0,
                             "session_start_timeout_sec": 10.0,
                             "session_established_timeout_sec": 0.0}}

    def close_transport(self):
        if self.child is None:
            return
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        self.child = None

    def opened(self):
        if self.child is None:
            raise TransportClosedError("the transport is not open")
        return self.child

    def read_transport(self, n, timeout_sec):
        fd = self.opened().stdout.fileno()
        ready, _, _ = select.select([fd], [], [], timeout_sec)
        if not ready:
            raise IoTimeoutError(f"nothing came within {timeout_sec} s")
        data = os.read(fd, n)
        if not data:
            raise TransportClosedError("the program at the other end has ended")
        return {"data": base64.b85encode(data).decode("ascii")}

    def write_transport(self, data, timeout_sec):
        fd = self.opened().stdin.fileno()
        left = base64.b85decode(data)
        end = None if timeout_sec is None else time.monotonic() + timeout_sec
        while left:
            wait = None if end is None else max(0.0, end - time.monotonic())
            _, ready, _ = select.select([], [fd], [], wait)
            if not ready:
                raise IoTimeoutError(f"nothing was taken within {timeout_sec} s")
            try:
                left = left[os.write(fd, left):]
            except BrokenPipeError as error:
                raise TransportClosedError("the program at the other end has ended") from error


METHODS = {"server_info_query": ["tvm_version"],
           "generate_project": ["model_library_format_path", "standalone_crt_dir", "project_dir",
                                "options"],
           "build": ["options"], "flash": ["options"], "open_transport": ["options"],
           "close_transport": [], "read_transport": ["n", "timeout_sec"],
           "write_transport": ["data", "timeout_sec"]}


def failed(code, message, data=None):
    return {"error": {"code": code, "message": message, "data": data}}


def answer(server, request):
    """The members of the reply beside its id."""
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        return failed(-32600, "no request of JSON-RPC 2.0")
    method, params = request.get("method"), request.get("params", {})
    if method not in METHODS:
        return failed(-32601, f"there is no method {method!r}")
    if not isinstance(params, dict) or sorted(params) != sorted(METHODS[method]):
        return failed(-32602, f"{method} takes {METHODS[method]}")
    try:
        return {"result": getattr(server, method)(**params)}
    except Exception as error:  # whatever it is, the client is told
        return failed(-32000, type(error).__name__,
                      {"traceback": traceback.format_exc(), "message": str(error)})


def reply_to(server, line):
    try:
        request = json.loads(line)
    except ValueError as error:
        return {"jsonrpc": "2.0", "id": None, **failed(-32700, str(error))}
    number = request.get("id") if isinstance(request, dict) else None
    return {"jsonrpc": "2.0", "id": number, **answer(server, request)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--read-fd", type=int, required=True)
    parser.add_argument("--write-fd", type=int, required=True)
    parser.add_argument("--debug", action="store_true", help="accepted for TVM's sake")
    arguments = parser.parse_args()
    server = Server()
    try:
        with os.fdopen(arguments.read_fd, "r", encoding="utf-8") as requests, \
                os.fdopen(arguments.write_fd, "w", encoding="utf-8") as replies:
            for line in requests:
                replies.write(json.dumps(reply_to(server, line)) + "\n")
                replies.flush()
    finally:
        server.close_transport()


if __name__ == "__main__":
    main()
