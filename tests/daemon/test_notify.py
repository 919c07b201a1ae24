"""Notifications by webhook and on the desktop: real receivers."""

import json
import os
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from rookery.client.config import in_force
from rookery.client.config.edit import change
from rookery.client.daemon import local
from rookery.daemon.notify import desktop, shapes, webhook
from rookery.daemon.notify.events import ASK, News
from rookery.daemon.process import lifecycle
from tests.cli.driving import rookery
from tests.daemon.served import PATIENCE, awaited, serve
from tests.worker.aviary import Aviary, trust

NEWS = News(ASK, "crow", "Build", "demo", "/w", "Run it?", 12_000, 7)


class Receiver:
    """Answers each request with the next of its statuses, the last one for ever."""

    def __init__(self) -> None:
        self.heard: Queue[tuple[str, dict[str, str], bytes]] = Queue()
        self.statuses = [200]
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.heard.put((self.path, dict(self.headers), body))
                first, *rest = receiver.statuses
                receiver.statuses = rest or [first]
                self.send_response(first)
                self.send_header("Location", receiver.url + "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "PAUSES", (0.0, 0.0))


def post(url: str, **more: Any) -> shapes.Post:
    return shapes.post(
        NEWS, url, **{"shape": "json", "secret": "", "now": 99, **more}, delivery="d"
    )


def send(url: str, **more: Any) -> None:
    webhook.send(post(url, **more), threading.Event())


def test_a_webhook_is_signed_with_its_time(receiver: Receiver) -> None:
    send(receiver.url + "/hook", secret="s3cret")
    path, headers, body = receiver.heard.get(timeout=PATIENCE)
    assert path == "/hook"
    assert headers["Rookery-Timestamp"] == "99"
    assert headers["Rookery-Signature"] == shapes.signature("s3cret", 99, body)
    assert shapes.signature("s3cret", 98, body) != headers["Rookery-Signature"]
    assert json.loads(body)["text"] == "Run it?"


@pytest.mark.usefixtures("quick")
def test_a_webhook_is_tried_again_within_bounds(receiver: Receiver) -> None:
    receiver.statuses = [503, 429, 200]
    send(receiver.url)
    assert receiver.heard.qsize() == 3
    receiver.statuses = [500]
    with pytest.raises(webhook.Undelivered, match="500"):
        send(receiver.url)
    assert receiver.heard.qsize() == 6


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("status", [302, 307, 400, 404])
def test_a_redirect_or_a_refusal_is_final(receiver: Receiver, status: int) -> None:
    receiver.statuses = [status]
    with pytest.raises(webhook.Undelivered, match=str(status)):
        send(receiver.url)
    assert receiver.heard.qsize() == 1


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://h/x", "x", "http://", "http://[x/"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(webhook.Undelivered, match="webhook is not"):
        send(url)


def test_an_error_does_not_reveal_the_webhooks_address(
    receiver: Receiver, quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.statuses = [403]
    with pytest.raises(webhook.Undelivered) as caught:
        send(receiver.url + "/services/T0/secret")
    assert "secret" not in str(caught.value) + caplog.text


def script(directory: Path, name: str, text: str) -> None:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.skipif("sys.platform == 'darwin'")
def test_desktop_notifications_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(webhook.Undelivered, match="notify-send is not installed"):
        desktop.send(NEWS)
    script(tmp_path, "notify-send", f"for word; do echo \"$word\"; done > '{tmp_path}/said'")
    desktop.send(NEWS._replace(text="$(touch x)"))
    assert (tmp_path / "said").read_text().splitlines()[-3:] == [
        "--",
        "Build needs you",
        "$(touch x)",
    ]
    script(tmp_path, "notify-send", "exit 3")
    with pytest.raises(webhook.Undelivered, match="3"):
        desktop.send(NEWS)


async def test_the_end_of_an_unseen_turn_is_sent_once(
    aviary: Aviary,
    receiver: Receiver,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A turn that ends unseen reaches the webhook and the desktop, once."""
    programs = tmp_path_factory.mktemp("programs")
    said = programs / "said"
    script(programs, "notify-send", f"echo \"$@\" >> '{said}'")
    script(programs, "osascript", f"echo \"$@\" >> '{said}'")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    change(aviary.home, {"notify.webhook": receiver.url + "/{session}", "notify.desktop": True})
    serve(Path(aviary.home))
    try:
        bird = aviary.hatch()
        await bird.turn("first")
        path, headers, body = receiver.heard.get(timeout=PATIENCE)
        found = json.loads(body)
        assert path == f"/{found['session']}"
        assert found["event"] == "end"
        assert headers["Rookery-Delivery"] == f"{found['session']}-{found['seq']}"
        awaited(lambda: said.exists() and "is done" in said.read_text())
        await bird.turn("second")
        again = json.loads(receiver.heard.get(timeout=PATIENCE)[2])
        assert again["seq"] > found["seq"]
        assert receiver.heard.empty()
        await bird.prompt([{"ask": "Sweep the yard?", "kind": "execute"}])
        asked = json.loads(receiver.heard.get(timeout=PATIENCE)[2])
        assert (asked["event"], asked["text"]) == ("ask", "Sweep the yard?")
    finally:
        if local.record(aviary.home) is not None:
            lifecycle.stop(aviary.home)


@pytest.mark.usefixtures("home")
def test_notifications_are_set_by_command() -> None:
    """The secret is not shown again."""
    from click.testing import CliRunner

    from rookery.cli.commands.setup.config import config

    runner = CliRunner()
    assert runner.invoke(config, ["set", "notify.webhook", "https://h.example/x"]).exit_code == 0
    assert runner.invoke(config, ["set", "notify.webhook_shape", "slack"]).exit_code == 0
    done = runner.invoke(config, ["set", "notify.webhook_secret", "s3cret"])
    assert done.exit_code == 0
    shown = runner.invoke(config, ["show"])
    assert "https://h.example/x" in shown.output
    assert "(hidden)" in shown.output
    assert "s3cret" not in shown.output + done.output


@pytest.mark.usefixtures("home")
def test_notify_test_sends_one_notification(receiver: Receiver) -> None:
    none = rookery("notify", "test")
    assert none.code == 1
    assert "No notifications are set up" in none.err
    rookery("config", "set", "notify.webhook", receiver.url)
    done = rookery("notify", "test")
    assert (done.code, done.out.strip()[-13:]) == (0, "webhook: sent")
    assert json.loads(receiver.heard.get(timeout=PATIENCE)[2])["event"] == "test"
    receiver.statuses = [403]
    failed = rookery("notify", "test")
    assert failed.code == 1
    assert "403" in failed.out


async def test_an_agent_cannot_redirect_the_notifications(aviary: Aviary) -> None:
    change(aviary.home, {"notify.webhook": "https://mine.example/x"})
    trust(aviary.home)
    file = Path(aviary.home, "config.toml")
    text = file.read_text().replace("mine", "theirs")
    bird = aviary.hatch()
    line = f"printf %s '{text}' > {file}.new && mv {file}.new {file}"
    await bird.turn([{"command": ["sh", "-c", line]}])
    assert "theirs" in file.read_text()
    found = in_force.settings(aviary.home)
    assert found.config.notify.webhook == "https://mine.example/x"
    assert found.held is not None
