"""A home with sessions whose logs are written as workers write them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rookery.client.create import write_head
from rookery.core.json import Draft, Json
from rookery.home import paths
from rookery.log.store import Writer

HEAD = {"agent": "crow", "cwd": "/work", "title": ""}

type Write = Callable[..., None]


@pytest.fixture
def home(tmp_path: Path) -> str:
    return paths.ensure_home(str(tmp_path / "home"))


@pytest.fixture
def write(home: str) -> Write:
    """Append updates to a session's log, at a time; its head says agent and directory."""

    def append(session: str, *updates: Json, at: int = 1_000, **head: Any) -> None:
        directory = paths.session_dir(home, session)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        with Writer.open(directory, create=True, clock=lambda: at) as log:
            log.append([Draft(update) for update in updates])
            known = paths.read_json(os.path.join(directory, paths.HEAD)) or {}
            kept = {key: known.get(key, value) for key, value in HEAD.items()} | head
            write_head(directory, log.header.with_(id=session, **kept), log.last_seq, log.last_at)

    return append


def chunk(text: str, kind: str = "agent_message_chunk", name: str = "m1") -> Json:
    content = {"type": "text", "text": text}
    return {"sessionUpdate": kind, "content": content, "messageId": name}


def prompt(text: str, turn: int = 1) -> Json:
    block = {"type": "text", "text": text}
    return {"sessionUpdate": "_prompt", "prompt": [block], "turn": turn}


def idle(turn: int = 1) -> Json:
    return {"sessionUpdate": "_turn", "state": "idle", "turn": turn, "reason": "end_turn"}


def call(name: str, **fields: Any) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": name, **fields}
