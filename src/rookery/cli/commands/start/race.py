"""`race`: runs one prompt with several agents, each in its own worktree; one is merged."""

import asyncio
import os
import time
from typing import Any, override

import click

from rookery.cli import exits, flags, target
from rookery.cli.aliases import Verbs
from rookery.cli.looks.race import compared
from rookery.cli.operation import command_of
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session import new_session
from rookery.cli.session.approval_flags import Policy, check_destructive
from rookery.cli.session.follow import attend
from rookery.cli.session.git_programs import ask_before_worktree
from rookery.cli.session.prompt_input import text_of
from rookery.core import units
from rookery.core.json import Json
from rookery.core.view.fleet import state_of
from rookery.core.view.states import label_of
from rookery.operations.catalogue.finding import row_of
from rookery.operations.merging import race as races
from rookery.operations.merging.entry import enter

LOOKS = 0.5
"""Seconds between two looks at the sessions."""


class Race(Verbs):
    """A command group in which anything that is not a subcommand starts a race."""

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {*self.commands, *ctx.help_option_names}
        named = any(word.startswith("--agents") for word in args)
        if args and args[0] != "start" and (args[0] not in known or named):
            args = ["start", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Race)
def race() -> None:
    """Give several agents the same task, each in a git worktree of its own, and compare.

    The sessions run like any others: watch one with `rookery tail`, answer with `rookery answer`.
    If you leave with Ctrl-C, the race goes on. When all are done, a table says what each changed,
    whether the tests passed (the critic's command: `rookery config explain critic.command`), and
    what it cost.

    \b
    rookery race --agents claude,codex,gemini "Rewrite the parser"
    rookery race show
    rookery race pick 3f2a        merge one, drop the rest
    rookery race drop 91bc4e      drop all
    """


@race.command()
@click.option("--agents", required=True, metavar="A,B,…", help="The agents, separated by commas.")
@new_session.options
@flags.approve()
@flags.destructive
@flags.without_hooks
@flags.as_json("Print one JSON object per session.")
@click.argument("text", nargs=-1)
def start(
    agents: str,
    text: tuple[str, ...],
    approve: str | None,
    destructive: bool,
    without_hooks: bool,
    as_json: bool,
    **of_session: Any,
) -> int:
    """Start a race and wait for its end. The word `start` can be left out."""
    names = [name.strip() for name in agents.split(",") if name.strip()]
    if not names:
        raise click.UsageError("Name at least one agent: --agents claude,codex")
    if of_session["agent"] or of_session["line"] or of_session["worktree"] is not None:
        raise click.UsageError("A race has --agents, and a worktree for each of them.")
    check_destructive(approve or "all", destructive)
    ask_before_worktree(standard(), of_session["cwd"])
    policy = Policy(approve or "all", bool(approve), destructive, "rookery race", without_hooks)
    running = _Running(standard(), text_of(text), policy.order)

    async def main() -> int:
        for name, label in zip(names, races.labels(names), strict=True):
            await running.begin(name, label, of_session)
        if not running.sessions:
            return exits.FAILED
        await running.watch()
        return compared(running.screen, running.name, as_json=as_json)

    return attend(main, running.screen, running.farewell)


class _Running:
    """A race, from its start to its end."""

    def __init__(self, screen: Screen, text: str, order: Any) -> None:
        self.screen, self.name = screen, os.urandom(3).hex()
        self.sessions: list[str] = []
        self._text, self._order = text, order
        self._shown: dict[str, str] = {}
        self._began = time.monotonic()

    async def begin(self, name: str, label: str, of_session: dict[str, Any]) -> None:
        """Start one agent's session. One that cannot start does not hold up the others."""
        given = of_session | {"agent": name, "worktree": f"{self.name}-{label}"}

        def create() -> str:
            wanted = new_session.wanted(self.screen, **given)
            assert wanted is not None
            return wanted.create(self._order, self.name)

        about = target.rookery(), name, self._text, create, (click.ClickException,)
        entry = await enter(*about, label=label)
        if entry.why:
            self.screen.note(clean_line(f"Skipping {name}: {entry.why}"))
            return
        self.sessions.append(entry.session)
        self.screen.note(clean_line(f"Started {name}: session {entry.session}"))

    async def watch(self) -> None:
        while True:
            heads = [head for each in self.sessions if (head := target.rookery().head(each))]
            for head in heads:
                self._tell(head)
            left = [head for head in heads if not races.has_ended(head)]
            if all(head["asks"] and head["state"] == "idle" for head in left):
                return  # no turn runs any more: what is left waits for the user
            took = units.duration(time.monotonic() - self._began)
            self.screen.status(f"{len(left)} of {len(heads)} still running · {took}")
            await asyncio.sleep(LOOKS)

    def _tell(self, head: Json) -> None:
        state = state_of(head, awake=head["awake"])
        status = "done" if races.has_ended(head) and state in ("idle", "asleep") else state
        if status in ("idle", "asleep", "running") or self._shown.get(head["id"]) == status:
            return
        self._shown[head["id"]] = status
        more = f": rookery answer {head['id']}" if status == "needs-you" else ""
        self.screen.note(clean_line(f"{head['agent']} ({head['id']}) {label_of(status)}{more}"))

    def farewell(self) -> str:
        if not self.sessions:
            return "Nothing was started."
        return (
            f"The race goes on.\n  rookery race show {self.name}   to compare\n"
            f"  rookery race drop {self.name}   to end it and drop all"
        )


for _verb, _row in (("show", "race"), ("pick", "pick"), ("drop", "drop-race")):
    race.add_command(command_of(row_of(_row)), _verb)
