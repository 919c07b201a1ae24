"""One command to a session, and its outcome."""

from functools import partial

from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import standard
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json, kind_of
from rookery.home import paths

MOST = 1000
"""Events that are read for what was left running."""


def send(session: str, command: Json) -> Event:
    """Send a command until its outcome is in the log; that outcome."""
    import asyncio

    from rookery.client.session import SessionClient

    async def sending() -> Event:
        client = SessionClient(paths.home(), session)
        client.on_silence = partial(say_silent, session)
        try:
            return await client.send(command)
        finally:
            client.close()

    return asyncio.run(sending())


def say_silent(session: str) -> None:
    """While somebody waits for a worker that hangs."""
    from rookery.client.liveness import silence

    standard().note(silence(session))


def left_running(session: str, since: int) -> list[str]:
    """What the log says, after an event, about processes that could not be ended."""
    from rookery.log.errors import LogError
    from rookery.log.reader import Reader

    try:
        with Reader.open(paths.session_dir(paths.home(), session)) as log:
            events = log.read(since, MOST)
    except LogError:
        return []
    told = [event.update for event in events if kind_of(event.update) == "_notice"]
    return [clean_line(lenient.text(each, "text")) for each in told if each.get("left")]
