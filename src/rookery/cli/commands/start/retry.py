"""`retry`: a prompt that failed or hit a rate limit, sent again."""

import click

from rookery.cli import exits, flags
from rookery.cli.session.send import Say, for_each, header_of, perform, tell_queued, tell_resumption
from rookery.core.blocks import failures
from rookery.core.json import Json, kind_of, lenient
from rookery.core.turn import rate_limit


@click.command()
@click.option(
    "--at-reset/--not-at-reset",
    default=None,
    help="Send it when the limit is lifted, even if the session is asleep then; or no more.",
)
@flags.results()
@for_each
def retry(session: str, say: Say, at_reset: bool | None) -> int:
    """Send the last prompt again if its turn failed. After a rate limit: now, or when the limit is
    lifted; if it still applies, the agent says so.

    The setting rate_limit_auto_resume sends such prompts at the reset in every session.

    \b
    rookery retry 3f2a
    rookery retry 3f2a --at-reset
    """
    header = header_of(session)
    blocks = list(lenient.mappings(header["rateLimit"], "prompt"))
    if at_reset is False:
        perform(session, {"do": "resume", "off": True})
        say("Not sent again by itself.")
        return exits.DONE
    command: Json = {"do": "prompt", "prompt": blocks} if blocks else {"do": "retry"}
    failed = header["state"] == "idle" and "again" in failures.ENDS.get(header["reason"], ())
    if not blocks and (at_reset or not failed):
        wrong = "hit a rate limit" if at_reset else "failed or hit a rate limit"
        instead = f"To send one: rookery prompt {session}"
        raise click.ClickException(f"The last prompt of this session has not {wrong}. {instead}")
    if at_reset:
        if not rate_limit.can_wait(header):
            now = f"rookery retry {session}"
            raise click.ClickException(f"The agent did not say when the limit resets. Try: {now}")
        perform(session, {"do": "resume"})
        tell_resumption(say, session)
        return exits.DONE
    outcome = perform(session, command)
    if kind_of(outcome.update) == "_queue" and outcome.update.get("placeless") is not True:
        return tell_queued(say, session)
    say(f"Sent. rookery tail {session}")
    return exits.DONE
