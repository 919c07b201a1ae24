"""A whole config.toml as the settings define it: for the documentation, and to begin with."""

from rookery.core.limits import written
from rookery.core.settings.definitions import (
    AGENT,
    CONFINED,
    CRITICS,
    ENV,
    INTERFACES,
    KEYS,
    MCP,
    NUMBERS,
    OWN_AGENT,
    PLAIN,
    RULES,
    SESSION,
    VERSION,
)


def sample() -> str:
    """With every default in its place."""
    lines = [_line(VERSION.name, written(VERSION.default), VERSION.brief)]
    lines += [_line(setting.name, setting.example, setting.brief) for setting in PLAIN]
    lines += ["", f"{'[worker]':<26} # seconds"]
    lines += [_line(each.name, written(each.default), each.brief) for each in NUMBERS]
    for table in (SESSION, AGENT, CRITICS, INTERFACES):
        lines += ["", f"[{table[0].key.partition('.')[0]}]"]
        lines += [_line(each.name, written(each.default), each.brief) for each in table]
    lines += ["", "[agents.mine]", _line("command", OWN_AGENT.example, "rookery run --agent mine")]
    lines += [_line(CONFINED.name, "true", CONFINED.brief)]
    lines += [_line(each.name, each.example, each.brief) for each in (ENV, MCP)]
    lines += ["", "[keys]", _line("quit", KEYS.example, KEYS.brief)]
    lines += ["", f"{'[[policy.rules]]':<26} # {RULES.brief}", 'do = "allow"']
    lines += ['command = "git status *"']
    return "\n".join(lines) + "\n"


def template() -> str:
    """The same with nothing in it set."""
    return "\n".join(f"# {line}".rstrip() for line in sample().splitlines()) + "\n"


def _line(name: str, value: str, brief: str) -> str:
    return f"{f'{name} = {value}':<26} # {brief}"
