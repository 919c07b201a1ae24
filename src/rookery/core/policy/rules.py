"""Rules that answer for the user: allow, ask or deny.

A rule matches a call when all its grounds do: agent, kind, command (a pattern, or exactly as it was
written), path, tool, project; each a value or several of which one suffices.

- The first rule that matches decides; but deny beats allow on equal grounds. So `allow git *` and
  `deny git push*` mean the same in any order, while `allow claude git push*` before `deny git
  push*` is an exception for claude.
- A line of several commands is denied where any of them is, else asked where any is to be asked,
  and allowed only where each of them is allowed.
- To allow, a pattern must match a command that could be read whole, without a substitution,
  variable, redirection or comment (otherwise only `exact` matches), and must name its escape
  hatches. To ask or deny, it is enough that it matches something that the line may run.
- To allow, every path must match, and a path alone allows no command; `*` and `**` reach no name
  that begins with a dot. To ask or deny, one path is enough, also one in a command.
- A project is a directory: the rule is for sessions that work in it, or in a worktree made from it,
  and to allow, for calls that do not say that they run elsewhere.
- What cannot be undone is allowed only by rules that say `destructive`; else the user is asked.
- Only the user says go to a plan (`go_asks`): no rule does for our own agent, and for
  others only one that names the tool or the kind.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rookery.core import command_line
from rookery.core.command_line import globs
from rookery.core.dangers.places import Ground, is_below
from rookery.core.json import Json, lenient
from rookery.core.policy import danger, go_asks
from rookery.core.policy.call_input import VERBS, file_verb, lines_of, titled

if TYPE_CHECKING:  # most that know rules judge no command
    from rookery.core.dangers.overwrites import Overwrite

DOES = ("allow", "ask", "deny")
KINDS = (
    *("read", "edit", "delete", "move", "search"),
    *("execute", "think", "fetch", "switch_mode", "other"),
)
"""The kinds that ACP defines; a call without one is `other`."""

GROUNDS = ("agent", "kind", "command", "exact", "path", "tool", "project")
LONGEST_NAME = 60


class Rule(NamedTuple):
    name: str
    do: str
    agent: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    destructive: bool = False
    reason: str = ""
    """Of a denial: told to the agent where it listens."""
    left_out: bool = False
    """It allows by a ground that is not known here: it matches nothing."""

    @property
    def grounds(self) -> tuple[str, ...]:
        return tuple(name for name in GROUNDS if getattr(self, name))


class Command(NamedTuple):
    """One simple command of a call's line; all fields are empty if the call runs none."""

    whole: str = ""
    """The line that it is part of."""
    plain: str = ""
    """As it is written, where that could be read for sure."""
    suspects: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Its words that may be paths."""
    behind: bool = False
    """Its parts run it together, as in `echo rm x | sh`: it can only be asked about or denied."""


class Call(NamedTuple):
    """A tool call in the form that rules match against."""

    agent: str
    kind: str
    tools: tuple[str, ...] = ()
    named: bool = False
    """The first of them is the tool's own name, not a title."""
    arguments: str = ""
    """All that the tool is given, as JSON; "": not known whole."""
    commands: tuple[Command, ...] = (Command(),)
    paths: tuple[str, ...] = ()
    """Absolute, without `..`; where links were followed, both ends."""
    given: tuple[str, ...] = ()
    """The same as they were told, before links were followed."""
    roots: tuple[str, ...] = ()
    home: str = ""
    projects: tuple[str, ...] = ()
    """Where its session works, and the directory that its worktree was made for."""
    place: str = ""
    """Where it says that it runs; "": where its session works."""
    danger: str = ""
    """All of it that cannot be undone; "": it can be."""
    risk: str = ""
    """All of it that only a snapshot undoes; "": there is none of that."""
    cut: bool = False
    """There may be more of it: no rule allows it."""
    outside: str = ""
    """A path of it that lies outside the session's directories (`core.policy.reach`)."""
    programs: str = ""
    """What git may run of a repository's own settings, where the line only looks."""


class Verdict(NamedTuple):
    do: str
    """allow, ask or deny; "": no rule says anything."""
    rules: tuple[Rule, ...] = ()
    """Those that decided it."""
    why: str = ""

    @property
    def names(self) -> str:
        return ", ".join(dict.fromkeys(rule.name for rule in self.rules))


# --- what is asked -----------------------------------------------------------------------------


def call_of(
    agent: str,
    call: Json,
    roots: Sequence[str],
    home: str,
    free: Sequence[str] = (),
    *,
    guarded: Sequence[str] = (),
    overwrites: "tuple[list[Overwrite], Mapping[str, str]] | None" = None,
    projects: Sequence[str] = (),
) -> Call:
    """Convert a tool call to the form that rules match against. `roots`: the session's directories,
    its own first; `projects`: as in `Call`, by default its own directory; `overwrites`: what
    `danger.overwritten` found, and the fates of those files, if the caller looked them up; the rest
    as in `Ground`."""
    files, fates = overwrites or (None, None)
    ground = Ground(tuple(roots), home, tuple(free), tuple(guarded), fates=fates)
    kind = lenient.text(call, "kind")
    paths = danger.paths_of(call, ground.roots, home)
    commands = _commands(call, kind)
    judged, risk = danger.judged(call, ground, files)
    plain = tuple(dict.fromkeys(map(danger.normal, paths[: danger.MOST_PATHS])))
    cut = _is_cut(call, commands, paths)
    if not judged and cut:
        judged = "is too long to be judged"
    return Call(
        agent=agent,
        kind=kind if kind in KINDS else "other",
        tools=_tools(call),
        named=bool(lenient.text(call, "name")),
        arguments=danger.arguments_of(call),
        commands=commands,
        paths=plain,
        given=plain,
        roots=tuple(map(danger.normal, roots)),
        home=home,
        projects=tuple(map(danger.normal, projects or roots[:1])),
        place=danger.place_of(call, ground),
        danger=judged,
        risk=risk,
        cut=cut,
    )


def _is_cut(call: Json, commands: Iterable[Command], paths: Sequence[str]) -> bool:
    """Whether the call may be longer than what is known here: the rest could be anything."""
    raw = call.get("rawInput")
    lists = [*(raw.values() if isinstance(raw, dict) else ()), call.get("locations"), paths]
    return (
        any(len(command.whole) >= danger.MAX_LINE_LENGTH for command in commands)
        or any(len(path) >= danger.LONGEST_PATH for path in paths)
        or any(isinstance(each, list) and len(each) >= danger.MOST_PATHS for each in lists)
    )


def _tools(call: Json) -> tuple[str, ...]:
    """Return the tool's name ("" if it has none), then its title and the name that an MCP server
    itself gives it. A title can say anything, and servers may share a name, so those two allow
    nothing."""
    name, title = lenient.text(call, "name"), lenient.text(call, "title")
    plain = name.split("__", 2)[2:] if name.startswith("mcp__") else []
    names = [name, *(each for each in (title, *plain) if each not in ("", name))]
    return tuple(each[: danger.LONGEST_PATH] for each in names)


def _commands(call: Json, kind: str) -> tuple[Command, ...]:
    lines = lines_of(call)
    title = lenient.text(call, "title") if kind == "execute" else ""
    if not lines:
        verb = file_verb(call)
        text = titled(title) or (verb if verb not in VERBS else "")
        return (_suspected("", text) if text else Command(),)
    parts = [command for line in lines for command in _of_line(line)]
    if title and lines != [titled(title)]:
        # It may say more than the input does: enough to deny, nothing to allow by.
        more = _suspected("", titled(title))
        parts[0] = parts[0]._replace(
            suspects=(*parts[0].suspects, *more.suspects), names=(*parts[0].names, *more.names)
        )
    return tuple(parts)


# The reader is loaded where the first command is judged: most that know rules judge none.


def _of_line(line: str) -> list[Command]:
    cut = line.endswith(("…", "...")) and not line.endswith("/...")  # `go test ./...` is whole
    parts = None if cut else command_line.shell.plain_parts(line)
    if parts is None:
        return [_suspected(line, line)]
    commands = [_suspected(line, part)._replace(plain=part) for part in parts]
    if len(parts) > 1:
        known = {line.strip(), *(text for command in commands for text in command.suspects)}
        more = tuple(text for text in command_line.shell.suspects(line) if text not in known)
        named = {name for command in commands for name in command.names}
        names = tuple(name for name in command_line.shell.names(line) if name not in named)
        if more or names:
            commands.append(Command(line, "", more, names, behind=True))
    return commands


def _suspected(whole: str, text: str) -> Command:
    return Command(whole, "", command_line.shell.suspects(text), command_line.shell.names(text))


# --- matching ----------------------------------------------------------------------------------


def decide(rules: Iterable[Rule], call: Call) -> Verdict:
    """Return the verdict of the rules on a call."""
    known = tuple(rules)
    verdicts = [
        verdict
        for command in call.commands
        if (verdict := _decide_one(known, call, command)).do in ("ask", "deny")
        or not command.behind
    ]
    ruling = strictest(verdicts)
    if go_asks.is_one(call.kind, call.tools) and ruling.do != "deny" and not _says_go(call, ruling):
        return Verdict("ask", ruling.rules, go_asks.ONLY_YOU)
    if ruling.do == "allow":
        destructive = all(rule.destructive for rule in ruling.rules)
        if call.cut or (call.danger and not destructive):
            return Verdict("ask", ruling.rules, f"it {call.danger}")
    return ruling


def _says_go(call: Call, verdict: Verdict) -> bool:
    spoken = all(go_asks.speaks_of_it(rule.kind, rule.tool) for rule in verdict.rules)
    return verdict.do == "allow" and spoken and not go_asks.is_own(call.tools)


def strictest(verdicts: Sequence[Verdict]) -> Verdict:
    """Combine several verdicts on one action: denied if any denies, allowed only if all allow."""
    for do in ("deny", "ask", ""):
        if matches := [verdict for verdict in verdicts if verdict.do == do]:
            return matches[0]
    deciding = dict.fromkeys(rule for verdict in verdicts for rule in verdict.rules)
    return Verdict("allow" if verdicts else "", tuple(deciding))


def _decide_one(rules: tuple[Rule, ...], call: Call, command: Command) -> Verdict:
    texts = {command.plain, command.whole, *command.suspects}
    matching = [rule for rule in _near(rules, texts) if matches(rule, call, command)]
    if not matching:
        return Verdict("")
    first = matching[0]
    if first.do == "allow":
        for rule in matching:
            if rule.do == "deny" and rule.grounds == first.grounds:
                return Verdict("deny", (rule,), rule.reason)
    return Verdict(first.do, (first,), first.reason if first.do == "deny" else "")


def _near(rules: tuple[Rule, ...], texts: Iterable[str]) -> list[Rule]:
    """Return the rules without those that are about other commands, found in one search for all."""
    patterns = tuple([each for rule in rules for each in rule.command])
    some = globs.may_match(patterns, texts)
    return [
        rule
        for rule in rules
        if not rule.command or (some and globs.may_match(rule.command, texts))
    ]


def matches(rule: Rule, call: Call, command: Command) -> bool:
    strict = rule.do == "allow"
    if rule.left_out:
        return False
    if rule.kind and call.kind not in rule.kind:
        return False
    if rule.agent and not _any(rule.agent, [call.agent]):
        return False
    if rule.project and not _is_in_project(rule, call):
        return False
    if rule.tool and not _any(rule.tool, filter(None, call.tools[: 1 if strict else None])):
        return False
    matching = (_matches_command(each, call, command, strict) for each in rule.command)
    if rule.command and not any(matching):
        return False
    if rule.exact and not _is_exactly(rule, call, command):
        return False
    return not rule.path or _matches_paths(rule, call, command, strict)


def _is_in_project(rule: Rule, call: Call) -> bool:
    given = (call.home + each[1:] if each[:1] == "~" else each for each in rule.project)
    homes = [at for at in map(danger.normal, given) if any(is_below(p, at) for p in call.projects)]
    if rule.do != "allow" or not call.place or not homes:
        return bool(homes)
    return any(is_below(call.place, at) for at in (*homes, *call.projects))


def _is_exactly(rule: Rule, call: Call, command: Command) -> bool:
    """Whether a rule names the whole line exactly; or, if it names a tool, all its arguments."""
    if command.whole in rule.exact and command.whole:
        return True
    return bool(rule.tool and call.arguments) and call.arguments in rule.exact


def _matches_command(pattern: str, call: Call, command: Command, strict: bool) -> bool:
    if strict:
        covered = bool(command.plain) and covers(pattern, command.plain)
        return covered and command_line.escape_hatches.is_allowed(pattern, command.plain)
    if covers(pattern, command.plain) or _covers_one(pattern, command.suspects):
        return True
    begins = bool(command.whole) and command.whole.startswith(globs.beginning(pattern))
    if not begins or not globs.matches_text(pattern, command.whole):
        return False
    # `curl*sh` speaks of a line, `git *` of a part: that one begins the line says nothing about
    # the parts that follow.
    parts = [each.plain for each in call.commands if each.whole == command.whole and each.plain]
    return not any(covers(pattern, part) for part in parts)


def covers(pattern: str, command: str) -> bool:
    """Return whether a pattern matches a command; `git diff *` matches `git diff` alone, too."""
    if not command.startswith(globs.beginning(pattern)) or not command:
        return False
    if globs.matches_text(pattern, command):
        return True
    return pattern.endswith(" *") and globs.matches_text(pattern[:-2], command)


def _covers_one(pattern: str, commands: Iterable[str]) -> bool:
    """Whether the pattern matches one of the commands. Most match none, which their beginnings
    tell."""
    begins = globs.beginning(pattern)
    return any(covers(pattern, each) for each in commands if each.startswith(begins))


def _any(patterns: Iterable[str], texts: Iterable[str]) -> bool:
    known = list(texts)
    return any(globs.matches_text(pattern, text) for pattern in patterns for text in known)


def _matches_paths(rule: Rule, call: Call, command: Command, strict: bool) -> bool:
    patterns = [whole for pattern in rule.path for whole in _anchored(pattern, call)]
    if strict:
        if command.whole and not (rule.command or rule.exact):
            return False  # where a command works says nothing about what it does
        return bool(call.paths) and all(_fits(patterns, path, hidden=False) for path in call.paths)
    named = command.names[: danger.MOST_PATHS]
    more = danger.absolute(named, call.roots, call.home)
    return any(_fits(patterns, path) for path in (*call.paths, *map(danger.normal, more)))


def _fits(patterns: Iterable[str], path: str, *, hidden: bool = True) -> bool:
    return any(globs.matches_path(pattern, path, hidden=hidden) for pattern in patterns)


def _anchored(pattern: str, call: Call) -> list[str]:
    """Return the pattern made absolute: below each of the session's directories."""
    if pattern.startswith("/"):
        return [pattern]
    if pattern == "~" or pattern.startswith("~/"):
        return [globs.escaped(call.home) + pattern[1:]]
    return [f"{globs.escaped(root)}/{pattern.removeprefix('./')}" for root in call.roots]


# --- rules in words ----------------------------------------------------------------------------


def described(rule: Rule) -> str:
    """Describe a rule's grounds in a few words: `claude · execute · git status *`."""
    grounds = {name: " or ".join(getattr(rule, name)) for name in GROUNDS if getattr(rule, name)}
    parts = [f"in {text}" if name == "project" else text for name, text in grounds.items()]
    if not parts:
        return "everything"
    return " · ".join(parts) + (" · including destructive actions" if rule.destructive else "")
