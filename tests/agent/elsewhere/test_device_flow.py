"""A login to OpenHands Cloud with a browser, against a stand-in that speaks OAuth's device flow."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from rookery.agent.elsewhere import device_flow
from rookery.agent.provider.told import ActionableError
from tests.agent.elsewhere.stand_in import TOKEN, StandIn
from tests.cli.driving import Terminal

BEGUN = {
    "device_code": "device",
    "user_code": "AB-12",
    "verification_uri": "https://example.com/confirm",
    "interval": 2,
    "expires_in": 60,
}
PENDING = JSONResponse({"error": "authorization_pending"}, 400)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn().serving() as server:
        yield server


def plays(server: StandIn, *answers: Response, begun: Response | None = None) -> None:
    """The answers to looks, one after the other; the last for ever."""
    left = list(answers)

    def answer(path: str) -> Response | None:
        if path == "/oauth/device/authorize":
            return begun or JSONResponse(BEGUN)
        if path == "/oauth/device/token":
            return left.pop(0) if len(left) > 1 else left[0]
        return None

    server.answer = answer


def error(name: str, **more: object) -> Response:
    return JSONResponse({"error": name, **more}, 400)


def test_polling_for_a_login_is_as_slow_as_the_cloud_wants(server: StandIn) -> None:
    token = JSONResponse({"access_token": TOKEN})
    once = PlainTextResponse("a proxy's page", 502)
    slow = error("slow_down")
    plays(server, PENDING, slow, once, token)
    begun = device_flow.begin(server.url)
    assert (begun.code, begun.url) == ("AB-12", BEGUN["verification_uri"])
    waited: list[float] = []
    assert device_flow.wait(server.url, begun, waited.append) == TOKEN
    assert waited == [2.0, 7.0, 7.0]
    # What it says of its pace is not followed into absurdity.
    odd = {**BEGUN, "interval": -1e9, "expires_in": 1e12}
    plays(server, error("slow_down", interval=1e12), token, begun=JSONResponse(odd))
    begun = device_flow.begin(server.url)
    assert (begun.every, begun.within) == (device_flow.QUICKEST, device_flow.MAX_WAIT)
    waited.clear()
    assert device_flow.wait(server.url, begun, waited.append) == TOKEN
    assert waited == [device_flow.SLOWEST]
    plays(server, once)
    with pytest.raises(ActionableError, match="HTTP 502"):
        device_flow.wait(server.url, begun, waited.append)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (error("access_denied"), "refused in the browser"),
        (error("expired_token"), "not confirmed in time"),
        (error("invalid_grant", error_description="Unknown code"), "failed: Unknown code"),
    ],
)
def test_a_failed_login_says_why(server: StandIn, answer: Response, said: str) -> None:
    plays(server, PENDING, answer)
    begun = device_flow.begin(server.url)
    with pytest.raises(ActionableError, match=said):
        device_flow.wait(server.url, begun, lambda _: None)


def test_a_login_without_device_flow_or_network_says_so(server: StandIn) -> None:
    for begun, said in (
        (PlainTextResponse("<html>", 404), "Paste a token instead"),
        (JSONResponse({**BEGUN, "verification_uri": "javascript:x"}), "Paste a token instead"),
        (PlainTextResponse("down", 503), "Try again later"),
    ):
        plays(server, PENDING, begun=begun)
        with pytest.raises(ActionableError, match=said):
            device_flow.begin(server.url)
    looks: list[float] = []
    nobody = "http://127.0.0.1:9"
    with pytest.raises(ActionableError, match="does not respond"):
        device_flow.begin(nobody)
    begun_ = device_flow.Begun("device", "AB-12", "https://x", 2.0, 60.0)
    with pytest.raises(ActionableError, match="does not respond"):
        device_flow.wait(nobody, begun_, looks.append)
    assert len(looks) == device_flow.LOST - 1, "a network that comes back is waited for"


def test_a_login_in_a_terminal_can_be_given_up(home: Path, server: StandIn) -> None:
    plays(server, JSONResponse({"access_token": TOKEN}))
    words = ("agents", "add", "cloudy", "--cloud", "--remote", server.url)
    with Terminal(*words) as terminal:
        terminal.read_until("Token")
        terminal.type("\n")
        terminal.read_until("confirm the code AB-12")
        ended = terminal.end()
        assert ended.code == 0, ended
        assert "ada@example.com" in ended.out
        assert TOKEN not in ended.out
    kept = home / "agent_servers.json"
    assert TOKEN in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    kept.unlink()

    plays(server, PENDING)
    with Terminal(*words) as terminal:
        terminal.read_until("Token")
        terminal.type("\n")
        terminal.read_until("Ctrl-C gives up")
        terminal.type("\x03")
        ended = terminal.end()
        assert ended.code != 0
        assert "Traceback" not in ended.out
    assert not kept.exists()
