"""Who did it: each device has a name, a role and a person, and nobody can speak for another."""

import asyncio
import json
import os
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from rookery.core.ask import from_agent
from rookery.core.json.senders import by_of, clean_name, sender
from rookery.daemon.access import roles
from rookery.daemon.access.devices import NOTED, Devices, Grant, LastOne
from rookery.daemon.access.gate import is_public
from rookery.daemon.access.names import of_browser, readable
from rookery.daemon.app import build_api
from rookery.home import paths
from tests.daemon.browser import Browser
from tests.daemon.handshake import upgrade
from tests.daemon.served import Answer, Served, awaited
from tests.daemon.test_routes import WEBSOCKET, Address, found


def log_in(served: Served, **wish: str) -> tuple[str, str]:
    """The id and the token of a new device."""
    link = urlsplit(served.own("POST", "/api/devices/link", wish).json()["link"])
    form = {"code": link.query.rpartition("=")[2], "name": "phone"}
    given = {"Host": link.netloc, "Content-Type": "application/x-www-form-urlencoded"}
    answer = served.ask("POST", "/login", urlencode(form).encode(), token="", **given)
    token = answer.json()["token"]
    about = served.ask("GET", "/api/about", token=token, Host=link.netloc)
    return about.json()["device"], token


@pytest.fixture(scope="module")
def tokens(served: Served) -> dict[str, str]:
    return {role: log_in(served, role=role)[1] for role in roles.ROLES}


# --- roles ---------------------------------------------------------------------------------------


def templates() -> list[Address]:
    return sorted(found(build_api().routes, lambda path: path))


def test_every_route_in_the_table_of_roles_is_there() -> None:
    known = {str(each) for each in templates()}
    stated = {route for routes in roles.TABLE.values() for route in routes}
    assert stated <= known


def test_a_request_that_meets_a_new_role_is_told_so(served: Served) -> None:
    """It was cut off in the middle, which is no fault of Rookery's."""
    name, token = log_in(served)
    over = threading.Event()

    def look(place: str) -> set[int]:
        seen = set[int]()
        while not over.is_set():
            seen.add(served.ask("GET", place, token=token).status)
        return seen

    with ThreadPoolExecutor() as pool:
        looks = [pool.submit(look, place) for place in ("/api/sessions", "/", "/inbox")]
        for role in ("look", "all") * 20:
            served.own("PATCH", f"/api/devices/{name}", {"role": role})
        over.set()
        statuses = set[int]().union(*(each.result() for each in looks))
    assert {200} < statuses <= {200, 401}


def test_what_only_looks_is_in_no_table_that_writes() -> None:
    written = [route for route in roles.TABLE[roles.LOOK] if not route.startswith(("GET", "HEAD"))]
    assert written == [
        f"{WEBSOCKET} /api/stream",
        "DELETE /api/devices/{device}",
        "POST /api/push/subscriptions",
        "DELETE /api/push/subscriptions",
    ]


def asked(served: Served, each: Address, token: str) -> Answer:
    path = re.sub(r"{\w+}", "x", each.path)
    if each.method == WEBSOCKET:
        return upgrade(served.netloc, path, Authorization=f"Bearer {token}")
    if path == "/api/events":
        path = "/api/events?topic=x&form=x"  # refused behind the gate, and not for ever
    body = None if each.method in ("GET", "HEAD") else {}
    return served.ask(each.method, path, body, token=token)


@pytest.mark.parametrize("role", [roles.LOOK, roles.ANSWER])
def test_every_route_that_is_not_stated_is_refused_to_a_lesser_role(
    served: Served, tokens: dict[str, str], role: str
) -> None:
    stated = set(roles.TABLE[roles.LOOK])
    stated |= set(roles.TABLE[roles.ANSWER]) if role == roles.ANSWER else set()
    refused = 0
    for each in templates():
        if is_public(each.path) or each.path == "/api/stream":
            continue
        answer = asked(served, each, tokens[role])
        is_refused = answer.status == 403 and (
            each.method == "HEAD" or answer.json()["error"] == "role"
        )
        own = each.path == "/api/devices/{device}" and each.method == "DELETE"  # of another's
        assert is_refused == (str(each) not in stated or own), (str(each), answer)
        refused += is_refused
    assert refused > 30


def test_a_look_device_follows_and_reads(served: Served, tokens: dict[str, str]) -> None:
    session = served.create()
    about = served.ask("GET", "/api/about", token=tokens["look"]).json()
    assert (about["role"], about["read_only"]) == ("look", True)
    path = f"/api/sessions/{session}/export"
    assert served.ask("GET", path, token=tokens["look"]).status == 200

    async def follow() -> None:
        headers = {"Authorization": f"Bearer {tokens['look']}"}
        address = f"ws://{served.netloc}/api/stream"
        async with connect(address, additional_headers=headers) as link:
            await link.send(json.dumps({"subscribe": {"topic": session}}))
            assert session in str(await link.recv())

    asyncio.run(follow())


def asking(served: Served) -> tuple[str, str, dict[str, Any]]:
    """A session of the demo agent that asks before it runs a command."""
    session = served.create(prompt="run something")

    def asks() -> Any:
        path = f"/api/sessions/{session}/header"
        return served.ask("GET", path).json()["header"]["asks"]

    [(name, ask)] = awaited(asks).items()
    return session, name, ask


def option(ask: dict[str, Any], kind: str) -> str:
    return str(next(each["optionId"] for each in ask["options"] if each["kind"] == kind))


def test_an_answer_device_answers_once_and_nothing_else(
    served: Served, tokens: dict[str, str]
) -> None:
    session, name, ask = asking(served)
    path, token = f"/api/sessions/{session}", tokens["answer"]
    plain: dict[str, Any] = {"ask": name, "nonce": ask["nonce"]}
    once = {**plain, "option": option(ask, "allow_once")}

    def refused(path: str, body: dict[str, Any]) -> bool:
        answer = served.ask("POST", path, body, token=token)
        return (answer.status, answer.json()["error"]) == (403, "role")

    assert refused(f"{path}/answer", {**plain, "always": True})
    assert refused(f"{path}/answer", {**once, "always": 2})
    assert refused(f"{path}/commands", {"do": "answer", **plain, "always": True})
    assert refused(f"{path}/prompt", {"text": "hello"})
    for each in ask["options"]:
        if each["kind"].endswith("_always"):
            assert refused(f"{path}/answer", {**plain, "option": each["optionId"]})
    for do in ("cancel", "stop", "archive", "clear"):
        assert refused(f"{path}/commands", {"do": do})
    wish = {"do": "set", "option": "confirm", "value": "all"}
    assert refused(f"{path}/commands", wish)
    assert served.ask("POST", f"{path}/answer", once, token=token).status == 200


def test_what_always_allows_is_more_than_an_answer_device_may_do() -> None:
    options = [{"optionId": "a", "kind": "allow_always"}, {"optionId": "b", "kind": "x"}]
    ask = from_agent({"options": options})
    given = {"do": "answer", "ask": "1"}
    assert not roles.command_fault("answer", given | {"option": "b"}, ask)
    assert roles.command_fault("answer", given | {"option": "a"}, ask)
    assert roles.command_fault("answer", given | {"option": "b", "tomorrow": 1}, ask)
    assert roles.command_fault("look", given | {"option": "b"}, ask)
    assert roles.command_fault("unheard of", given | {"option": "b"}, ask)


def test_a_new_role_holds_at_once_also_for_what_is_open(served: Served) -> None:
    name, token = log_in(served)

    async def follow() -> int:
        headers = {"Authorization": f"Bearer {token}"}
        address = f"ws://{served.netloc}/api/stream"
        async with connect(address, additional_headers=headers) as link:
            await link.send(json.dumps({"subscribe": {"topic": "fleet"}}))
            await link.recv()
            change = {"role": "look"}
            answer = await asyncio.to_thread(served.own, "PATCH", f"/api/devices/{name}", change)
            assert answer.status == 200
            with suppress(ConnectionClosed):
                while True:
                    await link.recv()
            return link.close_code or 0

    assert asyncio.run(follow()) == 1008
    answer = served.ask("POST", "/api/sessions", {"cwd": "/tmp"}, token=token)
    assert (answer.status, answer.json()["error"]) == (403, "role")
    assert served.ask("GET", "/api/sessions", token=token).status == 200


def test_a_device_that_is_demoted_while_it_sends_changes_nothing(served: Served) -> None:
    name, token = log_in(served)
    link = served.connection()
    body = json.dumps({"agent": "demo", "cwd": "/tmp", "title": "late"}).encode()
    link.putrequest("POST", "/api/sessions")
    for key, value in {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }.items():
        link.putheader(key, value)
    link.endheaders(body[:5])
    awaited(lambda: row(served, name)["used"] > row(served, name)["created"])
    assert served.own("PATCH", f"/api/devices/{name}", {"role": "look"}).status == 200
    link.send(body[5:])
    answer = link.getresponse()
    assert (answer.status, json.loads(answer.read())["error"]) == (403, "role")
    titles = [each["title"] for each in served.ask("GET", "/api/sessions").json()["sessions"]]
    assert "late" not in titles
    link.close()


def row(served: Served, name: str) -> dict[str, Any]:
    rows = served.own("GET", "/api/devices").json()
    return next(each for each in rows if each["id"] == name)


def test_a_lesser_device_logs_out_itself_and_no_other(served: Served) -> None:
    name, token = log_in(served, role="look")
    other, _ = log_in(served)
    assert served.ask("DELETE", f"/api/devices/{other}", token=token).status == 403
    assert served.ask("DELETE", f"/api/devices/{name}", token=token).status == 200
    assert served.ask("GET", "/api/about", token=token).status == 401


def test_the_last_device_that_may_do_everything_stays_so_over_the_network(
    serving: Callable[..., Served],
) -> None:
    served = serving()
    name, token = log_in(served)
    log_in(served, role="look")
    for answer in (
        served.ask("PATCH", f"/api/devices/{name}", {"role": "answer"}, token=token),
        served.ask("DELETE", f"/api/devices/{name}", token=token),
    ):
        assert (answer.status, answer.json()["error"]) == (409, "last_device")
    other, _ = log_in(served)
    path = f"/api/devices/{name}"
    assert served.ask("PATCH", path, {"role": "answer"}, token=token).status == 200
    assert served.own("PATCH", f"/api/devices/{other}", {"role": "look"}).status == 200


def test_the_only_device_may_log_out(home: Path) -> None:
    devices = Devices(str(home))
    device, _ = devices.add("laptop")
    with pytest.raises(LastOne):
        devices.change(device.id, {"role": "look"})
    assert devices.revoke(device.id, here=False)


def test_builds_that_know_no_roles_do_not_let_a_lesser_device_in(home: Path) -> None:
    devices = Devices(str(home))
    full, _ = devices.add("laptop")
    lesser, _ = devices.add("wall", "", Grant("look", "Anna"))
    kept = json.loads((home / "daemon" / "access.json").read_text())
    assert [each["id"] for each in kept["devices"]] == [full.id]
    assert Devices(str(home)).find(lesser.id) == lesser


def test_devices_of_earlier_builds_may_do_everything_and_have_readable_names(home: Path) -> None:
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    old = {"id": "aa", "name": agent, "created": 1, "used": 1, "address": "", "key": "04" * 65}
    (home / "daemon").mkdir()
    (home / "daemon" / "access.json").write_text(json.dumps({"devices": [old]}))
    [device] = Devices(str(home)).all()
    assert (device.role, device.name) == ("all", "Firefox on Linux")


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("(iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18 Safari/604", "Safari on iPhone"),
        ("(Windows NT 10.0) Chrome/120 Safari/537.36 Edg/120", "Edge on Windows"),
        ("(Linux; Android 15) Chrome/120 Mobile Safari/537.36", "Chrome on Android"),
        ("(Macintosh; Intel Mac OS X 10_15) Version/17 Safari/605", "Safari on macOS"),
        ("(X11; CrOS x86_64) Chrome/120 Safari/537.36", "Chrome on ChromeOS"),
        ("something", "Browser"),
    ],
)
def test_a_browser_has_a_name_that_can_be_read(agent: str, name: str) -> None:
    assert readable(f"Mozilla/5.0 {agent}") == name


def test_a_program_is_called_what_it_says_on_one_line() -> None:
    assert readable("curl/8.5\n\x1b[31m") == "curl/8.5 [31m"


def test_chromium_is_told_from_chrome_by_what_it_says_apart() -> None:
    agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140 Safari/537.36"
    brands = '"Chromium";v="140", "Not=A?Brand";v="24"'
    assert of_browser({"user-agent": agent, "sec-ch-ua": brands}) == "Chromium on Linux"
    brands = '"Chromium";v="140", "Not=A?Brand";v="24", "Google Chrome";v="140"'
    assert of_browser({"user-agent": agent, "sec-ch-ua": brands}) == "Chrome on Linux"


# --- by ------------------------------------------------------------------------------------------


def test_who_sent_a_command_is_written_and_read() -> None:
    for given in (
        ("3fa94c01", "Anna's phone", ""),
        ("3fa94c01", "a: b (c)", "Anna"),
        ("", "", "B"),
    ):
        who = by_of(f"web:{sender(*given)}")
        assert (who.device, who.name, who.person) == given
    assert by_of("web:4711") == ("web", "", "", "")
    assert by_of(None) == ("", "", "", "")
    assert by_of(f"web:{sender('3fa94c01', '', '')}").where == "another device"
    assert clean_name("a | b\n\u202ec" + "x" * 100)[:9] == "a / b cxx"


def events(served: Served, session: str) -> list[dict[str, Any]]:
    return list(served.ask("GET", f"/api/sessions/{session}/events").json()["events"])


def test_every_command_of_a_device_names_it(serving: Callable[..., Served]) -> None:
    served = serving()
    name, token = log_in(served, person="Anna")
    served._token = token
    session = served.create(prompt="run something")
    path = f"/api/sessions/{session}"

    def asks() -> Any:
        return served.ask("GET", f"{path}/header").json()["header"]["asks"]

    [(ask, about)] = awaited(asks).items()
    forged = {"ask": ask, "option": option(about, "allow_once"), "by": "terminal:1"}
    assert served.ask("POST", f"{path}/answer", forged).status == 422
    del forged["by"]
    assert served.ask("POST", f"{path}/answer", forged).status == 200
    for body in ({"title": "x"}, {"pinned": True}, {"archived": True}):
        assert served.ask("PATCH", path, body).status == 200
    served.ask("POST", f"{path}/commands", {"do": "stop"})
    sent = [each for each in events(served, session) if each["cause"] or each["seq"] == 1]
    assert len(sent) >= 6
    assert {each["by"] for each in sent} == {f"web:{name} phone | Anna"}
    shown = served.ask("GET", f"{path}/document").json()
    [block] = [each for each in blocks(shown) if each["role"] == "ask"]
    assert (block["text"], block["where"]) == ("Anna allowed it", "phone")
    text = served.ask("GET", f"{path}/export?format=md").body.decode()
    assert "Anna allowed it (phone)" in text


def blocks(shown: Any) -> list[dict[str, Any]]:
    if isinstance(shown, list):
        return [each for inner in shown for each in blocks(inner)]
    if not isinstance(shown, dict):
        return []
    return [shown] if "role" in shown else [each for v in shown.values() for each in blocks(v)]


# --- the log -------------------------------------------------------------------------------------


def test_the_log_tells_who_did_what(serving: Callable[..., Served]) -> None:
    served = serving()
    name, token = log_in(served, role="all", person="Anna")
    session = served.ask(
        "POST", "/api/sessions", {"agent": "demo", "cwd": "/tmp", "title": "t"}, token=token
    ).json()["id"]
    served.ask("PATCH", f"/api/sessions/{session}", {"pinned": True}, token=token)
    served.own("PATCH", f"/api/devices/{name}", {"name": "Anna's phone"})
    served.ask("DELETE", f"/api/sessions/{session}?permanently=true", token=token)
    other = served.ask(
        "POST", "/api/sessions", {"agent": "demo", "cwd": "/tmp", "title": "u"}, token=token
    ).json()["id"]
    served.own("DELETE", f"/api/devices/{name}")
    rows = served.own("GET", f"/api/devices/log?device={name}").json()
    done = [(each["did"], each["person"], each["session"]) for each in reversed(rows)]
    assert done == [
        ("logged in (everything, 127.0.0.1)", "Anna", ""),
        ("changed name: phone → Anna's phone", "", ""),
        ("remove", "Anna", session),
        ("created it", "Anna", other),
        ("revoked", "", ""),
    ]
    assert len(served.own("GET", "/api/devices/log?limit=2").json()) == 2


# --- idle devices --------------------------------------------------------------------------------


def aged(home: str, name: str, days: float) -> None:
    """As if the device had last been here so many days ago."""
    path = os.path.join(home, "daemon", "access.json")
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
    for each in kept["devices"]:
        if each["id"] == name:
            each["used"] -= int(days * 86_400_000)
    paths.write_atomic(path, json.dumps(kept).encode(), 0o600)


def test_a_device_that_was_idle_for_too_long_has_to_log_in_again(
    serving: Callable[..., Served],
) -> None:
    served = serving()
    link = served.own("POST", "/api/devices/link", {}).json()["link"]
    token = served.log_in(code=link.rpartition("=")[2]).json()["token"]
    [name] = [each["id"] for each in served.own("GET", "/api/devices").json()]
    aged(served.home, name, 91)
    answer = served.ask("GET", "/api/about", token=token)
    assert (answer.status, answer.json()["error"]) == (401, "idle")
    assert "rookery serve --link" in answer.json()["remedy"]
    assert row(served, name)["expired"]
    aged(served.home, name, -91)  # the clock was wrong, and is right again
    assert served.ask("GET", "/api/about", token=token).status == 200


def test_a_clock_that_jumps_takes_nobody_out_who_was_here(home: Path) -> None:
    devices = Devices(str(home))
    device, _ = devices.add("laptop")
    aged(str(home), device.id, 91)
    known = devices.find(device.id)
    assert known
    assert devices.is_expired(known)
    devices.note_use(known, "")
    aged(str(home), device.id, 400)
    again = devices.find(device.id)
    assert again
    assert not devices.is_expired(again)
    devices.idle_days = 0
    assert not Devices.is_expired(devices, again._replace(id="other", used=0))


def test_what_an_idle_device_has_open_is_closed(home: Path) -> None:
    async def visit() -> bool:
        devices = Devices(str(home))
        device, _ = devices.add("wall")
        aged(str(home), device.id, 91)
        stays = asyncio.create_task(devices.visits.run(device.id, asyncio.Event().wait()))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        devices.look_after()
        return await stays

    assert asyncio.run(visit()) is False


def test_use_is_written_rarely(home: Path) -> None:
    devices = Devices(str(home))
    device, _ = devices.add("laptop")
    before = os.stat(home / "daemon" / "access.json").st_mtime_ns
    devices.note_use(device, "10.0.0.1")
    assert os.stat(home / "daemon" / "access.json").st_mtime_ns == before
    assert devices.all()[0].address == "10.0.0.1"
    devices.note_use(device._replace(used=int((time.time() - NOTED - 1) * 1000)), "10.0.0.2")
    assert Devices(str(home)).all()[0].address == "10.0.0.2"


# --- persons -------------------------------------------------------------------------------------


HEADER = "X-Remote-User"


@pytest.fixture
def proxied(serving: Callable[..., Served]) -> Served:
    return serving(
        auth="none",
        behind_proxy=True,
        allowed_hosts=("box.example.org",),
        proxy_user=str(os.geteuid()),
        trusted_user_header=HEADER,
    )


def through(served: Served, path: str, body: Any, *values: bytes) -> Answer:
    link = served.connection()
    link.putrequest("POST", path, skip_host=True)
    data = json.dumps(body).encode()
    link.putheader("Host", "box.example.org")
    link.putheader("Content-Type", "application/json")
    link.putheader("Content-Length", str(len(data)))
    for value in values:
        link.putheader(HEADER, value)
    link.endheaders(data)
    answer = link.getresponse()
    said = answer.read()
    link.close()
    return Answer(answer.status, {}, said)


NEW = {"agent": "demo", "cwd": "/tmp"}


def test_the_proxys_person_is_in_by(proxied: Served) -> None:
    session = through(proxied, "/api/sessions", NEW, "Anña".encode()).json()["id"]
    listed = proxied.own("GET", f"/api/sessions/{session}/events").json()["events"]
    assert listed[0]["by"] == "web:- | Anña"


@pytest.mark.parametrize(
    "values",
    [(b"Anna", b"Bert"), (b"x" * 10_000,), (b"a\x07b",), (b"\xff\xfe",), (b"Anna | root",)],
)
def test_a_person_that_is_not_plain_is_refused(proxied: Served, values: tuple[bytes, ...]) -> None:
    answer = through(proxied, "/api/sessions", NEW, *values)
    assert answer.status == 400
    assert proxied.own("GET", "/api/sessions").json()["total"] == 0


def test_a_header_that_does_not_come_from_the_proxy_says_nothing(
    serving: Callable[..., Served],
) -> None:
    served = serving(
        behind_proxy=True,
        allowed_hosts=("box.example.org",),
        proxy_user=str(os.geteuid() + 1),
        trusted_user_header=HEADER,
    )
    name, token = log_in(served)
    link = served.connection()
    given = {"Host": "box.example.org", "Authorization": f"Bearer {token}", HEADER: "Anna"}
    given["Content-Type"] = "application/json"
    link.request("POST", "/api/sessions", json.dumps(NEW).encode(), given)
    session = json.loads(link.getresponse().read())["id"]
    listed = served.own("GET", f"/api/sessions/{session}/events").json()["events"]
    assert listed[0]["by"] == f"web:{name} phone"
    link.close()


def test_a_browser_is_named_and_has_its_role(serving: Callable[..., Served]) -> None:
    served = serving()
    browser = Browser(served)
    assert served.own("PATCH", f"/api/devices/{browser.device}", {"role": "look"}).status == 200
    answer = served.ask("POST", "/api/sessions", NEW, token=browser.token())
    assert (answer.status, answer.json()["error"]) == (403, "role")


def test_a_person_at_a_browser_is_told_on_a_page(served: Served, tokens: dict[str, str]) -> None:
    answer = served.ask("GET", "/new", token=tokens["look"], Accept="text/html")
    assert (answer.status, answer.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert b"This device may only look." in answer.body
