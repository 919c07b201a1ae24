"""A registry of npm packages that has a single one, whose program is the demo agent."""

import base64
import hashlib
import io
import json
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.npm import npm

PLAYER = [sys.executable, "-P", "-m", "rookery", "play", "demo"]
CLAUDE = "@agentclientprotocol/claude-agent-acp"


def tarball() -> bytes:
    about = {"name": CLAUDE, "version": "1.2.3", "bin": {"claude-agent-acp": "main.js"}}
    program, *rest = PLAYER
    script = (
        "#!/usr/bin/env node\n"
        "if (process.argv[2] == '--version') { console.log('1.2.3'); process.exit(0) }\n"
        f"const child = require('child_process').spawn({json.dumps(program)}, "
        f"{json.dumps(rest)}, {{stdio: 'inherit'}})\n"
        "child.on('exit', code => process.exit(code))\n"
    )
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as packed:
        for name, text in (("package.json", json.dumps(about)), ("main.js", script)):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(text.encode()), 0o755
            packed.addfile(entry, io.BytesIO(text.encode()))
    return data.getvalue()


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[threading.Event]:
    """With an npm that knows no other. The package is handed out while the event is set."""
    packed, given = tarball(), threading.Event()
    given.set()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = f"http://{self.headers['Host']}"
            digest = base64.b64encode(hashlib.sha512(packed).digest()).decode()
            dist = {"tarball": f"{host}/it.tgz", "integrity": f"sha512-{digest}"}
            version = {"name": CLAUDE, "version": "1.2.3", "dist": dist}
            version |= {"bin": {"claude-agent-acp": "main.js"}}
            about = {"name": CLAUDE, "dist-tags": {"latest": "1.2.3"}}
            about |= {"versions": {"1.2.3": version}}
            known = "claude-agent-acp" in self.path
            body = json.dumps(about).encode()
            if self.path == "/it.tgz":
                given.wait()
                body = packed
            self.send_response(200 if known or self.path == "/it.tgz" else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setenv("npm_config_userconfig", str(tmp_path / "npmrc"))
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
        monkeypatch.setenv("PATH", npm()[1]["PATH"])
        yield given
        given.set()
        server.shutdown()
