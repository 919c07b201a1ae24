"""The Rookery of another machine, reached through its daemon's API and stream."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, override
from urllib.parse import quote

from rookery.client.daemon.errors import OnlyThere
from rookery.client.daemon.remote import Door, of_session
from rookery.client.fleet import named
from rookery.core.blocks import Block
from rookery.core.blocks.document import Document
from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.core.view.states import in_order, standing
from rookery.log.errors import NoSession
from rookery.operations.calling.attempts import send_once
from rookery.operations.calling.interface import Notify, Rookery
from rookery.operations.calling.remote_history import RemoteHistory
from rookery.operations.calling.remote_session import RECONNECT_TIMEOUT, RemoteSession
from rookery.operations.calling.stream import news
from rookery.operations.catalogue.finding import row_of
from rookery.operations.catalogue.row import FINGERPRINT, Report, unheard

if TYPE_CHECKING:
    from rookery.core.policy.unattended import Order
    from rookery.export import Turns

LOOKS = 0.2
"""Seconds between two looks whether a worker has gone."""


class RemoteRookery(Rookery):
    answers_at_once = False

    def __init__(self, door: Door, patience: float = RECONNECT_TIMEOUT) -> None:
        """Use this door. `patience`: seconds that a command waits for a broken link."""
        self.door = door
        self.address = door.url
        self._patience = patience

    @override
    def call(
        self,
        operation: str,
        session: str = "",
        *,
        report: Report = unheard,
        fingerprint: str = "",
        **given: Any,
    ) -> Json:
        row = row_of(operation)
        given |= {"session": session} if session and not row.on_session else {}
        if (refusal := row.check(given)) is not None:
            raise Refused(refusal.reason, refusal.message, kind="usage")
        place = f"sessions/{quote(session, safe='')}/{row.name}" if row.on_session else row.name
        path = f"/api/v1/{place}"
        if row.kind == "read":
            return dict(self.door.json("GET", path, query={k: _queried(given[k]) for k in given}))
        body = {**given, FINGERPRINT: fingerprint} if fingerprint else given
        heard = None if row.is_sent or report is unheard else report
        return send_once(self.door, path, body, timeout=self._patience, report=heard)

    @override
    def directory(self) -> str:
        """Return the directory of the latest session."""
        heads = self.heads()
        return str(heads[0]["cwd"] if heads else self.door.json("GET", "/api/about")["directory"])

    @override
    def notices(self) -> list[str]:
        """Return nothing: the daemon's machine tells its own users."""
        return []

    @override
    def heads(self, *, probe: bool = False, hidden: bool = True) -> list[Json]:
        heads, page = list[Json](), 0
        query: Json = {"show": "all" if hidden else "live"} | ({"probe": "true"} if probe else {})
        while True:
            reply = self.door.json("GET", "/api/sessions", query={**query, "page": page})
            heads += map(_head, reply["sessions"])
            if reply["next"] is None:
                return heads
            page = int(reply["next"])

    @override
    def head(self, session: str) -> Json | None:
        try:
            return _head(self.door.json("GET", of_session(session)))
        except NoSession:
            return None

    @override
    def find(self, name: str) -> str:
        return named(name, self.heads())

    @override
    def history(self, session: str) -> RemoteHistory:
        return RemoteHistory(self.door, session)

    @override
    def open(self, session: str, client: str = "cli") -> RemoteSession:
        return RemoteSession(self.door, session, self._patience)

    @override
    def export(self, session: str, form: str, turns: "Turns") -> list[bytes]:
        given = {"format": form, "first": turns.first, "last": turns.last}
        return [self.door.get(of_session(session, "/export"), given).body]

    @override
    def create(
        self,
        *,
        agent: str,
        cwd: str,
        argv: Sequence[str] = (),
        roots: Sequence[str] = (),
        title: str = "",
        confirm: str = "",
        order: "Order | None" = None,
        sandbox: str = "",
        budget: Mapping[str, str] = MappingProxyType({}),
        worktree: str | None = None,
        race: str = "",
        picks: Mapping[str, str] = MappingProxyType({}),
        report: Notify = lambda _: None,
        **chosen: bool | None,
    ) -> str:
        if argv:
            raise OnlyThere("--cmd names a program: run rookery on the other machine for that.")
        body: Json = {"agent": agent, "cwd": cwd, "title": title, "confirm": confirm}
        body |= {"roots": list(roots)} if roots else {}
        body |= {"sandbox": sandbox} if sandbox else {}
        body |= {"budget": dict(budget)} if budget else {}
        body |= {} if worktree is None else {"worktree": worktree or True}
        body |= {"race": race} if race else {}
        session = self._created(body)
        for command in _choices(order, chosen, picks):
            path = of_session(session, "/commands")
            self.door.json("POST", path, {"id": os.urandom(8).hex(), **command})
        return session

    def _created(self, body: Json) -> str:
        return str(send_once(self.door, "/api/sessions", body, timeout=self._patience)["id"])

    @override
    def tidy(self, heads: list[Json]) -> list[str]:
        """Return nothing: the daemon tidies."""
        return []

    @override
    def falls_asleep(self, session: str, within: float) -> bool:
        until = time.monotonic() + within
        while (head := self.head(session)) is not None and head["awake"]:
            if time.monotonic() > until:
                return False
            time.sleep(LOOKS)
        return True

    @override
    async def fleet(self, looked: asyncio.Event, on_link: Notify) -> AsyncIterator[list[Block]]:
        """Yield the session list each time that it changes. The daemon reports changes by itself:
        `looked` is not needed."""
        document, place = Document(), dict[str, Any]()

        def subscribe() -> Json:
            return {"topic": "fleet", **place}

        async with aclosing(news(self.door, subscribe, on_link)) as frames:  # type: ignore[type-var]
            async for kind, body in frames:
                if kind == "snapshot":
                    document.blocks = {block["id"]: block for block in body["blocks"]}
                else:
                    document.apply(body["ops"])
                place = {"epoch": body["epoch"], "after": body["seq"]}
                shown = [each for each in document.blocks.values() if not _is_hidden(each)]
                yield in_order([_with_condition(each) for each in shown])

    @override
    def mark_seen(self, session: str, seq: int) -> None:
        self.open(session).mark_seen(seq)

    @override
    def hung(self, session: str, patience: float) -> bool:
        row = self.door.json("GET", of_session(session), query={"probe": "true"})
        return row.get("hung") is True

    @override
    def close(self) -> None:
        self.door.close()


def _head(row: Json) -> Json:
    """Convert a row of the API to a head as lists know it here."""
    return {**row, "worker": row["process"]}


def _queried(value: Any) -> Any:
    """Return the value as a query carries it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value


def _with_condition(block: Block) -> Block:
    """Add the condition, which the daemon of an earlier build does not send."""
    if "condition" in block:
        return block
    head = {"agentName": "", "limitedUntil": 0, **block, "awake": block["status"] != "asleep"}
    return block | head | standing(head, str(block["status"]))


def _is_hidden(block: Block) -> bool:
    return bool(block.get("archived") or block.get("snoozed"))


def _choices(
    order: "Order | None", chosen: Mapping[str, bool | None], picks: Mapping[str, str]
) -> list[Json]:
    choices: list[Json] = []
    if order is not None:
        given: Json = {"option": "unattended", "value": order.approve, "told": order.origin}
        given |= {"destructive": True} if order.destructive else {}
        choices.append({"do": "set", **given})
    for name, value in chosen.items():
        if value is not None:
            choices.append({"do": "set", "option": name, "value": "on" if value else "off"})
    return choices + [{"do": "set", "option": name, "value": picks[name]} for name in picks]
