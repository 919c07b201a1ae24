"""Rules that answer for a person: allow, ask or deny (row P5).

A rule names grounds, each a value or several of which one suffices: the agent, the tool's kind, the
command (a pattern, or exactly as it was written), the path, the tool's name. It matches a call when
all its grounds do.

- The first rule that matches decides.
- On equal ground deny beats allow: when the first match allows, and a later one that names the same
  grounds denies, the call is denied. So `allow git *` and `deny git push*` mean the same in any
  order, while `allow claude git push*` before `deny git push*` is an exception for claude.
- A line of several commands is decided one by one: denied where any of them is, else asked where
  any is to be asked, and allowed only where each of them is allowed.
- To allow, a pattern must match a command that could be read whole: with a substitution, a
  variable, a redirection or a comment in it, only `exact` matches. To ask or deny, it is enough
  that it matches something that the line may run.
- To allow, every path must match, and a path alone allows no command; to ask or deny, one path is
  enough, also one in a command.
- What cannot be undone is allowed only by rules that say `destructive`; else a person is asked.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.core import danger, globs, loose, shell
from rookery.core.events import Json

DOES = ("allow", "ask", "deny")
KINDS = (
    *("read", "edit", "delete", "move", "search"),
    *("execute", "think", "fetch", "switch_mode", "other"),
)
"""What ACP knows; a call that says nothing is `other`."""

GROUNDS = ("agent", "kind", "command", "exact", "path", "tool")
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
    destructive: bool = False
    reason: str = ""
    """Of a denial: told to the agent where it listens."""

    @property
    def grounds(self) -> tuple[str, ...]:
        return tuple(name for name in GROUNDS if getattr(self, name))


class Command(NamedTuple):
    """One simple command of a call's line; all empty: the call runs none."""

    whole: str = ""
    """The line that it is part of."""
    plain: str = ""
    """As it is written, where that could be read for sure."""
    suspects: tuple[str, ...] = ()


class Call(NamedTuple):
    """What rules look at."""

    agent: str
    kind: str
    tools: tuple[str, ...] = ()
    commands: tuple[Command, ...] = (Command(),)
    paths: tuple[str, ...] = ()
    """Absolute, without `..`; where links were followed, both ends."""
    roots: tuple[str, ...] = ()
    home: str = ""
    danger: str = ""
    """Why it cannot be undone; "": it can."""
    cut: bool = False
    """There may be more of it: no rule allows it."""
    outside: str = ""
    """A path of it that lies outside the session's directories (`core.reach`)."""


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
    agent: str, call: Json, roots: Sequence[str], home: str, free: Sequence[str] = ()
) -> Call:
    """A tool call as rules see it. `roots`: the session's directories, its own first; `free`: where
    else anything may be written."""
    kind = loose.text(call, "kind")
    paths = danger.paths_of(call, tuple(roots), home)
    commands = _commands(call, kind)
    judged = danger.danger_of(call, [*roots, *free], home)
    if not judged and _is_cut(call, commands, paths):
        judged = "is too long to be judged"
    return Call(
        agent=agent,
        kind=kind if kind in KINDS else "other",
        tools=_tools(call),
        commands=commands,
        paths=tuple(dict.fromkeys(map(danger.normal, paths[: danger.MOST_PATHS]))),
        roots=tuple(map(danger.normal, roots)),
        home=home,
        danger=judged,
        cut=_is_cut(call, commands, paths),
    )


def _is_cut(call: Json, commands: Iterable[Command], paths: Sequence[str]) -> bool:
    """Whether there may be more of it than is known here: what was left out could be anything."""
    raw = call.get("rawInput")
    lists = [*(raw.values() if isinstance(raw, dict) else ()), call.get("locations"), paths]
    return (
        any(len(command.whole) >= shell.LONGEST for command in commands)
        or any(len(path) >= danger.LONGEST_PATH for path in paths)
        or any(isinstance(each, list) and len(each) >= danger.MOST_PATHS for each in lists)
    )


def _tools(call: Json) -> tuple[str, ...]:
    names = [loose.text(call, "name"), loose.text(call, "title")]
    return tuple(dict.fromkeys(name[: danger.LONGEST_PATH] for name in names if name))


def lines_of(call: Json) -> list[str]:
    """The command lines of a call. The title of one that runs something stands for them where
    no input was told at all."""
    given = call.get("rawInput")
    found = [given] if isinstance(given, str) else []
    raw = given if isinstance(given, dict) else {}
    words = loose.texts(raw, "args")
    for key in danger.TEXT_KEYS:
        value = raw.get(key)
        if isinstance(value, list):
            value = shell.line_of([*(w for w in value if isinstance(w, str)), *words])
        elif isinstance(value, str) and words:
            value = f"{value} {shell.line_of(words)}"
        if isinstance(value, str) and value.strip():
            found.append(value)
    if not found and not raw and loose.text(call, "kind") == "execute":
        found.append(_titled(loose.text(call, "title")))
    return [line for line in found if line.strip()]


def _titled(title: str) -> str:
    bare = title.strip()
    if len(bare) > 2 and bare[0] == bare[-1] == "`" and "`" not in bare[1:-1]:
        bare = bare[1:-1]
    return bare


def _commands(call: Json, kind: str) -> tuple[Command, ...]:
    lines = lines_of(call)
    title = loose.text(call, "title") if kind == "execute" else ""
    if not lines:
        return (Command("", "", shell.suspects(_titled(title))) if title else Command(),)
    found: list[Command] = []
    for line in lines:
        parts = None if line.endswith(("…", "...")) else shell.plain_parts(line)
        if parts is None:
            found.append(Command(line, "", shell.suspects(line)))
        else:
            found += [Command(line, part, shell.suspects(part)) for part in parts]
    if title and lines != [_titled(title)]:
        # It may say more than the input does: enough to deny, nothing to allow by.
        more = shell.suspects(_titled(title))
        found[0] = found[0]._replace(suspects=(*found[0].suspects, *more))
    return tuple(found)


# --- matching ----------------------------------------------------------------------------------


def decide(rules: Iterable[Rule], call: Call) -> Verdict:
    """What the rules say to a call."""
    known = tuple(rules)
    verdicts = [_decide_one(known, call, command) for command in call.commands]
    for do in ("deny", "ask", ""):
        found = [verdict for verdict in verdicts if verdict.do == do]
        if found:
            return found[0]
    deciding = tuple(dict.fromkeys(rule for verdict in verdicts for rule in verdict.rules))
    if call.cut or (call.danger and not all(rule.destructive for rule in deciding)):
        return Verdict("ask", deciding, f"it {call.danger}")
    return Verdict("allow", deciding)


def _decide_one(rules: tuple[Rule, ...], call: Call, command: Command) -> Verdict:
    matching = [rule for rule in rules if matches(rule, call, command)]
    if not matching:
        return Verdict("")
    first = matching[0]
    if first.do == "allow":
        for rule in matching:
            if rule.do == "deny" and rule.grounds == first.grounds:
                return Verdict("deny", (rule,), rule.reason)
    return Verdict(first.do, (first,), first.reason if first.do == "deny" else "")


def matches(rule: Rule, call: Call, command: Command) -> bool:
    strict = rule.do == "allow"
    if rule.agent and not _any(rule.agent, [call.agent]):
        return False
    if rule.kind and call.kind not in rule.kind:
        return False
    if rule.tool and not _any(rule.tool, call.tools[:1] if strict else call.tools):
        return False
    if rule.command and not any(
        _matches_command(each, call, command, strict) for each in rule.command
    ):
        return False
    if rule.exact and command.whole not in rule.exact:
        return False
    return not rule.path or _matches_paths(rule, call, command, strict)


def _matches_command(pattern: str, call: Call, command: Command, strict: bool) -> bool:
    if strict:
        return bool(command.plain) and globs.matches_text(pattern, command.plain)
    if _any([pattern], filter(None, (command.plain, *command.suspects))):
        return True
    if not command.whole or not globs.matches_text(pattern, command.whole):
        return False
    # `curl*sh` speaks of a line, `git *` of a part: that one begins the line says nothing about
    # the parts that follow.
    parts = [each.plain for each in call.commands if each.whole == command.whole and each.plain]
    return not _any([pattern], parts)


def _any(patterns: Iterable[str], texts: Iterable[str]) -> bool:
    known = list(texts)
    return any(globs.matches_text(pattern, text) for pattern in patterns for text in known)


def _matches_paths(rule: Rule, call: Call, command: Command, strict: bool) -> bool:
    patterns = [whole for pattern in rule.path for whole in _anchored(pattern, call)]
    if strict:
        if command.whole and not (rule.command or rule.exact):
            return False  # where a command works says nothing about what it does
        return bool(call.paths) and all(_fits(patterns, path) for path in call.paths)
    named = {word for text in command.suspects for word in text.split()[: danger.MOST_PATHS]}
    more = danger.absolute(sorted(named)[: danger.MOST_PATHS], call.roots, call.home)
    return any(_fits(patterns, path) for path in (*call.paths, *map(danger.normal, more)))


def _fits(patterns: Iterable[str], path: str) -> bool:
    return any(globs.matches_path(pattern, path) for pattern in patterns)


def _anchored(pattern: str, call: Call) -> list[str]:
    """What is not absolute lies below the session's directories."""
    if pattern.startswith("/"):
        return [pattern]
    if pattern == "~" or pattern.startswith("~/"):
        return [globs.escaped(call.home) + pattern[1:]]
    return [f"{globs.escaped(root)}/{pattern.removeprefix('./')}" for root in call.roots]


# --- a rule of one call ------------------------------------------------------------------------


class Unruly(NamedTuple):
    """Why no rule can be made of a call."""

    why: str


def narrow(call: Call, name: str) -> Rule | Unruly:
    """The rule that allows this call again and as little else as can be."""
    if call.danger:
        return Unruly(f"This {call.danger}: it can be allowed once, not for good.")
    base = Rule(name, "allow", (globs.escaped(call.agent),), (call.kind,))
    lines = tuple(dict.fromkeys(each.whole for each in call.commands if each.whole))
    if len(lines) == 1:
        return base._replace(exact=lines)
    if not lines and call.paths:
        return base._replace(path=tuple(globs.escaped(path) for path in call.paths[:20]))
    if not lines and call.tools and call.kind != "execute":
        return base._replace(tool=(globs.escaped(call.tools[0]),))
    return Unruly("Nothing in this call says what exactly would be allowed.")


def described(rule: Rule) -> str:
    """Its grounds in a few words: `claude · execute · git status*`."""
    parts = [" or ".join(getattr(rule, name)) for name in GROUNDS if getattr(rule, name)]
    return " · ".join(parts) + (" · also what cannot be undone" if rule.destructive else "")


# --- rules as tables of a file -----------------------------------------------------------------


class Fault(NamedTuple):
    key: str
    """ "": the whole table."""
    why: str


def rule_of(table: object, number: int) -> Rule | Fault:
    """A table of the configuration as a rule; where it has no name, its place is its name."""
    if not isinstance(table, dict):
        return Fault("", 'must be a table with do = "allow", "ask" or "deny"')
    allowed = ("name", "do", *GROUNDS, "destructive", "reason")
    given: Json = {}
    for key, value in table.items():
        if key not in allowed:
            return Fault(str(key), f"is not a setting. There are: {', '.join(allowed)}")
        read = _read(key, value)
        if isinstance(read, Fault):
            return read
        given[key] = read
    if "do" not in given:
        return Fault("", 'needs do = "allow", "ask" or "deny"')
    rule = Rule(**{"name": str(number), **given})
    if not rule.grounds:
        return Fault("", f"needs at least one of: {', '.join(GROUNDS)}")
    if rule.destructive and rule.do != "allow":
        return Fault("destructive", "is for rules that allow")
    if rule.reason and rule.do != "deny":
        return Fault("reason", "is for rules that deny")
    return rule


def _read(key: str, value: object) -> object:
    match key:
        case "do":
            return value if value in DOES else Fault(key, 'must be "allow", "ask" or "deny"')
        case "destructive":
            return value if isinstance(value, bool) else Fault(key, "must be true or false")
        case "name":
            if isinstance(value, str) and value.strip() and len(value) <= LONGEST_NAME:
                if value.isdecimal() or not value.isprintable():
                    return Fault(key, "must have a letter: numbers are places in the list")
                return value.strip()
            return Fault(key, f"must be a text of at most {LONGEST_NAME} characters")
        case "reason":
            return value if isinstance(value, str) else Fault(key, "must be a text")
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        return Fault(key, "must be a text, or a list of texts")
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return Fault(key, "must be a text, or a list of texts")
    if key == "kind" and (wrong := [text for text in texts if text not in KINDS]):
        return Fault(key, f"has no {wrong[0]!r}. There are: {', '.join(KINDS)}")
    longest = shell.LONGEST if key == "exact" else globs.LONGEST
    if any(len(text) > longest for text in texts):
        return Fault(key, f"must have at most {longest} characters")
    return tuple(texts)
