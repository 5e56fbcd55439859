"""A URL that answers tool calls with the HTTP status named by its argument; everything before that as a good server."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODE = sys.argv[1]
HEADERS = {
    "401": ("WWW-Authenticate", 'Bearer realm="x"'),
    "429": ("Retry-After", "3"),
    "302": ("Location", "http://localhost/"),
}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method = message["method"]
        if "id" not in message:
            self.answer(202, b"")
        elif method == "server/discover" or (MODE == "refuse_all" and method == "initialize"):
            self.answer(401 if MODE == "refuse_all" else 404, b"no")
        elif method == "initialize":
            self.result(
                message,
                {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "web", "version": "1"},
                },
            )
        elif method == "tools/list":
            self.result(message, {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        else:
            self.misbehave(message)

    def misbehave(self, message):
        if MODE == "html":
            self.answer(200, b"<html>", "text/html")
        elif MODE == "not_json":
            self.answer(200, b"{", "application/json")
        elif MODE == "hang":
            time.sleep(600)
        elif MODE == "cut":
            self.answer(200, b": hello\n\n", "text/event-stream")
        elif MODE == "own_error":
            error = {"code": -32602, "message": "Unknown tool"}
            body = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            self.answer(400, json.dumps(body).encode(), "application/json")
        else:
            self.answer(int(MODE), b"sorry", "text/plain")

    def result(self, message, result):
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self.answer(200, body, "application/json")

    def do_GET(self):
        self.answer(405, b"")

    def answer(self, status, body, kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if str(status) in HEADERS:
            self.send_header(*HEADERS[str(status)])
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
