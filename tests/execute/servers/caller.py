"""A server that goes out into the network, over standard input and output, without any SDK."""

import json
import os
import socket
import sys
import urllib.error
import urllib.request


def page(given):
    """As an ordinary program asks: by the proxy that its variables name."""
    try:
        with urllib.request.urlopen(f"http://{given['target']}/", timeout=5) as response:
            return {"status": response.status, "body": response.read().decode()}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "body": error.read().decode()}
    except OSError as error:
        return {"status": 0, "body": type(error).__name__}


def line(given):
    """As a program asks that knows no proxy."""
    host, _, port = given["target"].rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=5) as sock:
            sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
            found = b""
            while data := sock.recv(4096):
                found += data
            return {"status": int(found.split()[1]), "body": found.decode().rpartition("\r\n\r\n")[2]}
    except OSError as error:
        return {"status": 0, "body": type(error).__name__}


def tunnel(given):
    """Through the proxy with CONNECT."""
    proxy = os.environ.get("HTTPS_PROXY", "").removeprefix("http://").split(":")
    with socket.create_connection((proxy[0], int(proxy[1])), timeout=5) as sock:
        sock.sendall(f"CONNECT {given['target']} HTTP/1.1\r\nHost: {given['target']}\r\n\r\n".encode())
        head = sock.recv(65536).decode()
        if " 200 " not in head.splitlines()[0]:
            return {"status": int(head.split()[1]), "body": head.rpartition("\r\n\r\n")[2]}
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        found = b""
        while data := sock.recv(4096):
            found += data
        return {"status": 200, "body": found.decode().rpartition("\r\n\r\n")[2]}


TOOLS = {
    "get_page": page,
    "get_line": line,
    "get_tunnel": tunnel,
    "get_interfaces": lambda given: {"names": sorted(name for _, name in socket.if_nameindex())},
}


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        server = {"name": "caller", "version": "1.0"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"target": {"type": "string"}}}
        return {"tools": [{"name": name, "description": name, "inputSchema": schema} for name in TOOLS]}
    if method == "tools/call":
        found = TOOLS[params["name"]](params.get("arguments") or {})
        return {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found}
    return None


def main():
    for text in sys.stdin:
        message = json.loads(text)
        if "id" not in message:
            continue
        result = answer(message)
        body = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)


main()
