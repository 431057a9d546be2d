#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of TVM's Project API and of microTVM's session, written from their description: builds
the project, runs its model once through the transport, and prints what it saw as JSON.

usage: project_client.py PROJECT INPUT.pb
"""
import base64
import json
import os
import struct
import subprocess
import sys

project, input_file = sys.argv[1:]
request_read, request_write = os.pipe()
reply_read, reply_write = os.pipe()
child = subprocess.Popen([sys.executable, "microtvm_api_server.py", "--read-fd", str(request_read),
                          "--write-fd", str(reply_write)], cwd=project,
                         pass_fds=(request_read, reply_write))
os.close(request_read)
os.close(reply_write)
requests = os.fdopen(request_write, "w")
replies = os.fdopen(reply_read)


def ask(text):
    requests.write(text + "\n")
    requests.flush()
    return json.loads(replies.readline())


def call(method, **params):
    reply = ask(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    return reply if "error" in reply else reply["result"]


def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def escaped(data):
    return data.replace(b"\xff", b"\xff\xff")


def send(payload):
    wire = b"\xff\xfd" + escaped(struct.pack("<I", len(payload)) + payload)
    wire += escaped(struct.pack("<H", crc16(wire)))
    assert call("write_transport", data=base64.b85encode(wire).decode(), timeout_sec=5.0) is None


unread = b""


def byte():
    global unread
    while not unread:
        reply = call("read_transport", n=128, timeout_sec=5.0)
        assert "data" in reply, reply
        unread = base64.b85decode(reply["data"])
    first, unread = unread[:1], unread[1:]
    return first


def receive():
    """The payload of the next frame."""
    window = b""
    while window != b"\xff\xfd":
        window = (window + byte())[-2:]
    wire = window

    def content():
        nonlocal wire
        one = byte()
        wire += one
        if one == b"\xff":
            wire += byte()
            assert wire[-1:] == b"\xff", "an escape that is none"
        return one

    size = struct.unpack("<I", b"".join(content() for _ in range(4)))[0]
    payload = b"".join(content() for _ in range(size))
    crc = crc16(wire)
    assert struct.unpack("<H", content() + content())[0] == crc, "wrong CRC"
    return payload


def exchange(session, code, body):
    """One packet there and back, without its length; logs are left out."""
    packet = struct.pack("<Qi", len(body) + 4, code) + body
    send(struct.pack("<HB", session, 0x10) + packet)
    while True:
        answer = receive()
        if answer[2] != 0x03:
            break
    assert struct.unpack("<HB", answer[:3]) == (session, 0x10), answer
    size, code = struct.unpack("<Qi", answer[3:15])
    assert size == len(answer) - 11 and code != 5, answer
    return answer[15:]


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def start():
    send(struct.pack("<HBB", 0x82, 0, 1))
    while True:
        answer = receive()
        if answer[2] == 0x01:
            session, _, version = struct.unpack("<HBB", answer)
            assert session & 0xFF == 0x82 and session >> 8 and version == 1
            return session
        assert answer == b"\0\0\x02", answer  # the terminate of a board that starts


def error_of(reply):
    error = reply["error"]
    return error["message"] if error["code"] == -32000 else error["code"]


info = call("server_info_query", tvm_version="0.16.0")
errors = [error_of(ask('{"id": 1}')), error_of(call("bake")), error_of(call("build")),
          error_of(ask("{")), error_of(call("read_transport", n=1, timeout_sec=0.1))]
assert call("build", options={}) is None
assert "timeouts" in call("open_transport", options={})
session = start()
errors.append(error_of(call("read_transport", n=1, timeout_sec=0.1)) if not unread else None)


def global_function(name):
    answer = exchange(session, 9, struct.pack("<ii", 1, 11) + text(name))
    return struct.unpack("<iiQ", answer)[2]


def invoke(handle, codes=(), values=b""):
    """The answer behind the codes and the returned type."""
    body = struct.pack("<Qi", handle, len(codes)) + struct.pack(f"<{len(codes)}i", *codes) + values
    answer = exchange(session, 3, body)
    count = struct.unpack("<i", answer[:4])[0]
    return answer[4 + 4 * count + 8:]


def number(answer):
    return struct.unpack("<Q", answer)[0]


packet = number(invoke(global_function("tvm.rpc.server.GetCRTMaxPacketSize")))
library = number(invoke(global_function("runtime.SystemLib")))
device = struct.pack("<ii", 1, 0)
executor = number(invoke(global_function("tvm.aot_executor.create"), (9, 6, 11),
                         struct.pack("<Q", library) + device + text("default")))


def method(name):
    return number(invoke(global_function("tvm.rpc.server.ModuleGetFunction"), (9, 11, 0),
                         struct.pack("<Q", executor) + text(name) + struct.pack("<q", 1)))


def array(name):
    """Of an NDArray: the tensor's encoding and its dimensions."""
    answer = invoke(method(name), (0,), struct.pack("<q", 0))
    dims = struct.unpack("<i", answer[16:20])[0]
    shape = struct.unpack(f"<{dims}q", answer[24:24 + 8 * dims])
    return answer[:24 + 8 * dims], shape


def elements(shape):
    count = 1
    for dim in shape:
        count *= dim
    return count


def parts(total, dims):
    """Pieces that fit into a packet, as TVM's client cuts them."""
    most = packet - (8 + 4 + 8 + 8 + 4 + 4 + 8 + 8 * dims + 8)
    return [(at, min(most, total - at)) for at in range(0, total, most)]


head, shape = array("get_input")
values = open(input_file, "rb").read()[-4 * elements(shape):]  # raw_data stands last
for at, size in parts(len(values), len(shape)):
    exchange(session, 7, head + struct.pack("<QQ", at, size) + values[at:at + size])
invoke(method("run"))
head, shape = array("get_output")
out = b"".join(exchange(session, 6, head + struct.pack("<QQ", at, size))
               for at, size in parts(4 * elements(shape), len(shape)))
assert call("close_transport") is None
requests.close()
child.wait(timeout=10)
largest = max(struct.unpack(f"<{elements(shape)}f", out))
print(json.dumps({"info": info, "errors": errors, "packet": packet, "largest": largest}))
