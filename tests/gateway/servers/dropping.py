"""A URL whose tool `bad` breaks the connection in the middle of a request: `dropping.py MODE ERA PORT`, on loopback.

MODE: before the answer (`close`, `reset`), in the middle of a body (`body`, `events`, `chunk`, `resumable`), or the
process ends (`exit`). `slow` answers after half a second.
"""

import json
import os
import socket
import struct
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODE, ERA, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
REVISIONS = {"discover": "2026-07-28", "initialize": "2025-11-25"}
SERVER = {"name": "dropping", "version": "1"}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("bad", "good", "slow")]
KEPT = {"ttlMs": 60000, "cacheScope": "private"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            return self.answer(202, b"")
        found = self.found(message)
        if found is None:
            return self.answer(404, b"")
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": found}).encode()
        return self.answer(200, body, "application/json")

    def found(self, message):
        method, params = message["method"], message.get("params") or {}
        if method == "server/discover" and ERA == "discover":
            return {"supportedVersions": [REVISIONS[ERA]], "capabilities": {"tools": {}}, "serverInfo": SERVER, **KEPT}
        if method == "initialize" and ERA == "initialize":
            return {"protocolVersion": REVISIONS[ERA], "capabilities": {"tools": {}}, "serverInfo": SERVER}
        if method == "tools/list":
            return {"tools": TOOLS, **KEPT}
        if method == "tools/call":
            if params["name"] == "bad":
                self.drop()
            time.sleep(0.5 * (params["name"] == "slow"))
            return {"content": [{"type": "text", "text": "good"}]}
        return None

    def drop(self):
        self.close_connection = True
        if MODE == "exit":
            os._exit(3)
        if MODE == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if MODE == "body":
            self.wfile.write(
                b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"jsonrpc"'
            )
        if MODE == "events":
            self.wfile.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: wait\n\n"
            )
        if MODE == "resumable":
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            self.wfile.write(head + b"id: 1\nretry: 0\ndata: \n\n")
        if MODE == "chunk":
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            self.wfile.write(head + b"8\r\n: wait\n\n\r\n40\r\ndata: ")
        self.wfile.flush()
        if MODE != "reset":
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()
        raise ConnectionAbortedError

    def do_GET(self):
        if MODE == "resumable" and self.headers.get("Last-Event-ID"):
            self.answer(200, b": still nothing\n\n", "text/event-stream")
        else:
            self.answer(405, b"")

    def do_DELETE(self):
        self.answer(405, b"")

    def answer(self, status, body, kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request, address):
        pass


Server(("127.0.0.1", PORT), Handler).serve_forever()
