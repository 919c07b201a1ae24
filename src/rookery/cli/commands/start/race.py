"""`race`: the same prompt to several agents, each in a worktree of its own; one is merged."""

import asyncio
import os
import time
from collections.abc import Sequence
from typing import Any, override

import click

from rookery.cli import exits, flags, target
from rookery.cli.aliases import Verbs
from rookery.cli.looks import merge as merging
from rookery.cli.operation import parameters_of
from rookery.cli.output import Screen, clean_line, standard, table
from rookery.cli.session import new_session
from rookery.core import units
from rookery.core.json import Json, dumps
from rookery.core.json.safe_text import count
from rookery.core.view.fleet import state_of
from rookery.core.view.states import label_of
from rookery.operations.catalogue.finding import row_of
from rookery.operations.merging import race as races
from rookery.operations.merging.entry import enter
from rookery.operations.merging.race import Runner

LOOKS = 0.5
"""Seconds between two looks at the sessions."""

SHAPE = (
    table.Column("SESSION"),
    table.Column("AGENT", least=6),
    table.Column("STATE"),
    table.Column("FILES", right=True),
    table.Column("LINES", right=True),
    table.Column("TESTS"),
    table.Column("COST", right=True, rank=2),
    table.Column("TOKENS", right=True, rank=3),
    table.Column("TIME", right=True, rank=1),
)


class Race(Verbs):
    """Whatever is no word of its own starts a race."""

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
    from rookery.cli.session.approval_flags import Policy, check_destructive
    from rookery.cli.session.follow import attend
    from rookery.cli.session.git_programs import ask_before_worktree
    from rookery.cli.session.prompt_input import text_of

    names = [name.strip() for name in agents.split(",") if name.strip()]
    if not names:
        raise click.UsageError("Name at least one agent: --agents claude,codex")
    if of_session["agent"] or of_session["line"] or of_session["worktree"] is not None:
        raise click.UsageError("A race has --agents, and a worktree for each of them.")
    check_destructive(approve or "all", destructive)
    if not target.url():
        ask_before_worktree(standard(), of_session["cwd"])
    policy = Policy(approve or "all", bool(approve), destructive, "rookery race", without_hooks)
    running = _Running(standard(), text_of(text), policy.order)

    async def main() -> int:
        for name, label in zip(names, races.labels(names), strict=True):
            await running.begin(name, label, of_session)
        if not running.sessions:
            return exits.FAILED
        await running.watch()
        return show_race(running.screen, running.name, as_json=as_json)

    return attend(main, running.screen, running.farewell)


class _Running:
    """A race from its start to its end."""

    def __init__(self, screen: Screen, text: str, order: Any) -> None:
        self.screen, self.name = screen, os.urandom(3).hex()
        self.sessions: list[str] = []
        self._text, self._order = text, order
        self._said: dict[str, str] = {}
        self._began = time.monotonic()

    async def begin(self, name: str, label: str, of_session: dict[str, Any]) -> None:
        """One that cannot start does not hold up the others."""
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
        said = "done" if races.has_ended(head) and state in ("idle", "asleep") else state
        if said in ("idle", "asleep", "running") or self._said.get(head["id"]) == said:
            return
        self._said[head["id"]] = said
        more = f": rookery answer {head['id']}" if said == "needs-you" else ""
        self.screen.note(clean_line(f"{head['agent']} ({head['id']}) {label_of(said)}{more}"))

    def farewell(self) -> str:
        if not self.sessions:
            return "Nothing was started."
        return (
            f"The race goes on.\n  rookery race show {self.name}   to compare\n"
            f"  rookery race drop {self.name}   to end it and drop all"
        )


@race.command()
@click.argument("name", required=False, default="", metavar="[RACE]")
@flags.as_json("Print one JSON object per session.")
def show(name: str, as_json: bool) -> int:
    """Compare the sessions of a race; by default, of the latest one."""
    return show_race(standard(), name, as_json=as_json)


def show_race(screen: Screen, name: str, *, as_json: bool) -> int:
    """The exit code: whether one of them got to its end, or waits for the user."""
    from rookery.operations.merging import anywhere

    race, rows = anywhere.race(target.rookery(), name)
    if as_json:
        for row in rows:
            screen.line(dumps({"race": race, **row._asdict()}))
    else:
        _write(screen, rows)
        _say_next(screen, race, rows)
    states = {row.state for row in rows}
    if states & {"done", "merged"}:
        return exits.DONE
    return exits.WAITING if "needs-you" in states else exits.FAILED


def _write(screen: Screen, rows: Sequence[Runner]) -> None:
    minus = screen.paint.sign("minus")
    cells = []
    for row in rows:
        lines = f"+{row.added} {minus}{row.removed}" if row.files else "changed nothing"
        lines = "" if row.files is None else lines
        cost = " ".join(
            units.money(amount) if currency == "USD" else f"{amount:.2f} {currency}"
            for currency, amount in row.cost.items()
        )
        cells.append(
            [
                row.session,
                clean_line(row.agent),
                label_of(row.state),
                "" if row.files is None else str(row.files),
                *(lines, row.tests, cost, units.tokens(row.tokens) if row.tokens else ""),
                units.duration(row.seconds) if row.seconds else "",
            ]
        )
    table.write(screen, SHAPE, cells)


def _say_next(screen: Screen, race: str, rows: Sequence[Runner]) -> None:
    if not any(row.tests for row in rows):
        screen.note("No tests ran. To run some: rookery config explain critic.command")
    if any(row.files is not None for row in rows):
        screen.note("  rookery diff SESSION        what one changed")
        screen.note("  rookery race pick SESSION   merge one, drop the rest")
        screen.note(f"  rookery race drop {race}    drop all")


def _merging(command: flags.Command) -> flags.Command:
    for argument in reversed(row_of("merge").arguments[:2]):
        for parameter in reversed(parameters_of(argument)):
            command = parameter(command)
    return command


@race.command()
@click.argument("session", callback=flags.find_session, shell_complete=flags.complete_sessions)
@_merging
@flags.yes
@flags.results()
def pick(session: str, how: str | None, message: str, yes: bool) -> int:
    """Merge one session of a race and drop the rest. If the merge fails, nothing is dropped.

    The commit message is shown first; `-m` gives another.
    """
    screen = standard()
    head = target.rookery().head(session)
    if not head or not head.get("race"):
        raise click.UsageError(f"Session {session} is in no race.")
    from rookery.operations.merging import anywhere

    _, rows = anywhere.race(target.rookery(), head["race"])
    rest = [row for row in rows if row.session != session and row.files is not None]
    how = how or "merge"
    plan = merging.planned(session, how)
    text = merging.asked_message(screen, plan, message, yes=yes)
    _confirm(screen, rest, yes=yes)
    said = anywhere.pick(target.rookery(), session, how, text)
    screen.result(said)
    merging.say_merged(screen.note, said["merged"], typed=bool(message))
    _say_dropped(screen, rows, said["dropped"])
    return exits.DONE


@race.command()
@click.argument("name", metavar="RACE")
@flags.yes
@flags.results()
def drop(name: str, yes: bool) -> int:
    """Drop the worktrees of all sessions of a race, and archive the sessions."""
    from rookery.operations.merging import anywhere

    screen = standard()
    name, rows = anywhere.race(target.rookery(), name)
    left = [row for row in rows if row.files is not None]
    if not left:
        screen.note("The worktrees of this race are already gone.")
        return exits.DONE
    _confirm(screen, left, yes=yes)
    dropped = anywhere.drop_race(target.rookery(), name)
    screen.result({"dropped": dropped})
    _say_dropped(screen, rows, dropped)
    return exits.DONE


def _confirm(screen: Screen, rows: Sequence[Runner], *, yes: bool) -> None:
    if yes or not rows:
        return
    for row in rows:
        work = f"{count(row.files or 0, 'file')}, +{row.added} −{row.removed}"
        screen.note(
            f"  {row.session}  {clean_line(row.agent)}  {work if row.files else 'changed nothing'}"
        )
    worktrees = count(len(rows), "worktree")
    flags.confirm(screen, f"Delete {worktrees} with all changes?", "delete them")


def _say_dropped(screen: Screen, rows: Sequence[Runner], dropped: Sequence[str]) -> None:
    agents = {row.session: row.agent for row in rows}
    for session in dropped:
        screen.note(f"Dropped {session} ({clean_line(agents.get(session, ''))}).")
