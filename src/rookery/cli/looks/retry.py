"""`retry`: sends again only what failed; `--at-reset` waits until a rate limit is lifted."""

from typing import Any

import click

from rookery.cli import exits
from rookery.cli.session.send import Say, header_of, send, tell_queued, tell_resumption
from rookery.core.blocks import failures
from rookery.core.json import Json, kind_of, lenient
from rookery.core.turn import rate_limit
from rookery.operations.catalogue.row import Row
from rookery.operations.turns import resume

OPTIONS = (
    click.option(
        "--at-reset/--not-at-reset",
        default=None,
        help="Send it when the limit is lifted, even if the session is asleep then; or no more.",
    ),
)


def carry_out(row: Row, session: str, say: Say, given: Any) -> tuple[Json, int]:
    at_reset, turn = given["at_reset"], given["turn"]
    if at_reset is not None and turn:
        raise click.UsageError("--turn cannot be combined with --at-reset.")
    if at_reset is False:
        outcome = send(session, resume.command({"off": True}))
        say("Not sent again by itself.")
        return outcome._asdict(), exits.DONE
    header = header_of(session)
    blocks = [] if turn else list(lenient.mappings(header.rate_limit, "prompt"))
    failed = header.state == "idle" and "again" in failures.ENDS.get(header.reason, ())
    if not (blocks or turn) and (at_reset or not failed):
        wrong = "hit a rate limit" if at_reset else "failed or hit a rate limit"
        instead = f"To send one: rookery prompt {session}"
        raise click.ClickException(f"The last prompt of this session has not {wrong}. {instead}")
    if at_reset:
        if not rate_limit.can_wait(header):
            now = f"rookery retry {session}"
            raise click.ClickException(f"The agent did not say when the limit resets. Try: {now}")
        outcome = send(session, resume.command({}))
        tell_resumption(say, session)
        return outcome._asdict(), exits.DONE
    again: Json = {"do": "prompt", "prompt": blocks} if blocks else row.command({"turn": turn})
    outcome, code = send(session, again), exits.DONE
    if kind_of(outcome.update) == "_queue" and outcome.update.get("placeless") is not True:
        code = tell_queued(say, session)
    else:
        say(f"Sent. rookery tail {session}")
    return outcome._asdict(), code
