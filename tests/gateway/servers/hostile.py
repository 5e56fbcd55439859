"""A server that answers a tool call named `bad` with what its first argument says, and any other call as it should.

Run as `hostile.py MODE` on standard input and output, or `hostile.py MODE PORT` over HTTP.
"""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path

MODE = sys.argv[1]
MEGABYTE = 1024 * 1024


def answer(identity, words):
    body = {"jsonrpc": "2.0", "id": identity, "result": {"content": [{"type": "text", "text": words}]}}
    return json.dumps(body).encode()


def structured(identity, value):
    return b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":{"n":%s}}}' % (identity, value)


def large(identity, size, before=b"", after=b""):
    """A result in pieces, so that the server itself needs no memory for it."""
    yield b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % identity + before
    for _ in range(size // MEGABYTE):
        yield b"x" * MEGABYTE
    yield after + b'"}],"isError":false}}'


def pieces(identity):
    """What is written in place of the answer, in pieces; a newline after the last."""
    if MODE == "text":
        yield b"Thinking...\nStill thinking..."
    elif MODE == "text_first":
        yield b"Thinking...\n" + answer(identity, "after all")
    elif MODE == "json_log":
        yield b'{"level": "info", "text": "looking it up"}\n'
        time.sleep(1.0)
        yield answer(identity, "after all")
    elif MODE == "endless_text":
        yield b"la\n" * 20_000
    elif MODE == "broken":
        yield b'{"jsonrpc": "2.0", "result": {"content": [}'
    elif MODE == "broken_first":
        yield b'{"jsonrpc": "2.0", "result": {\n' + answer(identity, "after all")
    elif MODE == "binary":
        yield bytes(range(128, 256)) + b"\0\1\2"
    elif MODE == "deep":
        yield structured(identity, b"[" * 100_000 + b"]" * 100_000)
    elif MODE == "deep_200":
        yield structured(identity, b"[" * 200 + b"]" * 200)
    elif MODE == "digits":
        yield structured(identity, b"9" * 10_000)
    elif MODE == "digits_4000":
        yield structured(identity, b"9" * 4_000)
    elif MODE == "nan":
        yield structured(identity, b"NaN")
    elif MODE == "infinite":
        yield structured(identity, b"-1e999")
    elif MODE == "surrogate":
        yield answer(identity, "a?b").replace(b"?", b"\\ud800")
    elif MODE == "utf8":
        yield answer(identity, "a?b").replace(b"?", b"\xff")
    elif MODE == "wrong_id":
        yield answer(identity + 1_000, "for somebody else")
    elif MODE == "text_id":
        yield answer(str(identity), "with the id as text")
    elif MODE == "float_id":
        yield answer(identity, "x").replace(b'"id": %d' % identity, b'"id": %d.5' % identity)
    elif MODE == "no_id":
        yield b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"I cannot read that"}}'
    elif MODE == "null_id":
        yield b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"I cannot read that"}}'
    elif MODE == "no_result":
        yield b'{"jsonrpc":"2.0","id":%d}' % identity
    elif MODE == "list":
        yield b"[" + answer(identity, "in a list") + b"]"
    elif MODE == "twice":
        yield answer(identity, "first") + b"\n" + answer(identity, "second")
    elif MODE == "flood":
        yield b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n' * 20_000
        yield answer(identity, "after the flood")
    elif MODE == "stderr":
        for _ in range(50):
            os.write(2, b"e" * MEGABYTE)
        yield answer(identity, "after the words")
    elif MODE == "half_line":
        yield b'{"jsonrpc":"2.0","id":'
        sys.stdout.buffer.flush()
        os._exit(0)
    elif MODE == "exit":
        os._exit(3)
    elif MODE == "large":
        yield from large(identity, 100 * MEGABYTE, b"the beginning \\u00e9", b"\\n the end")
    elif MODE == "large_error":
        yield b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32000,"message":"' % identity
        for _ in range(20):
            yield b"x" * MEGABYTE
        yield b'"}}'
    elif MODE == "large_list":
        yield b'{"jsonrpc":"2.0","id":%d,"result":{"structuredContent":{"rows":[' % identity
        yield b",".join([b'{"n":1}'] * 2_000_000) + b'],"last":"row"}}}'
    elif MODE == "large_image":
        yield b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"image","data":"' % identity
        for _ in range(20):
            yield b"QUJD" * (MEGABYTE // 4)
        yield b'","mimeType":"image/png"}]}}'
    elif MODE == "memory":
        hoard = bytearray(8 * 1024 * MEGABYTE)
        yield answer(identity, str(len(hoard)))
    elif MODE == "file":
        with Path("large").open("wb") as file:
            for _ in range(64):
                file.write(b"x" * MEGABYTE)
        yield answer(identity, "written")
    elif MODE == "limits":
        import resource

        kinds = ("DATA", "AS", "FSIZE", "NOFILE", "CORE")
        yield answer(identity, json.dumps({k: resource.getrlimit(getattr(resource, f"RLIMIT_{k}")) for k in kinds}))
    else:
        yield answer(identity, "ok")


def respond(message):
    method, identity = message["method"], message["id"]
    if method == "initialize":
        known = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hostile", "version": "1"},
        }
        yield json.dumps({"jsonrpc": "2.0", "id": identity, "result": known}).encode()
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("good", "bad")]
        yield json.dumps({"jsonrpc": "2.0", "id": identity, "result": {"tools": tools}}).encode()
    elif method == "tools/call":
        if message["params"]["name"] == "bad":
            yield from pieces(identity)
        else:
            time.sleep(message["params"]["arguments"].get("seconds", 0))
            yield answer(identity, "good")
    else:
        error = {"code": -32601, "message": "Method not found"}
        yield json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        events, parts = len(sys.argv) > 3, respond(message)
        first = next(parts)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if events else "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        if events:
            self.wfile.write(b"event: message\ndata: ")
        for piece in chain((first,), parts):
            self.wfile.write(piece)
        if events:
            self.wfile.write(b"\n\n")
        self.close_connection = True

    def do_GET(self):
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


if len(sys.argv) > 2:
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request and "method" in request:
        for part in respond(request):
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()
