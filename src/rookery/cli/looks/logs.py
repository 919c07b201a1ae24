"""`logs`: prints the logs of both processes, of several sessions, and follows them as they grow."""

import time

import click

from rookery.cli import target
from rookery.cli.flags import flag, results, sessions_argument
from rookery.cli.output import Screen, clean_output, standard
from rookery.cli.session.send import Say, head_line
from rookery.core.json import Json
from rookery.home import paths
from rookery.log.errors import NoSession
from rookery.operations.catalogue.row import Row
from rookery.operations.reading import MAX_LOG_BYTES

SESSION = sessions_argument
OPTIONS = (flag("-f", "--follow", help="Keep printing new lines."),)
JSON = results("Print one JSON object per line.")
PAUSE = 0.5
"""Seconds between two looks at a log that is followed."""
FILES = {"agent": paths.AGENT_LOG, "worker": paths.WORKER_LOG}


def carry_out(_row: Row, _session: str, _say: Say, given: Json) -> None:
    sessions, screen = given["sessions"], standard()
    if given["follow"] and len(sessions) > 1:
        raise click.UsageError("--follow takes one session.")
    for place, session in enumerate(sessions):
        if len(sessions) > 1:
            head_line(screen, session, first=not place)
        logs = {of: "" for of in FILES if given["of"] in (None, of)}
        titled = set[str]()
        _print(screen, session, logs, titled)
        if given["follow"]:
            _follow(screen, session, logs, titled)
        elif not titled:
            screen.note("The logs are empty.")


def _follow(screen: Screen, session: str, logs: dict[str, str], titled: set[str]) -> None:
    try:
        while True:
            time.sleep(PAUSE)
            _print(screen, session, logs, titled)
    except NoSession:
        screen.note("The session is gone.")


def _print(screen: Screen, session: str, logs: dict[str, str], titled: set[str]) -> None:
    """Print what was not read yet. `logs`: up to where each was read; `titled`: those that were not
    empty."""
    for of, after in logs.items():
        chunk = target.rookery().call("logs", session, of=of, bytes=MAX_LOG_BYTES, after=after)
        logs[of] = chunk["place"]
        if not chunk["text"]:
            continue
        for line in chunk["text"].splitlines():
            screen.result({"session": session, "log": of, "text": line})
        if len(logs) > 1 and of not in titled:
            screen.line(screen.paint.faint(f"== {FILES[of]} =="))
        titled.add(of)
        shown = clean_output(chunk["text"].removesuffix("\n"), colour=screen.paint.colour)
        screen.line("\n".join(shown))
