"""`run`: from a task in words to a session, and to its end."""

from typing import Any

import click

from rookery.cli import exits, flags
from rookery.cli.output import standard
from rookery.cli.session import new_session, prompt_input
from rookery.cli.session.prompt_input import message_of

RISKY = (
    "Approve actions that are not risky (the agent's own judgement, if it has one); "
    "reject the rest."
)
STOP = "Put the session to sleep when the turn ends, if you are still watching."


@click.command()
@new_session.options
@new_session.picks
@flags.as_json("Print one JSON event per line.")
@flags.verbose("Print the whole transcript, not only the answer, even in a pipe.")
@flags.approve(
    "How to answer the agent's questions: approve all (default), reject, or wait for you."
)
@click.option("--always-approve", "--yolo", "always", is_flag=True, help="Same as --approve all.")
@flags.flag("--llm-approve", "risky", help=RISKY)
@flags.destructive
@flags.without_hooks
@flags.attach
@flags.flag("--stop", help=STOP)
@click.argument("text", nargs=-1)
def run(  # noqa: PLR0913, PLR0917 - each is an option
    as_json: bool,
    verbose: bool,
    stop: bool,
    approve: str | None,
    always: bool,
    risky: bool,
    destructive: bool,
    without_hooks: bool,
    files: tuple[str, ...],
    text: tuple[str, ...],
    **of_session: Any,
) -> int:
    """Give an agent a task and stream its answer. The exit code says how it ended.

    TEXT is the task; "-", or no TEXT with stdin piped, reads it from stdin. If you leave with
    Ctrl-C, the session keeps running until it needs your answer. To continue it later, use
    `rookery prompt`.

    In a terminal, you see the whole transcript. In a pipe, stdout has only the agent's messages,
    separated by empty lines; everything else goes to stderr, one line each.

    You are never asked, unless you pass --approve ask. By default, everything is approved except
    destructive commands (rm -rf, git push --force, …), which are rejected (exit code 3) unless
    --confirm-destructive or a rule (rookery policy) allows them. Rules come first; if one says ask,
    the action is rejected. The session keeps these answers after you leave, and for later prompts;
    to be asked again: `rookery set SESSION confirm every`.

    A project's own hooks run only if you trust them (rookery policy hooks). If one that you do not
    trust may be a safeguard, nothing is done (exit code 2), unless you pass --without-hooks.

    \b
    rookery run "Fix the failing test"
    rookery run --llm-approve "Tidy up the build scripts"
    rookery run --model local --mode plan "How would you split this module?"
    rookery run --attach screenshot.png "Why is this page empty?"
    rookery run --worktree "Rewrite the parser"
    rookery run --worktree=parser "Rewrite the parser"
    rookery run --agent claude --approve ask "Tidy up the build scripts"
    rookery run --remote http://build:8000 "Fix the failing test"
    git diff | rookery run "Review this change:" - > review.md
    """
    screen = standard()
    flags.check_output(as_json=as_json, verbose=verbose)
    of_session["worktree"], text = prompt_input.after_name(of_session["worktree"], text)
    wanted = new_session.wanted(screen, **of_session)
    if wanted is None:
        return exits.DONE
    from rookery.cli.session.approval_flags import Policy, check_destructive
    from rookery.cli.session.turn import Wish, run_turn

    said, flag = _said(approve, always, risky)
    check_destructive(said or "all", destructive)
    told = f"run {flag}" if flag else "rookery run"
    policy = Policy(said or "all", stated=bool(said), destructive=destructive, told=told)._replace(
        without_hooks=without_hooks
    )
    wish = Wish(message_of(text, files), policy, as_json, verbose, stop=stop)
    return run_turn(screen, lambda: wanted.create(policy.order), wish, wanted.about)


def _said(approve: str | None, always: bool, risky: bool) -> tuple[str, str]:
    """How asks are answered, and the flag that says so; empty: none was passed."""
    given = [(approve, f"--approve {approve}")] if approve else []
    given += [("all", "--yolo")] if always else []
    given += [("risky", "--llm-approve")] if risky else []
    if len({value for value, _ in given}) > 1:
        raise click.UsageError("--approve, --always-approve and --llm-approve cannot be combined.")
    return given[0] if given else ("", "")
