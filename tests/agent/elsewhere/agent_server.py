"""The agent server of PyPI on loopback, in an environment of its own."""

import http.client
import os
import socket
import subprocess
from contextlib import closing, suppress
from pathlib import Path

from rookery.processes import tree
from tests.acp.packages import python_with
from tests.daemon.served import awaited

PACKAGE = "openhands-agent-server==1.58.0"
KEY = "session-key-of-the-test"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RealServer:
    """Its conversations outlive it, as its directory does."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        python = python_with(PACKAGE)
        own = {
            "HOME": str(self._place),
            "SESSION_API_KEY": KEY,
            "OH_CONVERSATIONS_PATH": str(self._place / "conversations"),
            "OH_ENABLE_VSCODE": "false",
            "OH_ENABLE_VNC": "false",
            "OH_PRELOAD_TOOLS": "false",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }
        command = [str(python), "-m", "openhands.agent_server", "--host", "127.0.0.1"]
        with open(self._place / "server.log", "ab") as log:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port)],
                env={key: os.environ[key] for key in os.environ if key != "ROOKERY_HOME"} | own,
                cwd=self._place,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        awaited(self._answers, 120)

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        with suppress(OSError), closing(connection) as asked:
            asked.request("GET", "/health")
            return asked.getresponse().status == 200
        return False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def end(self) -> None:
        """With the shells of its tmux, which outlive it."""
        self.kill()
        mine = f"HOME={self._place}".encode()
        tree.kill([row for row in tree.table() if mine in _environment(row.pid)])


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
