"""`policy`: lists, adds, removes and tests the rules that answer for the user."""

import os
import shlex
from typing import Any

import click

from rookery.cli import flags, settings
from rookery.cli.aliases import Verbs
from rookery.cli.commands.setup import policy_hooks
from rookery.cli.commands.setup.policy_replay import Replayed, replay
from rookery.cli.output import Screen, clean_line, columns, cut, pad, standard
from rookery.cli.output.skipped import note_skipped
from rookery.client.config import rules as config_rules
from rookery.client.fleet import heads
from rookery.core.json import Json
from rookery.core.policy import rule_tables
from rookery.core.policy import rules as policy_rules
from rookery.home import call_paths, config, paths
from rookery.home.overwritten import Snapshots
from rookery.log.errors import LogError
from rookery.processes import MARK


@click.group(cls=Verbs)
def policy() -> None:
    """List, add, remove and test the rules that answer for you ([[policy.rules]] in config.toml).

    The first matching rule decides; if several match equally, deny beats allow. Destructive actions
    are allowed only by a rule with --destructive.

    \b
    rookery policy add allow --agent claude --kind execute --command "git status *"
    rookery policy list
    rookery policy test
    rookery policy remove 1
    """


# ---------------------------------------------------------------- list


@policy.command("list", short_help="List the rules in order.")
@flags.results("Print one JSON object per rule.")
def list_() -> None:
    """List the rules in the order they are tried, with their line in the file.

    \b
    rookery policy list
    rookery policy list --json | jq -r 'select(.do == "allow").name'
    """
    screen = standard()
    path, known, lines = _rules()
    if not known and not screen.as_json:
        screen.note('No rules. Add one: rookery policy add allow --command "git status *"')
    rows = []
    for number, rule in enumerate(known, 1):
        line = config.line_of(lines, config.rule_key(number))
        screen.result({"number": number, **_as_json(rule), "file": path, "line": line})
        name = "" if rule.name.isdecimal() else rule.name
        more = f" · {rule.reason}" if rule.reason else ""
        summary = f"{policy_rules.described(rule)}{more}"
        rows.append([str(number), rule.do, name, summary, f"{config.FILE}, line {line}"])
    if rows:
        _write(screen, [["", "DO", "NAME", "ON", "FROM"], *rows])
    if not screen.as_json:
        _warn(screen, known)


def _warn(screen: Screen, known: tuple[policy_rules.Rule, ...]) -> None:
    """Warn of rules that allow more than they seem to."""
    for rule in known:
        for each in rule_tables.warnings(rule):
            screen.note(clean_line(f"Rule {rule.name}: {each}"))


def _rules() -> tuple[str, tuple[policy_rules.Rule, ...], list[str]]:
    home = paths.home()
    path = os.path.join(home, config.FILE)
    settings.load()  # for what it says
    known = config.load(home).rules
    try:
        with open(path, encoding="utf-8") as file:
            return path, known, file.read().split("\n")
    except FileNotFoundError:
        return path, known, []


def _as_json(rule: policy_rules.Rule) -> Json:
    given = {key: list(getattr(rule, key)) for key in rule.grounds}
    more = {"reason": rule.reason} if rule.reason else {}
    return {"name": rule.name, "do": rule.do, **given, "destructive": rule.destructive, **more}


def _write(screen: Screen, table: list[list[str]], widest: int = 60) -> None:
    table = [[clean_line(cell) for cell in row] for row in table]
    places = range(len(table[0]))
    widths = [min(widest, max(columns(row[place]) for row in table)) for place in places]
    for number, row in enumerate(table):
        cells = [pad(cut(cell, width), width) for cell, width in zip(row, widths, strict=True)]
        line = "  ".join(cells).rstrip()
        screen.line(screen.paint.faint(line) if number == 0 else line)


# ---------------------------------------------------------------- add and remove


def _check_author() -> None:
    """Refuse agents, which are held to the rules. This guards only against mistakes."""
    if os.environ.get(MARK):
        message = "An agent cannot change the rules, and this command was started by one."
        raise click.ClickException(message)


def _grounds(command: Any) -> Any:
    again = "Repeatable."
    for option in (
        flags.several("--tool", help=f"Tool name, including MCP tools. {again}"),
        flags.several("--path", help=f'Path pattern like "src/**" or "~/.ssh/**". {again}'),
        flags.several("--exact", help="Exact command line."),
        flags.several("--command", help=f'Command pattern like "git status *". {again}'),
        flags.several(
            "--kind", type=click.Choice(policy_rules.KINDS), help=f"Kind of tool. {again}"
        ),
        flags.several("--agent", metavar="NAME", help=again),
    ):
        command = option(command)
    return command


@policy.command()
@click.argument("do", type=click.Choice(policy_rules.DOES))
@_grounds
@flags.several("--project", metavar="DIR", help="Only in sessions that work in this directory.")
@click.option("--name", default="", help="Name of the rule (default: its number).")
@click.option("--destructive", is_flag=True, help="Also allow destructive actions.")
@click.option("--reason", default="", metavar="TEXT", help="With deny: reason, sent to the agent.")
@click.option("--first", is_flag=True, help="Put it before all other rules (default: last).")
@flags.results()
def add(do: str, first: bool, **given: Any) -> None:
    """Add a rule to config.toml. Running workers use it at once.

    In a command, * matches anything: "git diff *" matches git diff with or without arguments. A
    line of several commands is allowed only if each one is, and never if it has a substitution, a
    variable or a redirection; use --exact for those.

    \b
    rookery policy add allow --agent claude --kind execute --command "git status *"
    rookery policy add allow --kind edit --path "src/**" --path "tests/**"
    rookery policy add deny --path "**/.env" --reason "Secrets are none of your business"
    rookery policy add ask --tool "mcp__github__*" --first
    """
    _check_author()
    given["project"] = [os.path.abspath(os.path.expanduser(each)) for each in given["project"]]
    lists = {key: list(each) if isinstance(each, tuple) else each for key, each in given.items()}
    table: Json = {"do": do} | {key: each for key, each in lists.items() if each}

    def made(known: Any) -> policy_rules.Rule:
        rule = rule_tables.rule_of(table, len(known) + 1)
        if isinstance(rule, rule_tables.Fault):
            where = f"--{rule.key} {rule.why}" if rule.key else f"the rule {rule.why}"
            raise click.UsageError(f"{where}.")
        if rule.name in [each.name for each in known]:
            message = f"a rule named {rule.name!r} already exists: rookery policy list."
            raise click.UsageError(message)
        return rule

    rule = config_rules.add(paths.home(), made, first=first)
    number = 1 if first else len(config.load(paths.home()).rules)
    standard().result({"number": number, **_as_json(rule)})
    standard().note(f"Rule {number}: {rule.do} {clean_line(policy_rules.described(rule))}")
    called = str(number) if rule.name.isdecimal() else shlex.quote(rule.name)
    standard().note(f"To undo: rookery policy remove {called}")
    _warn(standard(), (rule,))


@policy.command(short_help="Remove a rule by number or name.")
@click.argument("rule")
@flags.results()
def remove(rule: str) -> None:
    """Remove a rule by number or name. The rest of config.toml stays unchanged.

    \b
    rookery policy remove 2
    rookery policy remove claude-execute
    """
    _check_author()
    try:
        gone = config_rules.remove(paths.home(), rule)
    except KeyError:
        message = f"there is no rule {rule!r}: rookery policy list."
        raise click.BadParameter(message, param_hint="RULE") from None
    standard().result(_as_json(gone))
    standard().note(f"Removed: {gone.do} {clean_line(policy_rules.described(gone))}")


# ---------------------------------------------------------------- hooks


@policy.command(short_help="Show, trust or forget a project's hooks.")
@flags.flag("--trust", help="Run the hooks shown from now on, also unattended.")
@flags.flag("--forget", help="Forget what you said about this project's hooks.")
@flags.results("Print one JSON object per project.")
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
def hooks(directory: str, trust: bool, forget: bool) -> None:
    """Show a project's hooks (.openhands/hooks.json, .rookery/hooks.json) and whether you trust
    them; below that, the other projects you decided about.

    Rookery's own agent runs them only if you do. It asks you with the first prompt, and again when
    one of these files, or a file of the project that a command names, has changed.

    \b
    rookery policy hooks
    rookery policy hooks --trust
    rookery policy hooks --forget ~/src/site
    """
    if trust and forget:
        raise click.UsageError("Pass either --trust or --forget.")
    policy_hooks.show(standard(), directory, trust=trust, forget=forget)


# ---------------------------------------------------------------- test


@policy.command(short_help="Test the rules on past questions or on a call.")
@click.argument("sessions", nargs=-1, callback=flags.find_session)
@_grounds
@click.option("--cwd", default=".", metavar="DIR", help="With a call: its working directory.")
@flags.flag("--all", "everything", help="Include questions whose answer would not change.")
@flags.results("Print one JSON object per question.")
def test(sessions: tuple[str, ...], cwd: str, everything: bool, **grounds: Any) -> None:
    """Test the rules on past questions from SESSIONS (default: all), or on a call you describe.
    Nothing is answered.

    Lists the questions that the rules would have answered differently than you did.

    \b
    rookery policy test
    rookery policy test 3f2a --all
    rookery policy test --agent claude --kind execute --command "git status; rm -rf ."
    """
    screen = standard()
    known = settings.load().rules
    if any(grounds.values()):
        if sessions:
            raise click.UsageError("Pass either sessions or a call, not both.")
        _test_call(screen, known, os.path.abspath(cwd), **grounds)
        return

    replayed, skipped = list[Replayed](), list[str]()
    for name in sessions or [head["id"] for head in heads(paths.home())]:
        try:
            replayed += replay(name, known)
        except (LogError, OSError):
            if sessions:
                raise
            skipped.append(name)
    note_skipped(screen, "Not replayed", skipped)
    shown = [each for each in replayed if everything or each.differs]
    if screen.as_json:
        for each in shown:
            screen.result(each.as_json())
        return
    rows = [
        [each.session, str(each.turn), each.what, each.said or "open", _verdict(each.verdict)]
        for each in shown
    ]
    if rows:
        _write(screen, [["SESSION", "TURN", "WHAT", "SAID", "RULES SAY"], *rows])
    persons = sum(each.by_person for each in replayed)
    differ = sum(each.differs for each in replayed)
    screen.note(f"{len(replayed)} questions, {persons} answered by you, {differ} would differ.")
    _warn(screen, known)


def _verdict(verdict: policy_rules.Verdict) -> str:
    if not verdict.do:
        return "nothing"
    why = f": {verdict.why}" if verdict.why else ""
    return verdict.do + (f" ({verdict.names})" if verdict.names else "") + why


def _test_call(
    screen: Screen, known: tuple[policy_rules.Rule, ...], cwd: str, **grounds: Any
) -> None:
    lines = [*grounds["command"], *grounds["exact"]]
    if any(len(grounds[key]) > 1 for key in ("agent", "kind", "tool")) or len(lines) > 1:
        raise click.UsageError("A call has one agent, one kind, one tool and one command.")
    call: Json = {"kind": next(iter(grounds["kind"]), "execute" if lines else "other")}
    call |= {"rawInput": {"command": lines[0]}} if lines else {}
    call |= {"name": grounds["tool"][0]} if grounds["tool"] else {}
    call["locations"] = [{"path": path} for path in grounds["path"]]
    agent = next(iter(grounds["agent"]), "")
    policy = settings.load().policy
    snapshots = Snapshots(
        policy.snapshot_file_bytes if policy.snapshots else 0, "", paths.home(), os.environ
    )
    lay = call_paths.lay(paths.home(), os.environ)._replace(guarded=call_paths.guarded(cwd))
    asked = call_paths.look_at(agent, call, [cwd], lay, snapshots)
    verdict = policy_rules.decide(known, asked)
    if screen.as_json:
        about = {"rules": verdict.do, "rule": verdict.names, "why": verdict.why}
        screen.result(about | {"danger": asked.danger, "risk": asked.risk})
        return
    sentence = {
        "": "no rule matches: the session's confirmation mode decides",
        "ask": f"asks you ({verdict.names})" if verdict.names else "asks you",
        "allow": f"allowed by rule {verdict.names}",
        "deny": f"denied by rule {verdict.names}",
    }[verdict.do]
    screen.line(clean_line(sentence + (f": {verdict.why}" if verdict.why else "")))
    if asked.danger:
        screen.note(clean_line(f"Destructive: this {asked.danger}."))
    if asked.risk:
        screen.note(clean_line(f"Risky: this {asked.risk}; a snapshot brings it back."))
    for each in rule_tables.held_back(known, asked):
        screen.note(clean_line(each))
    _warn(screen, verdict.rules)
