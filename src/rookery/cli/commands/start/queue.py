"""`queue`: lists and changes the prompts that wait for the end of a turn."""

from typing import override

import click

from rookery.cli import aliases, exits, flags
from rookery.cli.output import Screen, standard
from rookery.cli.output.queue import is_held, placeless, strip
from rookery.cli.session.prompt_input import text_of
from rookery.cli.session.send import header_of, perform
from rookery.core.header import Header
from rookery.core.json import Json, kind_of
from rookery.core.json.safe_text import count
from rookery.operations.prompts import queue as row


class Verbs(aliases.Verbs):
    """Verbs of `queue`; in `queue SESSION --json` the option may come last, as elsewhere."""

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[1:] == ["--json"]:
            args = args[::-1]
        return super().parse_args(ctx, args)


@click.group(cls=Verbs, invoke_without_command=True)
@flags.session_argument
@flags.results("Print one JSON object per prompt.")
@click.pass_context
def queue(context: click.Context, session: str) -> None:
    """List the prompts that wait for the running turn to end, or change them by number.

    If the turn ends well, they are sent; otherwise they are held until you send them.

    \b
    rookery queue 3f2a
    rookery queue 3f2a edit 2 "Write the tests, too"
    rookery queue 3f2a send
    rookery queue 3f2a clear
    """
    context.obj = session
    if context.invoked_subcommand is not None:
        return
    screen, header = standard(), header_of(session)
    if screen.as_json:
        for number, item in enumerate(header.queue, 1):
            screen.result({"number": number, **item, "held": is_held(header)})
    elif not header.queue:
        screen.note("Nothing is queued.")
    else:
        screen.line("\n".join(strip(header, screen.width if screen.live else 200)))
        if not _tell_held(screen, session, header):
            screen.note(placeless() if header.state == "idle" else "Sent when the turn ends.")


def _tell_held(screen: Screen, session: str, header: Header) -> bool:
    if held := is_held(header):
        screen.note(f"Held. rookery queue {session} send, or clear.")
    return held


def _item(session: str, number: int) -> Json:
    queued = header_of(session).queue
    if not 1 <= number <= len(queued):
        message = f"the queue has {count(len(queued), 'prompt') if queued else 'no prompts'}."
        raise click.BadParameter(message, param_hint="N")
    item: Json = queued[number - 1]
    return item


def _change(session: str, **command: object) -> None:
    outcome = perform(session, row.command(command))
    screen, header = standard(), header_of(session)
    screen.note("\n".join(strip(header)) if header.queue else "Nothing is left in the queue.")
    if kind_of(outcome.update) == "_queue":
        _tell_held(screen, session, header)


@queue.command()
@flags.results()
@click.argument("n", type=int)
@click.argument("text", nargs=-1, required=True)
@click.pass_obj
def edit(session: str, n: int, text: tuple[str, ...]) -> None:
    """Change the text of a queued prompt; its attachments stay.

    \b
    rookery queue 3f2a edit 1 "Write the tests, too"
    """
    item = _item(session, n)
    kept = [block for block in item["prompt"] if block.get("type") != "text"]
    prompt = [{"type": "text", "text": text_of(text)}, *kept]
    _change(session, op="edit", item=item["id"], prompt=prompt)


@queue.command()
@flags.results()
@click.argument("n", type=int)
@click.argument("to", type=click.IntRange(min=1))
@click.pass_obj
def move(session: str, n: int, to: int) -> None:
    """Move a queued prompt to another position.

    \b
    rookery queue 3f2a move 3 1
    """
    _change(session, op="move", item=_item(session, n)["id"], to=to - 1)


@queue.command()
@flags.results()
@click.argument("n", type=int)
@click.pass_obj
def remove(session: str, n: int) -> None:
    """Remove a prompt from the queue.

    \b
    rookery queue 3f2a remove 2
    """
    _change(session, op="remove", item=_item(session, n)["id"])


@queue.command()
@flags.results()
@click.pass_obj
def clear(session: str) -> None:
    """Remove all prompts from the queue.

    \b
    rookery queue 3f2a clear
    """
    queued = header_of(session).queue
    for item in queued:
        perform(session, row.command({"op": "remove", "item": item["id"]}))
    standard().note(f"Removed {count(len(queued), 'prompt')}." if queued else "Nothing is queued.")


@queue.command()
@flags.results()
@click.argument("n", type=int, required=False)
@click.pass_obj
def send(session: str, n: int | None) -> int:
    """Send the held prompts, or only the Nth. During a turn, the Nth is sent first when it ends.

    \b
    rookery queue 3f2a send
    rookery queue 3f2a send 2
    """
    if n is not None:
        _change(session, op="send", item=_item(session, n)["id"])
    elif header_of(session).queue:
        _change(session, op="send")
    else:
        standard().note("Nothing is queued.")
        return exits.FAILED
    return exits.DONE
