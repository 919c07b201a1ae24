"""The words that commands and requests are refused with, as clients know them: each is driven at
real sessions, by their own socket or log and by the daemon's address."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from rookery.client.session import Rejected
from rookery.core.json.events import kind_of
from tests.daemon.served import Answer, Served
from tests.golden.files import FOLDER, Golden, answered
from tests.worker.aviary import Bird, Steps

COMMANDS, REQUESTS = "api/commands.txt", "api/requests.txt"
FORM = {"type": "object", "properties": {"branch": {"type": "string"}}, "required": ["branch"]}
SESSIONS: dict[str, Steps] = {
    "asleep": [],
    "ready": [{"text": "done"}],
    "running": [{"until": "cancel"}],
    "asking": [{"ask": "Go on?", "kind": "edit"}],
    "risky": [{"ask": "rm -rf /", "kind": "execute", "rawInput": {"command": "rm -rf /"}}],
    "filling": [{"question": "Which branch?", "schema": FORM}],
    "other": [],
    "twin one": [],
    "twin two": [],
}
"""By title; each with what its turn plays."""


class Sessions(NamedTuple):
    birds: dict[str, Bird]
    asks: dict[str, str]
    """The id of each one's open ask."""

    def filled(self, words: str, name: str) -> str:
        return words.replace("ASK", self.asks.get(name, "ASK"))


async def begin(bird: Bird, steps: Steps) -> str:
    """Its open ask, if there is one."""
    begun = await bird.prompt(steps)
    if "ask" in steps[0] or "question" in steps[0]:
        return str((await bird.ask(begun))["id"])
    if "text" in steps[0]:
        await bird.ended(begun)
    return ""


@pytest.fixture(scope="module")
def sessions(module_home: Path, served: Served) -> Sessions:
    birds, asks = dict[str, Bird](), dict[str, str]()
    for title, steps in SESSIONS.items():
        bird = Bird(str(module_home), served.create(title=title, confirm="every"))
        birds[title] = bird
        if steps:
            asks[title] = asyncio.run(begin(bird, steps))
    return Sessions(birds, asks)


async def outcome(sessions: Sessions, words: str) -> str:
    name, _, command = words.partition(" ")
    bird = sessions.birds[name]
    given = json.loads(sessions.filled(command, name))
    ask = bird.header().asks.get(given.get("ask"))
    nonce = {"nonce": ask["nonce"]} if ask else {}
    try:
        async with bird.client() as client:
            update = (await client.send(nonce | given, wake=False)).update
    except Rejected as refused:
        return plain(f"refused {refused.reason}: {refused.message}", sessions)
    said = {"detail": update["detail"]} if "detail" in update else {}
    return " ".join([kind_of(update), *said.values()])


def plain(text: str, sessions: Sessions) -> str:
    """Without what differs from run to run."""
    for title, bird in sessions.birds.items():
        text = text.replace(bird.id, title.upper())
    return re.sub(r"\bclaude, ([a-z]+, )+[a-z]+", "AGENTS", text)


@pytest.fixture(scope="module")
def tokens(served: Served) -> dict[str, str]:
    """By role."""
    found = {"none": "", "wrong": "x" * 43}
    for role in ("all", "answer", "look"):
        link = served.own("POST", "/api/devices/link", {"role": role}).json()["link"]
        (code,) = parse_qs(urlsplit(link).query)["code"]
        found[role] = served.log_in(code=code).json()["token"]
    return found


def asked(served: Served, sessions: Sessions, tokens: dict[str, str], words: str) -> str:
    who, method, path, *rest = words.split(" ", 3)
    parts = (rest or [""])[0].split(" ")
    headers = dict[str, str]()
    while parts and re.fullmatch(r"[A-Z][A-Za-z-]*:\S+", parts[0]):
        name, _, value = parts.pop(0).partition(":")
        headers[name] = value
    named = path.split("/")[3:4] or [""]
    body = sessions.filled(" ".join(parts), named[0]).encode() or None
    headers |= (
        {"Content-Type": "application/json"} if body and "Content-Type" not in headers else {}
    )
    answer = served.ask(method, path, body, token=tokens[who], **headers)
    return plain(f"{answer.status} {fault(answer)}".rstrip(), sessions)


def fault(answer: Answer) -> str:
    if answer.status < 400:
        return ""
    said: dict[str, Any] = answer.json()
    return f"{said['error']}: {said['message']}"


def test_commands_and_requests_are_refused_with_the_words_they_were(
    served: Served, sessions: Sessions, tokens: dict[str, str], golden: Golden
) -> None:
    """One after the other: some change what the next ones find."""
    commands, requests = [(FOLDER / name).read_text() for name in (COMMANDS, REQUESTS)]
    found = {COMMANDS: answered(commands, lambda line: asyncio.run(outcome(sessions, line)))}
    found[REQUESTS] = answered(requests, lambda line: asked(served, sessions, tokens, line))
    golden.hold(found)
