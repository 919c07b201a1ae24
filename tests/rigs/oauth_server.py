"""An MCP server over HTTP that wants a log-in, and its OAuth authorization server, on loopback:
metadata (RFC 9728, RFC 8414), dynamic registration, PKCE, tokens that expire, refresh tokens that
are good once. `python -m tests.rigs.oauth_server` prints its address.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, override
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

type Json = dict[str, Any]

TOOL: Json = {
    "name": "count_birds",
    "description": "Counts the birds",
    "inputSchema": {"type": "object", "properties": {}},
}


class OAuthServer:
    """`lives`: seconds until an access token expires."""

    def __init__(self, lives: int = 3600) -> None:
        self.lives = lives
        self.clients: dict[str, Json] = {}
        self.codes: dict[str, Json] = {}
        self.access: dict[str, float] = {}
        """Tokens, and when they expire."""
        self.refresh: set[str] = set()
        self.issued: list[str] = []
        """Every secret that was ever given out."""
        self.grants: list[str] = []
        """Of each token request: its kind."""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.base = f"http://127.0.0.1:{self._http.server_port}"
        self.url = f"{self.base}/mcp"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def expire(self) -> None:
        """Every access token, as if time had passed."""
        self.access = dict.fromkeys(self.access, 0.0)

    # --- authorization ---------------------------------------------------------------------------

    def metadata(self) -> Json:
        return {
            "issuer": self.base,
            "authorization_endpoint": f"{self.base}/authorize",
            "token_endpoint": f"{self.base}/oauth/token",
            "registration_endpoint": f"{self.base}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }

    def register(self, wish: Json) -> Json:
        name = secrets.token_hex(8)
        self.clients[name] = {**wish, "client_id": name, "token_endpoint_auth_method": "none"}
        return self.clients[name]

    def authorize(self, asked: dict[str, str]) -> str | None:
        """Where the browser goes next: whoever opens the page is logged in. None: bad request."""
        client = self.clients.get(asked.get("client_id", ""))
        known = client is not None and asked.get("redirect_uri") in client["redirect_uris"]
        if not known or asked.get("code_challenge_method") != "S256":
            return None
        code = self._secret()
        self.codes[code] = asked
        answer = {"code": code, "state": asked.get("state", "")}
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def token(self, asked: dict[str, str]) -> Json | None:
        self.grants.append(asked.get("grant_type", ""))
        if asked.get("client_id") not in self.clients:
            return None
        if asked["grant_type"] == "refresh_token":
            if asked["refresh_token"] not in self.refresh:
                return None
            self.refresh.discard(asked["refresh_token"])
        else:
            begun = self.codes.pop(asked["code"], None)
            digest = hashlib.sha256(asked["code_verifier"].encode()).digest()
            proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if begun is None or begun["code_challenge"] != proof:
                return None
        access, again = self._secret(), self._secret()
        self.access[access] = time.time() + self.lives
        self.refresh.add(again)
        return {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": self.lives,
            "refresh_token": again,
        }

    def _secret(self) -> str:
        self.issued.append(secrets.token_hex(16))
        return self.issued[-1]

    # --- MCP -------------------------------------------------------------------------------------

    def admits(self, header: str) -> bool:
        return self.access.get(header.removeprefix("Bearer "), 0.0) > time.time()

    def answer(self, message: Json) -> Json | None:
        """None: a notification."""
        match message:
            case {"method": "initialize", "params": {"protocolVersion": version}}:
                result: Json = {
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "aviary", "version": "1"},
                }
            case {"method": "tools/list"}:
                result = {"tools": [TOOL]}
            case {"method": "tools/call"}:
                result = {"content": [{"type": "text", "text": "17 birds"}]}
            case _:
                result = {}
        if "id" not in message:
            return None
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def browse(address: str) -> str:
    """What a browser does with an authorization address: it follows it to the callback's page."""
    with urlopen(address, timeout=60) as page:  # noqa: S310 - of our own server
        return str(page.read().decode())


def _handler(server: OAuthServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        @override
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            place = urlsplit(self.path)
            if place.path.startswith("/.well-known/oauth-protected-resource"):
                found = {"resource": server.url, "authorization_servers": [server.base]}
                self._send(200, found)
            elif place.path == "/.well-known/oauth-authorization-server":
                self._send(200, server.metadata())
            elif place.path == "/authorize":
                asked = {key: values[0] for key, values in parse_qs(place.query).items()}
                target = server.authorize(asked)
                self._send(302 if target else 400, {}, Location=target or "")
            else:
                self._send(405 if place.path == "/mcp" else 404, {})

        def do_DELETE(self) -> None:
            self._send(200, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == "/register":
                self._send(201, server.register(json.loads(body)))
            elif self.path == "/oauth/token":
                fields = parse_qs(body.decode())
                told = server.token({key: values[0] for key, values in fields.items()})
                self._send(200 if told else 400, told or {"error": "invalid_grant"})
            elif self.path != "/mcp":
                self._send(404, {})
            elif not server.admits(self.headers.get("Authorization", "")):
                where = f"{server.base}/.well-known/oauth-protected-resource/mcp"
                challenge = {"WWW-Authenticate": f'Bearer resource_metadata="{where}"'}
                self._send(401, {"error": "invalid_token"}, **challenge)
            else:
                answer = server.answer(json.loads(body))
                self._send(202 if answer is None else 200, answer)

        def _send(self, code: int, body: Json | None, **headers: str) -> None:
            data = b"" if body is None else json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    return Handler


if __name__ == "__main__":
    print(OAuthServer().url, flush=True)
    threading.Event().wait()
