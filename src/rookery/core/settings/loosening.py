"""Detecting what a change of the settings loosens, and what stays in force until the user confirms
it.

An agent runs as the user and can write `config.toml`, so a change that allows more than before does
not take effect by itself (docs/security.md). Whatever is not provably stricter counts as looser."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rookery.core import budgets
from rookery.core.json import Json, lenient
from rookery.core.policy.rules import GROUNDS, Rule, described
from rookery.core.settings.agent_tables import OF_ADDRESS
from rookery.core.settings.definitions import SINGLE

STRICT_FIRST = {each.key: each.strict_first for each in SINGLE if each.strict_first}
"""Settings that decide how much the user is asked: their values, the strictest first."""

DEFAULTS = {each.key: each.default for each in SINGLE if each.strict_first or each.check}
BUDGETS = tuple(each.key for each in SINGLE if each.check is budgets.check)
"""Settings that decide how much may be used: a higher one is looser."""

RUNS = tuple(each.key for each in SINGLE if each.runs)
"""Settings that name a program, as does each own agent: another would run without asking."""

EXTRAS = ".env, mcp"
"""Ends the key of an agent's environment and servers: variables can change what runs."""

WORKTREES = "worktrees."
"""Begins the key of what a repository's worktrees need: a command, and files that agents get."""

OF_GIT = "git "
"""Begins the key of a repository whose git configuration names programs that the user trusts."""


class Guarded(NamedTuple):
    """The part of the settings that decides what runs without asking."""

    rules: tuple[Rule, ...] = ()
    choices: Mapping[str, Any] = {}
    """Settings whose values have an order, by their key."""
    programs: Mapping[str, Any] = {}
    """Settings that name a program, by their key: a command line, its words, or a path."""
    servers: Mapping[str, Any] = {}
    """MCP servers, as in their file."""
    hooks: Mapping[str, Any] = {}
    """The user's hooks, as in their file."""
    trusted: Mapping[str, Any] = {}
    """Hooks of projects that the user trusts: their fingerprints, by project. So are programs that
    a repository's git configuration names."""


def loosened(former: Guarded, new: Guarded) -> list[str]:
    """Return one line for each thing that is looser than before; an empty list if nothing is, so
    that all of the change applies."""
    sentences = [
        *_of_rules(former.rules, new.rules, _unguarded(new)),
        *(
            f"{key} changes from {_text(_chosen(former, key))} to {_text(new.choices[key])}."
            for key in _looser(former, new)
        ),
        *(_of_program(key, former, new) for key in _other_programs(former, new)),
        *(_of_server(name, former, new) for name in _other_servers(former, new)),
        *([HOOKED] if former.hooks != new.hooks else []),
        *(_of_trust(project) for project in _newly_trusted(former, new)),
    ]
    return [" ".join(sentence.replace("\n", " ⏎ ").split()) for sentence in sentences]


def strictest(former: Guarded, new: Guarded) -> Guarded:
    """Return what applies until then: of each part the stricter, the old or the new one."""
    kept = {key: _chosen(former, key) for key in _looser(former, new)}
    return Guarded(
        _strictest_rules(former.rules, new.rules, _unguarded(new)),
        {**new.choices, **kept},
        _with_former(new.programs, former.programs, _other_programs(former, new)),
        _with_former(new.servers, former.servers, _other_servers(former, new)),
        former.hooks,  # a hook runs a command, and a removed one may have been a guard
        {
            project: [each for each in known if each in former.trusted.get(project, ())]
            for project, known in new.trusted.items()
        },
    )


def _of_trust(project: str) -> str:
    of_git = project.startswith(OF_GIT)
    what = "Programs of the git configuration" if of_git else "The hooks"
    return f"{what} of {project.removeprefix(OF_GIT)} are trusted."


def _newly_trusted(former: Guarded, new: Guarded) -> list[str]:
    return [
        project
        for project, known in new.trusted.items()
        if any(each not in former.trusted.get(project, ()) for each in known)
    ]


def _with_former(new: Mapping[str, Any], former: Mapping[str, Any], keys: list[str]) -> Json:
    rest = {key: value for key, value in new.items() if key not in keys}
    return rest | {key: former[key] for key in keys if key in former}


# --- single settings, programs, servers, hooks --------------------------------------------------


def _order(key: str) -> tuple[str | bool, ...]:
    """Return a setting's values, the strictest first; those of `confined` by default."""
    return STRICT_FIRST.get(key) or (True, False)


def _chosen(guarded: Guarded, key: str) -> Any:
    """Return a setting's value; one that a record of an earlier build lacks had its default."""
    return guarded.choices.get(key, DEFAULTS.get(key, True))


def _looser(former: Guarded, new: Guarded) -> list[str]:
    keys = []
    for key, value in new.choices.items():
        order, before = _order(key), _chosen(former, key)
        if key in BUDGETS and not budgets.is_looser(before, value):
            continue
        known = before in order and value in order
        if before != value and not (known and order.index(value) < order.index(before)):
            keys.append(key)
    return keys


def _other_programs(former: Guarded, new: Guarded) -> list[str]:
    """Return the keys of programs that changed. Removing an agent is not stricter: a program may
    have its name."""
    changed = []
    for key in dict.fromkeys([*former.programs, *new.programs]):
        before, now = former.programs.get(key) or None, new.programs.get(key) or None
        strict = key in EMPTY_IS_STRICT or key.startswith(WORKTREES)
        if before != now and (now or not strict):
            changed.append(key)
    return changed


EMPTY_IS_STRICT = ("critic.command", "notify.webhook", "sandbox.allow", "sandbox.read")
"""If empty, nothing runs, and nothing is sent."""


def _of_program(key: str, former: Guarded, new: Guarded) -> str:
    before, now = former.programs.get(key), new.programs.get(key)
    if key.endswith(EXTRAS):
        return _of_extras(key.removesuffix(EXTRAS), before, now)
    if not now:
        return f"{key} was removed; it was {_text(before)}."
    if not before:
        return f"{key} is new: {_text(now)}"
    return f"{key} changes from {_text(before)} to {_text(now)}"


def _of_extras(agent: str, before: object, now: object) -> str:
    """Describe the changes without the values, which may be secrets: this goes into logs."""
    old, new = lenient.mapping(before, "env"), lenient.mapping(now, "env")
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    sentences = [f"{agent}.env changes: {', '.join(map(str, names))}."] if names else []
    was, is_ = (each.get("mcp") if isinstance(each, dict) else None for each in (before, now))
    if was != is_:
        sentences.append(f"{agent}.mcp changes from {_text(was)} to {_text(is_)}.")
    old, new = (each if isinstance(each, dict) else {} for each in (before, now))
    keys = ("sandbox", *budgets.NAMES.values(), *OF_ADDRESS)
    sentences += [f"{agent}.{key} changes." for key in keys if old.get(key) != new.get(key)]
    return " ".join(sentences)


def _other_servers(former: Guarded, new: Guarded) -> list[str]:
    on = {name: entry for name, entry in new.servers.items() if _is_on(entry)}
    return [name for name, entry in on.items() if former.servers.get(name) != entry]


def _is_on(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    return entry.get("enabled") is not False and entry.get("disabled") is not True


def _of_server(name: str, former: Guarded, new: Guarded) -> str:
    """Describe the server without its arguments and address, which may hold secrets: this goes into
    logs."""
    verb = "changes" if name in former.servers else "is new"
    command = lenient.text(new.servers[name], "command")
    runs = f" and runs {command}" if command else ""
    return f"The MCP server {name} {verb}{runs}; `rookery mcp get {name}` shows it."


HOOKED = "hooks.json changes: its commands run without asking."


def _text(value: object) -> str:
    match value:
        case None | "":
            return "nothing"
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return " ".join(map(str, value))
        case dict():
            return ", ".join(f"{key} {_text(each)}" for key, each in value.items())
    return str(value)


# --- rules -------------------------------------------------------------------------------------


def _unguarded(guarded: Guarded) -> bool:
    """Whether only rules guard destructive actions, including rules that allow."""
    return guarded.choices.get("worker.confirm_destructive") is False


class _Change(NamedTuple):
    gone: list[Rule]
    added: list[Rule]
    moved: bool
    """What both have is in another order."""


def _alike(rule: Rule) -> Rule:
    """Return the rule without its name and reason: what it does."""
    return rule._replace(name="", reason="")


def _in_force(rules: Sequence[Rule]) -> list[Rule]:
    return [rule for rule in rules if not rule.left_out]


def _change(former: Sequence[Rule], new: Sequence[Rule]) -> _Change:
    old, now = _in_force(former), _in_force(new)
    both = Counter(map(_alike, old)) & Counter(map(_alike, now))
    (before, gone), (after, added) = _split(old, both), _split(now, both)
    return _Change(gone, added, moved=before != after)


def _split(rules: Sequence[Rule], both: Counter[Rule]) -> tuple[list[Rule], list[Rule]]:
    """Split the rules into those that both sides have, compared by what they do, and the rest."""
    left, kept, rest = Counter(both), list[Rule](), list[Rule]()
    for rule in rules:
        if left[_alike(rule)]:
            left[_alike(rule)] -= 1
            kept.append(_alike(rule))
        else:
            rest.append(rule)
    return kept, rest


def _of_rules(former: Sequence[Rule], new: Sequence[Rule], unguarded: bool) -> list[str]:
    change = _change(former, new)
    lines = [
        f"A new rule allows: {described(rule)}." for rule in change.added if rule.do == "allow"
    ]
    for rule in change.gone:
        if rule.do != "allow":
            verb = "denied" if rule.do == "deny" else "asked about"
            lines.append(f"The rule that {verb} this was removed: {described(rule)}.")
        elif unguarded or _leaves_room(rule, former, new):
            lines.append(f"A rule was removed, and others now answer instead: {described(rule)}.")
    now = _in_force(new)
    for rule in change.added:
        behind = now[now.index(rule) :]
        if rule.do == "ask" and any(each.do == "deny" for each in behind):
            lines.append(f"A new rule asks before another one can deny: {described(rule)}.")
    if change.moved:
        lines.append("The order of the rules changed.")
    return lines


def _leaves_room(gone: Rule, former: Sequence[Rule], new: Sequence[Rule]) -> bool:
    """Whether another rule may now be looser than the removed one, which left destructive actions
    to the user and let a denial on equal grounds win."""
    others = [rule for rule in _in_force(new) if rule.do != "deny"]
    denied = any(rule.do == "deny" and rule.grounds == gone.grounds for rule in former)
    return any(rule.destructive or denied for rule in others)


def _strictest_rules(
    former: Sequence[Rule], new: Sequence[Rule], unguarded: bool
) -> tuple[Rule, ...]:
    """Return the new rules if none of the changes is looser; else the former ones, with the new
    denials first and without the permissions that were removed."""
    if not _of_rules(former, new, unguarded):
        return tuple(new)
    change = _change(former, new)
    left = list(former)
    for rule in change.gone:
        rest = [each for each in left if each is not rule]
        if rule.do == "allow" and not unguarded and not _leaves_room(rule, former, rest):
            left = rest
    first = [rule for rule in change.added if rule.do == "deny"]
    if not any(rule.do == "deny" for rule in left):
        first += [rule for rule in change.added if rule.do == "ask"]
    return (*first, *left)


# --- as JSON -----------------------------------------------------------------------------------


def to_json(guarded: Guarded) -> Json:
    plain, of_projects = list[Json](), list[Json]()
    for at, rule in enumerate(guarded.rules):
        fields = {key: _listed(value) for key, value in rule._asdict().items()}
        if fields.pop("project"):  # apart: a build that does not know it leaves such a rule out
            of_projects.append({**fields, "project": list(rule.project), "at": at})
        else:
            plain.append(fields)
    return {
        "rules": plain,
        **({"projectRules": of_projects} if of_projects else {}),
        "choices": dict(guarded.choices),
        "programs": {key: _listed(value) for key, value in guarded.programs.items()},
        "servers": dict(guarded.servers),
        "hooks": dict(guarded.hooks),
        "trusted": dict(guarded.trusted),
    }


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def of_json(value: object) -> Guarded | None:
    """Parse what `to_json` returned; None if it is something else."""
    if not isinstance(value, dict):
        return None
    try:
        rules = [_rule_of(each) for each in value["rules"]]
        for each in value.get("projectRules", ()):
            rules.insert(each["at"], _rule_of({k: v for k, v in each.items() if k != "at"}))
        tables = [dict(value[key]) for key in ("choices", "programs", "servers", "hooks")]
        tables.append({key: list(each) for key, each in value.get("trusted", {}).items()})
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return Guarded(tuple(rules), *tables)


def _rule_of(value: Json) -> Rule:
    """Parse a rule. Raises TypeError."""
    grounds = {key: tuple(value.get(key, ())) for key in GROUNDS}
    return Rule(**{**value, **grounds})
