"""The Rookery of this machine: the files and sockets of a home. It needs no daemon."""

import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, override

from rookery.client import fleet, waking
from rookery.core.blocks import Block
from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.core.view.fleet import fleet_block, is_hidden
from rookery.core.view.states import in_order
from rookery.home import paths, seen
from rookery.log.lock import becomes_free
from rookery.log.reader import Reader
from rookery.operations.calling.interface import Notify, Rookery
from rookery.operations.catalogue.finding import row_of
from rookery.operations.catalogue.row import FINGERPRINT, At, Report, unheard

if TYPE_CHECKING:
    import asyncio

    from rookery.export import Turns
    from rookery.operations.calling.local_session import LocalSession

GLANCE, SHARE = 1.0, 20
"""Least seconds between two looks at the sessions, and times as long as one takes."""


class LocalRookery(Rookery):
    address = ""
    answers_at_once = True

    def __init__(self, home: str) -> None:
        self.home = home

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
        from rookery.operations.calling.carrying import agree, carry_out

        row, at = row_of(operation), At(self.home, session, report, paths.new_id())
        given |= {"session": session} if session and not row.on_session else {}
        if not row.is_sent:
            return carry_out(row, at, given, fingerprint)
        agree(row, at._replace(agreed=fingerprint), given)
        agreed = {FINGERPRINT: fingerprint} if fingerprint else {}
        command = row.command(given) | agreed
        if row.traits.completes is not None:
            command = row.traits.completes(at, command)
        return self._sent(command, session)

    def _sent(self, command: Json, session: str) -> Json:
        import asyncio

        async def sending() -> Json:
            with self.open(session) as client:
                return (await client.send(command))._asdict()

        return asyncio.run(sending())

    @override
    def heads(self, *, probe: bool = False, hidden: bool = True) -> list[Json]:
        from rookery.client.liveness import Asked

        sessions = fleet.Sessions(self.home)
        asked = Asked(self.home, sessions.restless) if probe else None
        heads = sessions.heads(hidden=hidden)
        if asked is None:
            return heads
        silent = asked.silent()
        return [head | {"hung": head["awake"] and head["id"] in silent} for head in heads]

    @override
    def tidy(self, heads: list[Json]) -> list[str]:
        from rookery.client.leftovers import end_leftovers

        sound = [head for head in heads if not head.get("damaged")]
        notices = [str(left) for left in end_leftovers(self.home, sound)]
        waking.look_after(self.home, sound)
        if os.path.exists(os.path.join(paths.trash(self.home), "early.json")):
            from rookery.client.trash import emptying

            notices += emptying.untold(self.home)
        if os.path.isdir(os.path.join(self.home, "worktrees")):
            from rookery.client.trash import store
            from rookery.client.worktrees.upkeep import mend

            with suppress(OSError):  # of a home that can only be read
                store.mend(self.home)
            notices += mend(self.home)
        return notices

    @override
    def notices(self) -> list[str]:
        """Return messages for the user. The first worker that notices settings which wait records
        that in a file, so that a list need not read the settings."""
        from rookery.client.update.difference import of_daemon
        from rookery.core.settings.held import WAITS
        from rookery.home import confirmed
        from rookery.home.config import ConfigError

        waits, record = False, confirmed.read(self.home)
        if record is not None and record.held:
            from rookery.client.config import in_force

            with suppress(ConfigError):
                waits = in_force.settings(self.home).held is not None
        return [*([WAITS] if waits else []), *filter(None, [of_daemon(self.home)])]

    @override
    def directory(self) -> str:
        return paths.work_directory()

    @override
    def head(self, session: str) -> Json | None:
        return fleet.head_of_session(self.home, session)

    @override
    def find(self, name: str) -> str:
        return fleet.find(self.home, name)

    @override
    def history(self, session: str) -> Reader:
        return Reader.open(paths.session_dir(self.home, session))

    @override
    def open(self, session: str, client: str = "cli") -> "LocalSession":
        from rookery.operations.calling.local_session import LocalSession  # a list does without

        return LocalSession(self.home, session, client)

    @override
    def export(self, session: str, form: str, turns: "Turns") -> Iterator[bytes]:
        from rookery.agents.registry import missing_extra
        from rookery.export import pieces

        if form == "html" and not (find_spec("markdown_it") and find_spec("pygments")):
            raise Refused("not_installed", missing_extra("The HTML export", "web"))
        return pieces(self.home, session, form, turns, time.time() * 1000)

    @override
    def create(self, **given: Any) -> str:
        from rookery.client.config import in_force
        from rookery.client.create import create_session
        from rookery.models.choice import chosen_agent

        if os.path.isdir(paths.trash(self.home)) and os.listdir(paths.trash(self.home)):
            from rookery.client.trash import emptying  # seldom

            emptying.before_session(self.home, given.get("report"))
        given = {"argv": [], **given}
        if not given["argv"]:
            place, settings = {"sandbox": given.get("sandbox", "")}, in_force.load(self.home)
            agent = chosen_agent(self.home, settings, given["cwd"], given["agent"], **place)
            given["agent"] = agent.name
        return create_session(self.home, **given)

    @override
    def falls_asleep(self, session: str, within: float) -> bool:
        return becomes_free(paths.session_dir(self.home, session), within)

    @override
    async def fleet(self, looked: "asyncio.Event", on_link: Notify) -> AsyncIterator[list[Block]]:
        import asyncio

        before: object = None
        while True:
            began = time.monotonic()
            heads = await asyncio.to_thread(self.heads, hidden=False)
            await asyncio.to_thread(waking.look_after, self.home, heads)
            shown = [head for head in heads if not is_hidden(head, time.time() * 1000)]
            blocks = in_order([fleet_block(head, awake=head["awake"]) for head in shown])
            if blocks != before:
                before = blocks
                yield blocks
            took = time.monotonic() - began
            looked.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(max(GLANCE, SHARE * took)):
                    await looked.wait()

    @override
    def mark_seen(self, session: str, seq: int) -> None:
        seen.mark(paths.session_dir(self.home, session), seq)

    @override
    def hung(self, session: str, patience: float) -> bool:
        from rookery.client.liveness import hung

        return bool(hung(self.home, [session], patience))

    @override
    def close(self) -> None:
        """Do nothing: no resources are held."""
