"""A server behind a token, on loopback, with its own authorisation server beside it. Each word after the port breaks one rule."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, BROKEN = int(sys.argv[1]), set(sys.argv[2:])
OWN = f"http://127.0.0.1:{PORT}"
SCOPES = {"good-token": {"read", "write"}, "reader-token": {"read"}}
TOOLS = ("get_project", "create_issue")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/sse" and "sse" in BROKEN:
            self.answer(200, b"event: endpoint\ndata: /messages\n\n", {"Content-Type": "text/event-stream"})
        elif self.path == "/.well-known/oauth-protected-resource/mcp" and "no_metadata" not in BROKEN:
            issuer = "https://login.example.com" if "elsewhere" in BROKEN else OWN
            resource = "https://other.example.com/mcp" if "other_resource" in BROKEN else f"{OWN}/mcp"
            self.json(200, {"resource": resource, "authorization_servers": [issuer]})
        elif self.path == "/.well-known/oauth-authorization-server":
            found = {"issuer": OWN, "authorization_endpoint": f"{OWN}/authorize", "response_types_supported": ["code"]}
            found |= {} if "no_token_endpoint" in BROKEN else {"token_endpoint": f"{OWN}/token"}
            found |= {} if "no_pkce" in BROKEN else {"code_challenge_methods_supported": ["S256"]}
            self.json(200, found)
        else:
            self.answer(405, b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        origin = self.headers.get("Origin")
        if origin and not origin.startswith(OWN) and "any_origin" not in BROKEN:
            return self.answer(400 if "other_status" in BROKEN else 403, b"foreign")
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        scopes = SCOPES.get(token)
        if scopes is None and ("open" in BROKEN or (token and "any_token" in BROKEN)):
            scopes = SCOPES["good-token"]
        if scopes is None:
            said = 'error="invalid_token", ' if token else ""
            where = f'Bearer {said}resource_metadata="{OWN}/.well-known/oauth-protected-resource/mcp"'
            return self.answer(403 if "forbidden" in BROKEN else 401, b"", {"WWW-Authenticate": where})
        try:
            message = json.loads(body)
        except ValueError:
            return self.answer(400, b"no JSON")
        if "id" not in message:
            return self.answer(202, b"")
        return self.serve(message, scopes)

    def serve(self, message, scopes):
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            server = {"name": "guarded", "version": "1"}
            found = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
            return self.json(200, {"jsonrpc": "2.0", "id": message["id"], "result": found}, {"Mcp-Session-Id": "one"})
        if self.headers.get("Mcp-Session-Id") != "one":
            return self.answer(404, b"no such session")
        if method == "tools/call" and params.get("name") == "create_issue" and "write" not in scopes:
            return self.answer(403, b"", {"WWW-Authenticate": 'Bearer error="insufficient_scope"'})
        if method == "ping":
            found = {}
        elif method == "tools/list":
            found = {
                "tools": [{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in TOOLS]
            }
        elif method == "tools/call" and params.get("name") in TOOLS:
            found = {"content": [{"type": "text", "text": "done"}]}
        else:
            code = -32602 if method == "tools/call" else -32601
            error = {"code": code, "message": "there is no such thing"}
            return self.json(200, {"jsonrpc": "2.0", "id": message["id"], "error": error})
        return self.json(200, {"jsonrpc": "2.0", "id": message["id"], "result": found})

    def json(self, status, found, headers=None):
        self.answer(status, json.dumps(found).encode(), {"Content-Type": "application/json", **(headers or {})})

    def answer(self, status, body, headers=None):
        self.send_response(status)
        for name, value in {"Content-Type": "text/plain", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
