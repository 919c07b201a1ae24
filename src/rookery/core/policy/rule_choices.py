"""The "always allow" rules that can be made from one ask: the narrowest first, then wider ones,
each described in plain words. No rule reaches further than its description; no wider rule reaches
hidden files or escape hatches."""

import re
from typing import NamedTuple

from rookery.core.asks.asks import once_only
from rookery.core.command_line import escape_hatches, globs
from rookery.core.command_line.syntax import listed
from rookery.core.policy import go_asks
from rookery.core.policy.call_input import FILE_KINDS
from rookery.core.policy.rules import GROUNDS, Call, Rule

MOST_PATHS = 20
MAX_LENGTH = 60
VAGUE = "No rule can cover this: the agent did not say exactly what it does."


class Choice(NamedTuple):
    label: str
    """What it would allow from now on."""
    rule: Rule
    matches: str = "Only this, letter by letter."
    """What of it a rule reaches that its words do not say."""


_VERBS = {"read": "reading", "edit": "editing", "delete": "deleting", "move": "moving"}
_VERBS |= {"search": "searching"}

_LOOKING = listed(
    "ls cat head tail wc grep egrep fgrep rg ag tree pwd stat file du df which type diff cmp cut "
    "jq date uname whoami id ps pytest ruff mypy eslint tsc black isort flake8 shellcheck true"
)
"""Programs of which any use may be allowed, their hatches aside."""

_DEPTHS = dict.fromkeys(
    listed(
        "git cargo go pip pip3 make terraform tofu helm systemctl brew apt apt-get yarn pnpm npm "
        "rails mix dotnet docker podman kubectl oc gradle mvn tox nox just task cmake"
    ),
    2,
) | {"gh": 3, "glab": 3, "aws": 3, "az": 3, "gcloud": 4}
"""Programs that are told apart by their subcommands, and how many words say which."""

_DEEPER = {("npm", "run"), ("yarn", "run"), ("pnpm", "run"), ("docker", "compose")}
_DEEPER |= {("docker", "volume"), ("docker", "image"), ("docker", "container"), ("git", "stash")}
_WORD = re.compile(r"[A-Za-z0-9][\w:.@/-]{0,40}")


_PLAIN = (
    "With any arguments, but not with variables, substitutions or redirections, nor with options "
    "that run programs or write files."
)
_BELOW = "Also in directories below it."
_ANY_CALL = "With any arguments."


def choices(call: Call, name: str, project: str = "") -> tuple[Choice, ...] | str:
    """Return the rules that "always allow" can mean for a call, or why none can be made. `project`:
    the directory whose sessions they apply to; "" for all sessions."""
    first = _narrowest(call, name)
    if isinstance(first, str):
        return first
    offered = [first, *_wider(call, name)]
    if project:
        offered = [
            each._replace(
                label=f"{each.label} in this project", rule=each.rule._replace(project=(project,))
            )
            for each in offered
        ]
    return tuple({choice.rule: choice for choice in reversed(offered)}.values())[::-1]


def alike(offered: tuple[Choice, ...]) -> str:
    """Return a key that is equal for calls of one tool that one rule would cover: the grounds of
    the first rule wider than the call, or else of the call itself."""
    rule = offered[min(1, len(offered) - 1)].rule
    return repr([getattr(rule, ground) for ground in GROUNDS])


def _narrowest(call: Call, name: str) -> Choice | str:
    if call.danger:
        return once_only(call.danger)
    if go_asks.is_one(call.kind, call.tools):
        return go_asks.ONLY_YOU
    base = _base(call, name)
    lines = tuple(dict.fromkeys(each.whole for each in call.commands if each.whole))
    tool = call.tools[0] if call.tools else ""
    named = (globs.escaped(tool),) if tool and call.named else ()
    if lines and (call.kind == "execute" or not (named and call.arguments)):
        if len(lines) == 1:
            rule = base._replace(exact=lines, tool=() if call.kind == "execute" else named)
            line = lines[0]
            is_short = len(line) <= MAX_LENGTH and line.isprintable() and "`" not in line
            return Choice(f"exactly `{line}`" if is_short else "exactly this command", rule)
    elif not lines and call.paths and call.kind in FILE_KINDS:
        paths = tuple(globs.escaped(path) for path in call.paths[:MOST_PATHS])
        if len(call.paths) <= MOST_PATHS:
            which = "this file" if len(call.given) <= 1 else "these files"
            label = f"{_VERBS[call.kind]} exactly {which}"
            return Choice(label, base._replace(path=paths))
    elif call.arguments and tool and call.kind != "execute":
        rule = base._replace(tool=(globs.escaped(tool),), exact=(call.arguments,))
        return Choice(f"exactly this call of {tool[:MAX_LENGTH]}", rule)
    elif named and call.kind != "execute" and not call.paths and not lines:
        return _any_call(base, tool)
    return VAGUE


def _base(call: Call, name: str) -> Rule:
    return Rule(name, "allow", (globs.escaped(call.agent),), (call.kind,))


def _any_call(base: Rule, tool: str) -> Choice:
    rule = base._replace(tool=(globs.escaped(tool),))
    return Choice(f"any call of {tool[:MAX_LENGTH]}", rule, _ANY_CALL)


def _wider(call: Call, name: str) -> list[Choice]:
    base = _base(call, name)
    if call.kind == "execute":
        return _wider_commands(call, base)
    if call.kind in FILE_KINDS:
        return _wider_paths(call, base)
    if call.named and call.tools and not any(each.whole for each in call.commands):
        return [_any_call(base, call.tools[0])]
    return []


def _wider_commands(call: Call, base: Rule) -> list[Choice]:
    """`git status -s` → any `git status` command; only of one plain command without a hatch."""
    [first, *more] = call.commands
    if more or not first.plain or escape_hatches.opened(first.plain):
        return []
    tokens = first.plain.split()
    depth = _DEPTHS.get(tokens[0], 1)
    depth += tuple(tokens[:2]) in _DEEPER
    if depth == 1 and tokens[0] not in _LOOKING:
        return []
    prefix = tokens[:depth]
    if len(prefix) < depth or not all(map(_WORD.fullmatch, prefix)):
        return []
    joined = " ".join(prefix)
    rule = base._replace(command=(f"{globs.escaped(joined)} *",))
    return [Choice(f"any `{joined}` command", rule, _PLAIN)]


def _wider_paths(call: Call, base: Rule) -> list[Choice]:
    """Offer the directory of the file, then the session's own; only for a file that is not hidden
    and lies within them."""
    places = [_place(path, call.roots) for path in call.paths]
    if not places or any(place is None for place in places) or len(call.given) != 1:
        return []
    _, below = next(place for place in places if place is not None)
    offered: list[Choice] = []
    folder = below.rpartition("/")[0]
    if folder:
        label = f"{_VERBS[call.kind]} any file in {folder[:MAX_LENGTH]} (except hidden ones)"
        offered.append(Choice(label, base._replace(path=_below(call, folder)), _BELOW))
    label = f"{_VERBS[call.kind]} any file in the session's directory (except hidden ones)"
    return [*offered, Choice(label, base._replace(path=_below(call, "")), _BELOW)]


def _below(call: Call, folder: str) -> tuple[str, ...]:
    """Return patterns for all files below a folder, in each root that the call's paths lie in."""
    places = [_place(path, call.roots) for path in call.paths]
    roots = dict.fromkeys(place[0] for place in places if place is not None)
    inner = f"/{globs.escaped(folder)}" if folder else ""
    return tuple(f"{globs.escaped(root)}{inner}/**" for root in roots)


def _place(path: str, roots: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the root that a path lies in, and its relative path; None if none, or hidden."""
    for root in sorted(roots, key=len, reverse=True):
        if root != "/" and path.startswith(root + "/"):
            below = path[len(root) + 1 :]
            hidden = any(name.startswith(".") for name in below.split("/"))
            return None if hidden else (root, below)
    return None
