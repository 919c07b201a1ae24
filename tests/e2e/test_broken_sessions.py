"""One session that cannot be read never silences the others: every way to be broken, on every face.

All commands run without root's power over other users' files.
"""

import asyncio
import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from rookery.client.fleet import heads
from rookery.client.offline import fault_of
from rookery.operations.calling.local import LocalRookery
from tests.cli.driving import PLAIN, SECONDS, Result
from tests.conftest import temporary_home
from tests.rigs.broken import NEEDLE, WAYS, asking, broken

POWERS = "-dac_override,-dac_read_search,-fowner,-chown"
ORDINARY = ["setpriv", f"--bounding-set={POWERS}", "--inh-caps=-all"] if os.geteuid() == 0 else []
GOOD = ("good: first", "good: second")
SOUND = {"head is a directory", "head is a pipe", "head is not JSON", "worker's record is a pipe"}
SOUND |= {"lock is a pipe", "lock is a link to itself", "another user's, to look at"}
"""Ways that leave the log readable."""
DOCTOR = "rookery doctor"


class House(NamedTuple):
    home: Path
    good: list[str]
    bad: dict[str, str]

    @property
    def lost(self) -> dict[str, str]:
        return {way: name for way, name in self.bad.items() if way not in SOUND}


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with pytest.MonkeyPatch.context() as patch:
        for home in temporary_home(patch):
            good = asking(home, GOOD[0]).name
            bad = broken(home)
            yield House(home, [good, asking(home, GOOD[1]).name], bad)
            subprocess.run(["chmod", "-R", "u+rwX", home], check=False, capture_output=True)


def run(*arguments: str, text: str = "", **environment: str) -> Result:
    done = subprocess.run(
        [*ORDINARY, *PLAIN, *arguments],
        input=text.encode(),
        capture_output=True,
        check=False,
        timeout=SECONDS,
        env=os.environ | environment,
    )
    assert b"Traceback" not in done.stderr
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def names_of(way_to_id: dict[str, str], text: str) -> set[str]:
    """Those that a text names."""
    return {way for way, name in way_to_id.items() if name in text}


def test_asks_lists_the_questions_that_can_be_read(house: House) -> None:
    done = run("asks")
    assert done.code == 0
    assert all(name in done.out for name in house.good)
    assert f"{len(house.lost)} sessions that cannot be read" in done.err
    assert done.err.count(DOCTOR) == 1
    listed = [each["session"] for each in run("asks", "--json").events]
    assert sorted(listed) == sorted([*house.good, *(house.bad[way] for way in SOUND)])


def test_ps_lists_every_session_once(house: House) -> None:
    found = run("ps", "--json")
    assert found.code == 0
    assert sorted(each["id"] for each in found.events) == sorted([*house.good, *house.bad.values()])
    state = {each["id"]: each["status"] for each in found.events}
    assert {state[name] for name in house.good} == {"needs-you"}
    assert {state[name] for name in house.bad.values()} == {"needs-you", "damaged"}
    assert DOCTOR in run("ps").err


def test_the_terminal_interface_lists_every_session(house: House) -> None:
    async def first() -> list[str]:
        rookery = LocalRookery(str(house.home))
        async for blocks in rookery.fleet(asyncio.Event(), lambda _: None):
            return [block["id"] for block in blocks]
        return []

    assert sorted(asyncio.run(first())) == sorted([*house.good, *house.bad.values()])


def test_tab_completes_every_session(house: House) -> None:
    words = {"COMP_WORDS": "rookery show ", "COMP_CWORD": "2"}
    done = run(_ROOKERY_COMPLETE="bash_complete", **words)
    assert names_of(house.bad, done.out) == {*WAYS}
    assert all(name in done.out for name in house.good)
    assert done.err == ""


def test_search_finds_what_can_be_read_and_names_the_rest(house: House) -> None:
    done = run("search", NEEDLE, "good", "--json")
    assert done.code == 0
    assert {each["session"] for each in done.events} == {*house.good}
    assert "Not searched" in done.err
    assert done.err.count(DOCTOR) == 1


@pytest.mark.long
def test_doctor_says_of_each_what_to_do(house: House) -> None:
    done = run("doctor")
    rows = [line for line in done.out.splitlines() if " sessions " in line]
    assert done.code == 1
    assert names_of(house.bad, "\n".join(rows)) == {*house.lost}
    assert not any(name in row for name in house.good for row in rows)
    told = {way: row for way, name in house.bad.items() for row in rows if name in row}
    assert "chown -R" in told["another user's"]
    assert "Update Rookery" in told["newer format"]
    assert "rookery remove" not in told["newer format"] + told["another user's log"]
    assert "rookery remove" in told["damaged header"]
    assert "first event is gone" in told["no first event"]


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        ["usage", "--all", "--by", "session"],
        ["policy", "test", "--all"],
        ["prune", "--older-than", "0s"],
        ["uninstall"],
        [],
        ["run", "--agent", "demo", "--approve", "all", "Hello"],
    ],
    ids=lambda words: words[0] if words else "no command",
)
def test_other_commands_go_on_with_the_good_ones(house: House, arguments: list[str]) -> None:
    done = run(*arguments)
    dry = {"prune": 2, "uninstall": 2}  # without --yes
    assert done.code == dry.get(arguments[0] if arguments else "", 0)
    if arguments and arguments[0] not in ("uninstall", "run"):
        assert done.err.count(DOCTOR) == 1


@pytest.mark.long
def test_prune_never_takes_what_another_user_or_build_can_read(house: House) -> None:
    meant = {each["id"] for each in run("prune", "--damaged", "--json").events}
    kept = {"newer format", "newer format, no head", "another user's", "another user's log"}
    assert meant == {name for way, name in house.lost.items() if way not in kept}


@pytest.mark.long
def test_an_editor_gets_the_sessions_that_can_be_opened(house: House) -> None:
    calls = [
        ("initialize", {"protocolVersion": 1, "clientCapabilities": {}}),
        ("session/list", {}),
    ]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(calls)
    ]
    done = run("acp", text="\n".join([*lines, ""]))
    answers = {each["id"]: each for each in done.events if "result" in each}
    listed = {each["sessionId"]: each for each in answers[1]["result"]["sessions"]}
    assert {*house.good} <= {*listed}
    assert all(os.path.isabs(each["cwd"]) for each in listed.values())


PAGES = ("/", "/inbox", f"/search?q={NEEDLE}+good", "/usage", "/new", "/settings", "/pieces/fleet")


@pytest.mark.long
def test_every_page_and_list_of_the_daemon_answers(house: House) -> None:
    assert run("serve", "--background", "--port", "0", "--auth", "none").code == 0
    try:
        address = json.loads(run("serve", "--status", "--json").out)["address"]

        def get(path: str) -> str:
            with urllib.request.urlopen(address + path, timeout=SECONDS) as answer:  # noqa: S310 - ours
                return str(answer.read().decode())

        bodies = {path: get(path) for path in PAGES}
        assert all(title in bodies["/"] for title in GOOD)
        assert names_of(house.bad, bodies["/"]) == {*WAYS}
        assert DOCTOR in bodies["/inbox"]
        assert names_of(house.lost, bodies["/inbox"]) == {*house.lost}
        assert all(name in bodies[f"/search?q={NEEDLE}+good"] for name in house.good)
        for _ in range(2):  # one answer leaves nothing behind for the next
            for show in ("all", "live"):
                found = json.loads(get(f"/api/sessions?show={show}"))
                names = [each["id"] for each in found["sessions"]]
                assert len(names) == len({*names}) == found["total"]
                assert {*house.bad.values(), *house.good} <= {*names}
        for path in (f"/api/search?q={NEEDLE}", "/api/usage?by=session", "/api/about"):
            assert json.loads(get(path))
        for name in house.bad.values():
            assert json.loads(get(f"/api/sessions/{name}"))["id"] == name
    finally:
        run("serve", "--stop")


@pytest.mark.parametrize("way", WAYS)
def test_a_broken_session_is_listed_under_its_own_name(home: Path, way: str) -> None:
    """By whoever has root's power, too; and what is wrong is told, unless nothing is."""
    good, bad = asking(home, GOOD[0]).name, asking(home, "bad")
    WAYS[way](bad)
    assert {head["id"] for head in heads(str(home))} == {good, bad.name}
    assert fault_of(str(home), good) is None
    assert (fault_of(str(home), bad.name) is None) == (way in SOUND or "another user" in way)
    if not bad.is_symlink():
        bad.chmod(0o700)  # so that it can be cleaned up
