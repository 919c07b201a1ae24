"""Detecting the vendor of a session's agent: by the name it reports, and by the command that starts
it.

The session's name for it is the user's (`[agents.work]`, the program of a `--cmd`): it counts only
if neither of the two is known."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from rookery.core.header import Header
from rookery.core.json import Json, lenient

OWN, PLAYER = "rookery", "demo"
"""Ours: known by their commands, whatever another agent says that it is."""

OWN_SAYS = "rookery-agent"

_KNOWN: Mapping[str, tuple[str, ...]] = {
    "claude": ("claude-agent-acp", "claude-code-acp", "claude-agent", "claude-code"),
    "codex": ("codex-acp", "codex"),
    "gemini": ("gemini-cli", "gemini"),
    "opencode": ("opencode", "opencode-ai"),
    "qwen": ("qwen-code", "qwen"),
    "vibe": ("mistral-vibe", "vibe-acp", "vibe"),
    "openhands": ("openhands", "openhands-cli", "openhands-acp", "openhands-cli-acp-agent"),
    "crow": ("crow-cli", "crow"),
    "swival": ("swival",),
    "pi": ("pi-acp",),
    "deepagents": ("deepagents", "deepagents-acp", "deepagents-cli"),
    "dcode": ("dcode", "deepagents-code"),
    "hermes": ("hermes-agent", "hermes-acp", "hermes"),
    "kimi": ("kimi", "kimi-code", "kimi-cli", "kimi-code-cli"),
}
"""Names of programs, of packages, and what each says in `agentInfo.name`."""

_VENDORS = {name: vendor for vendor, names in _KNOWN.items() for name in names}

_LAUNCHERS = re.compile(r"(python|pypy)[\d.]*|node|deno|bunx?|npx|npm|pnpm|pnpx|yarn|uvx?|pipx|env")
"""Programs that start the one that is named behind them."""

_PASSED_OVER = re.compile(r"-|\w+=|[\d.]+$|(tool|run|exec|x|dlx)$")
"""Words of such a program's own: options, variables, versions, verbs."""

_STORES = ("node_modules", "site-packages", "tools")
"""Directories that have a package's name below them."""


def vendor_of(name: str, argv: Sequence[str], info: Json | None = None) -> str:
    """Return the vendor's name in our tables; if none is known, the session's own name for the
    agent, unless the agent calls itself something else."""
    reported, ours = _bare(lenient.text(info, "name")), _ours(argv)
    if ours == PLAYER:  # it plays whom it says it is
        return OWN if reported == OWN_SAYS else _VENDORS.get(reported, PLAYER)
    vendor = ours or _VENDORS.get(reported) or _started_by(argv)
    if vendor or reported:
        return vendor
    # Of one of ours that is called by its name, the command is not known before its first start.
    return "" if argv and name in (OWN, PLAYER) else name


def is_player(argv: Sequence[str]) -> bool:
    return _ours(argv) == PLAYER


def after(header: Header, changes: Json) -> Json:
    """Return the header's `vendor`, if something changes that it depends on."""
    if changes.keys().isdisjoint(("agent", "argv", "info", "_started")):
        return {}
    now = header.with_(**changes)
    return {"vendor": vendor_of(now.agent, now.argv or now.started_argv, now.info)}


def _ours(argv: Sequence[str]) -> str:
    if "rookery.acp.player" in argv:
        return PLAYER
    for word, verb in pairwise(argv):
        if _last(word) == "rookery" and verb in ("play", "agent"):
            return PLAYER if verb == "play" else OWN
    return ""


def _started_by(argv: Sequence[str]) -> str:
    """Return the vendor of the program, or of the one named after a launcher."""
    if not argv:
        return ""
    named = argv[0]
    if _LAUNCHERS.fullmatch(_last(named)):
        named = next((word for word in argv[1:] if not _PASSED_OVER.match(word)), "")
    return _VENDORS.get(_bare(named)) or _in_store(named)


def _in_store(path: str) -> str:
    """Return the vendor of the package that a file belongs to."""
    steps = path.split("/")
    behind = [steps[at + 1 : at + 3] for at, step in enumerate(steps) if step in _STORES]
    names = [_bare(step) for parts in behind for step in parts]
    return next((_VENDORS[name] for name in names if name in _VENDORS), "")


def _bare(name: str) -> str:
    """Strip scope, version, suffix and spelling variants: `@scope/codex-acp@2.6` is `codex-acp`."""
    last = _last(name.strip().lower())
    last = re.split(r"@|==|\[", last)[0] or last
    return re.sub(r"[\s_]+", "-", re.sub(r"\.(js|mjs|cjs|py|exe|cmd)$", "", last))


def _last(path: str) -> str:
    return path.rpartition("/")[2]
