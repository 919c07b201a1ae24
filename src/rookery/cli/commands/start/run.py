"""`run`: creates a session for a task and follows it to its end."""

from typing import Any

import click

from rookery.cli import exits, flags
from rookery.cli.output import standard
from rookery.cli.session import new_session, prompt_input
from rookery.cli.session.approval_flags import Policy, check_destructive, chosen
from rookery.cli.session.prompt_input import message_of
from rookery.cli.session.turn import Wish, run_turn
from rookery.core.policy import approvals

STOP = "Put the session to sleep when the turn ends, if you are still watching."


@click.command()
@new_session.options
@new_session.picks
@flags.as_json("Print one JSON event per line.")
@flags.verbose("Print the whole transcript, not only the answer, even in a pipe.")
@flags.approve()
@flags.approving
@flags.destructive
@flags.without_hooks
@flags.attach
@flags.flag("--detach", "-d", help="Start it in the background and print the session's id.")
@flags.flag("--stop", help=STOP)
@click.argument("text", nargs=-1)
def run(
    as_json: bool,
    verbose: bool,
    approve: str | None,
    destructive: bool,
    without_hooks: bool,
    files: tuple[str, ...],
    text: tuple[str, ...],
    **of_session: Any,
) -> int:
    """Give an agent a task and stream its answer. The exit code says how it ended.

    \b
    rookery run "Fix the failing test"
    rookery run --agent claude "Review my diff"
    rookery run -d --ask-when-risky "Tidy up the build scripts"
    rookery run --model local --plan "How would you split this module?"
    rookery run --attach screenshot.png "Why is this page empty?"
    rookery run --worktree "Rewrite the parser"
    rookery run --worktree=parser "Rewrite the parser"
    rookery run --remote http://build:8000 "Fix the failing test"
    git diff | rookery run "Review this change:" - > review.md

    TEXT is the task; "-", or no TEXT with stdin piped, reads it from stdin. If you leave with
    Ctrl-C, the session keeps running until it needs your answer. To continue it later, use
    `rookery prompt`. With --detach, you leave at once.

    You are never asked, unless you pass --approve ask, --ask-always or --ask-when-risky. By
    default, everything is approved except destructive commands (rm -rf, git push --force, …), which
    are rejected (exit code 3) unless --confirm-destructive or a rule (rookery policy) allows them.
    Rules come first; if one says ask, the action is rejected. The session keeps these answers after
    you leave, and for later prompts; to be asked again: `rookery set SESSION confirm ask-always`.

    In a terminal, you see the whole transcript. In a pipe, stdout has only the agent's messages,
    separated by empty lines; everything else goes to stderr, one line each.

    A project's own hooks run only if you trust them (rookery policy hooks). If one that you do not
    trust may be a safeguard, nothing is done (exit code 2), unless you pass --without-hooks.
    """
    screen = standard()
    flags.check_output(as_json=as_json, verbose=verbose)
    detach, stop = of_session.pop("detach"), of_session.pop("stop")
    if detach:
        _check_detached({"--json": as_json, "--verbose": verbose, "--stop": stop})
    given = _approval_flags(of_session)
    of_session["worktree"], text = prompt_input.after_name(of_session["worktree"], text)
    wanted = new_session.wanted(screen, **of_session)
    if wanted is None:
        return exits.DONE

    policy = _policy(approve, given, destructive=destructive, without_hooks=without_hooks)
    wish = Wish(message_of(text, files), policy, as_json, verbose, stop=stop, detach=detach)

    def create() -> str:
        return wanted.create(policy.order, confirm=policy.confirm)

    return run_turn(screen, create, wish, wanted.about)


USED_FIRST = (
    *("agent", "model", "cwd", "files", "detach", "worktree"),
    *("ask_always", "ask_when_risky", "approve_all", "plan", "as_json", "verbose"),
)
run.params.sort(
    key=lambda each: USED_FIRST.index(each.name) if each.name in USED_FIRST else len(USED_FIRST)
)


def _policy(approve: str | None, given: dict[str, bool], **more: Any) -> "Policy":
    policy = chosen(approve, given, "run")._replace(**more)
    policy = policy if policy.stated else policy._replace(origin="rookery run")
    check_destructive(policy.approve, policy.destructive)
    return policy


def _check_detached(given: dict[str, bool]) -> None:
    if word := next((word for word, is_given in given.items() if is_given), ""):
        raise click.UsageError(f"--detach waits for nothing: it cannot be combined with {word}.")


def _approval_flags(of_session: dict[str, Any]) -> dict[str, bool]:
    """Take the approval flags out of a command's options; --plan becomes the agent's mode."""
    given = {name: of_session.pop(name) for name in flags.APPROVALS}
    if given["plan"] and of_session["mode"]:
        raise click.UsageError("--plan and --mode cannot be combined.")
    of_session["mode"] = approvals.PLAN if given["plan"] else of_session["mode"]
    return given
