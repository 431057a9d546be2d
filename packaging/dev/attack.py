#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks our own servers on this computer's loopback, and prints what became of it.

usage: attack.py --build FOLDER [NAME...]     names: connections sessions crowds models kills hangs
Every attack is bounded in number and time, and goes to processes that this program started, on
127.0.0.0/8. Exit status 1 when a server was held up or something was left behind.
"""
import argparse
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

MAGIC = 0xFF271
TRACKER_MAGIC = 0x2F271
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attack_model.c")
PATIENCE_S = 10.0  # for somebody who means well


class Session:
    """As much of a client as an attack needs."""

    def __init__(self, port, key="attack"):
        self.link = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        name = f"client:{key}".encode()
        self.link.sendall(struct.pack("<ii", MAGIC, len(name)) + name)
        answer, size = struct.unpack("<ii", self.receive(8))
        if answer != MAGIC:
            raise OSError("refused")
        self.receive(size)
        self.exchange(2, struct.pack("<Q", 5) + b"0.8.0" + struct.pack("<i", 0))

    def receive(self, size):
        data = b""
        while len(data) < size:
            part = self.link.recv(size - len(data))
            if not part:
                raise OSError("hung up")
            data += part
        return data

    def exchange(self, code, body):
        self.link.sendall(struct.pack("<Qi", len(body) + 4, code) + body)
        size, = struct.unpack("<Q", self.receive(8))
        answer, = struct.unpack("<i", self.receive(4))
        body = self.receive(size - 4)
        if answer == 5:
            raise OSError(body[16:].decode(errors="replace"))
        return body

    @staticmethod
    def sequence(*values):
        codes, data = [], b""
        for value in values:
            if isinstance(value, int):
                codes.append(0)
                data += struct.pack("<q", value)
            elif isinstance(value, str):
                codes.append(11)
                data += struct.pack("<Q", len(value)) + value.encode()
            elif isinstance(value, bytes):
                codes.append(12)
                data += struct.pack("<Q", len(value)) + value
            else:  # (code, handle)
                codes.append(value[0])
                data += struct.pack("<Q", value[1])
        return struct.pack(f"<i{len(codes)}i", len(codes), *codes) + data

    def function(self, name):
        body = self.exchange(9, self.sequence(name))
        return struct.unpack("<Q", body[8:16])[0]

    def call(self, function, *values):
        body = self.exchange(3, struct.pack("<Q", function) + self.sequence(*values))
        return struct.unpack("<q", body[20:28])[0] if len(body) >= 28 else None

    def load(self, library, name):
        """The function of an uploaded library."""
        with open(library, "rb") as file:
            self.call(self.function("tvm.rpc.server.upload"), "model.so", file.read())
        module = self.call(self.function("tvm.rpc.server.load_module"), "model.so")
        return self.call(self.function("tvm.rpc.server.ModuleGetFunction"), (9, module), name, 1)

    def close(self):
        self.link.close()


class Server:
    """tenon-rpc-server, or the tracker, with temporary files in a folder of its own."""

    def __init__(self, command, folder):
        self.folder = folder
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, TMPDIR=folder), text=True)
        self.greeting = self.process.stdout.readline().strip()
        self.port = int(self.greeting.split(" (")[0].rsplit(":", 1)[1])

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()


def rpc_server(build, folder, *options):
    return Server([f"{build}/bin/tenon-rpc-server", "--port", "0", "--key", "attack", *options],
                  folder)


def seconds_until_served(port):
    start = time.monotonic()
    Session(port).close()
    return time.monotonic() - start


def seconds_until_answered(port):
    """A tracker's answer to a greeting and a ping."""
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
        link.sendall(struct.pack("<ii", TRACKER_MAGIC, 3) + b"[1]")
        if len(link.recv(4)) != 4:
            raise OSError("hung up")
    return time.monotonic() - start


class Report:
    def __init__(self):
        self.failures = 0

    def say(self, what, seconds=None, good=True):
        self.failures += not good
        time_text = f": {1000 * seconds:.0f} ms" if seconds is not None else ""
        print(f"{'ok  ' if good else 'FAIL'} {what}{time_text}", flush=True)

    def served(self, what, ask):
        try:
            seconds = ask()
            self.say(what, seconds, seconds < PATIENCE_S)
        except OSError as error:
            self.say(f"{what}: {error}", None, False)


def flood(port, count, hello):
    """Connections from many addresses of this computer, each of which says `hello` and no more."""
    links = []
    for i in range(count):
        link = socket.socket()
        link.settimeout(5)
        try:
            link.bind((f"127.0.{i % 7}.{1 + i % 50}", 0))
            link.connect(("127.0.0.1", port))
            link.sendall(hello)
        except OSError:
            pass  # hung up on already
        links.append(link)
    return links


def attack_connections(build, report):
    hellos = {"silent": b"", "of one byte": b"\x71",
              "with half a greeting": struct.pack("<ii", MAGIC, 17) + b"cli",
              "with a key of 1 GiB": struct.pack("<ii", MAGIC, 1 << 30),
              "with another protocol": b"GET / HTTP/1.0\r\n\r\n",
              "with another key": struct.pack("<ii", MAGIC, 12) + b"client:wrong"}
    for name, command, ask in (
            ("server", [f"{build}/bin/tenon-rpc-server", "--port", "0", "--key", "attack"],
             seconds_until_served),
            ("tracker", [f"{build}/bin/tenon", "tracker", "--port", "0"], seconds_until_answered)):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(command, folder)
            for what, hello in hellos.items():
                links = flood(server.port, 800, hello)
                report.served(f"{name}: after 800 connections {what}", lambda: ask(server.port))
                for link in links:
                    link.close()
            drips = flood(server.port, 60, b"\x71")
            end = time.monotonic() + 3
            while time.monotonic() < end:
                for link in drips:
                    try:
                        link.send(b"\x71")
                    except OSError:
                        pass
                time.sleep(0.2)
            report.served(f"{name}: among 60 that drip", lambda: ask(server.port))
            for link in drips:
                link.close()
            server.stop()


def attack_sessions(build, report):
    """Clients that know the key, and stop in the middle of what they say or are told."""
    hello = struct.pack("<ii", MAGIC, 13) + b"client:attack"
    with tempfile.TemporaryDirectory() as folder:
        server = rpc_server(build, folder, "--idle", "2", "--greeting", "1500")
        for what, said in (("nothing", b""), ("one byte of a packet", b"\x01"),
                           ("a packet's size", struct.pack("<Q", 1000)),
                           ("half a packet", struct.pack("<Qi", 1000, 2) + b"abc")):
            link = socket.create_connection(("127.0.0.1", server.port))
            link.sendall(hello + said)
            report.served(f"session of {what}: the next client",
                          lambda: seconds_until_served(server.port))
            link.close()
        session = Session(server.port)
        session.call(session.function("tvm.rpc.server.upload"), "large", bytes(24 << 20))
        body = (struct.pack("<Q", session.function("tvm.rpc.server.download")) +
                Session.sequence("large"))
        session.link.sendall(struct.pack("<Qi", len(body) + 4, 3) + body)
        report.served("session that reads no answer: the next client",
                      lambda: seconds_until_served(server.port))
        session.close()
        server.stop()


def attack_crowds(build, report):
    """Peers of four hosts that take a tracker's places, with requests and with offers."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server([f"{build}/bin/tenon", "tracker", "--port", "0"], folder)
        for what, message in (("wait", '[4,"none","me",0]'), ("offer", '[3,"x",[%d,"x:%d"],null]')):
            links = []
            for i in range(1200):
                text = (message % (i + 1, i + 1) if "%" in message else message).encode()
                link = socket.socket()
                try:
                    link.bind((f"127.0.0.{10 + i // 300}", 0))
                    link.connect(("127.0.0.1", server.port))
                    link.sendall(struct.pack("<ii", TRACKER_MAGIC, len(text)) + text)
                except OSError:
                    pass  # hung up on already
                links.append(link)
            report.served(f"tracker: among 1200 that {what}",
                          lambda: seconds_until_answered(server.port))
            for link in links:
                link.close()
        server.stop()


def compiled_model(folder):
    library = os.path.join(folder, "model.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-nostdlib", "-O1", "-o", library, SOURCE], check=True)
    return library


def children_of(pid):
    listing = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return len(listing.stdout.split())


def attack_models(build, report):
    with tempfile.TemporaryDirectory() as folder:
        library = compiled_model(folder)
        for options in ([], ["--no-sandbox"]):
            server = rpc_server(build, folder, *options)
            for name in ("daemons", "bomb", "orphans"):
                session = Session(server.port)
                try:
                    session.call(session.load(library, name))
                except OSError:
                    pass  # it may well end the session
                session.close()
                held = "confined" if not options else "let go"
                report.served(f"model {name}, {held}: the next client",
                              lambda: seconds_until_served(server.port))
            time.sleep(0.5)
            left = children_of(server.process.pid)
            report.say(f"processes left: {left}", None, left == 0)
            server.stop()


def attack_hangs(build, report):
    with tempfile.TemporaryDirectory() as folder:
        library = compiled_model(folder)
        server = rpc_server(build, folder)
        for name in ("spin", "stop"):
            session = Session(server.port)
            function = session.load(library, name)
            body = struct.pack("<Q", function) + Session.sequence()
            session.link.sendall(struct.pack("<Qi", len(body) + 4, 3) + body)
            time.sleep(0.2)
            session.close()
            report.served(f"model that does {name}: the next client",
                          lambda: seconds_until_served(server.port))
        server.stop()


def attack_kills(build, report):
    """SIGKILL in the middle of compiles, runs and sessions; the next start leaves nothing behind."""
    random.seed(1)
    sample = os.path.join(os.path.dirname(SOURCE), "../../resources/sample/model.onnx")
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TMPDIR=folder)
        output = tempfile.mkdtemp()
        most = 0
        for i in range(24):
            words = (["compile", "--no-cache", sample, "-o", f"{output}/m.so"] if i % 2 else
                     ["bench", "--no-cache", "--repeat", "100000", "--threads", "1", sample])
            victim = subprocess.Popen([f"{build}/bin/tenon", *words], env=environment,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0.02, 1.5))
            victim.kill()
            victim.wait()
            most = max(most, len(os.listdir(folder)))
        for _ in range(6):
            server = rpc_server(build, folder)
            session = Session(server.port)
            session.call(session.function("tvm.rpc.server.upload"), "x.so", bytes(1 << 20))
            server.stop(signal.SIGKILL)
            session.close()
        before = len(os.listdir(folder))
        time.sleep(0.5)  # what they started ends
        subprocess.run([f"{build}/bin/tenon", "--version"], env=environment, check=True,
                       stdout=subprocess.DEVNULL)
        left = os.listdir(folder)
        report.say(f"24 programs and 6 servers killed: at most {max(most, before)} folders at once, "
                   f"{len(left)} after the next start", None, not left)
        shutil.rmtree(output)


ATTACKS = {"connections": attack_connections, "sessions": attack_sessions,
           "crowds": attack_crowds, "models": attack_models, "kills": attack_kills,
           "hangs": attack_hangs}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("names", nargs="*", choices=[*ATTACKS, []])
    options = parser.parse_args()
    report = Report()
    for name in options.names or ATTACKS:
        ATTACKS[name](options.build, report)
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
