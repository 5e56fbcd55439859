"""A server over HTTP whose one tool tells how it was asked: the path, the headers and the arguments."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOL = {"name": "get_request", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, params = message["method"], message.get("params") or {}
        if "id" not in message:
            self.answer(202, b"")
        elif method == "initialize":
            known = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
            self.result(message, {**known, "serverInfo": {"name": "echoing", "version": "1"}})
        elif method == "tools/list":
            self.result(message, {"tools": [TOOL]})
        elif method == "tools/call":
            seen = {"path": self.path, "headers": dict(self.headers), "arguments": params.get("arguments")}
            self.result(message, {"content": [{"type": "text", "text": json.dumps(seen)}]})
        else:
            self.answer(404, b"no")

    def result(self, message, result):
        self.answer(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())

    def do_GET(self):
        self.answer(405, b"")

    def do_DELETE(self):
        self.answer(200, b"")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
server.serve_forever()
