"""The environment of what a worker starts: the one the session was made in, less what is ours."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rookery.core.json import Json, lenient
from rookery.core.search_path import for_programs

LACKING = "ROOKERY_ENVS_LACKING"
"""Tells our own agent which variables a session was made with and has not now."""

TERMINAL = "ROOKERY_TERMINAL"
"""Names the terminal that a process was started in: by it, what left its process group is found."""

IMAGE_BUILD = "ROOKERY_IMAGE_BUILD"
"""In an image: which build of Rookery it has."""

OURS = frozenset(
    {
        *("ROOKERY_TOKEN", "ROOKERY_PASSPHRASE", "ROOKERY_NONCE", "ROOKERY_SOCKET"),
        *("ROOKERY_MARK", "ROOKERY_CONFINED", TERMINAL, LACKING, IMAGE_BUILD),
    }
)

LOADER = ("LD_", "DYLD_")
"""Prefixes of what changes the code that a process loads: none of it is passed on."""


def cleaned(environment: Mapping[str, str], denied: Iterable[str] = ()) -> dict[str, str]:
    without = OURS.union(denied)
    found = {
        key: value
        for key, value in environment.items()
        if key not in without and not key.startswith(LOADER)
    }
    return found | ({"PATH": for_programs(found["PATH"])} if "PATH" in found else {})


OVERRIDES = ("LLM_MODEL", "LLM_API_KEY", "LLM_BASE_URL")
"""Go over the model that is saved, and are themselves never saved."""

OVERRIDE = "ROOKERY_OVERRIDE_WITH_ENVS"
"""Says that LLM_MODEL, LLM_API_KEY and LLM_BASE_URL go over the model that is saved: what the flag
--override-with-envs sets for all that is started."""


def overriding(environment: Mapping[str, str]) -> bool:
    return environment.get(OVERRIDE, "").strip().lower() in ("1", "true", "yes")


def withheld(environment: Mapping[str, str], *, own: bool) -> list[str]:
    """What is not kept of the environment that a session is made in: overrides of our own agent's
    model (`own`: it is the session's agent). To another agent they are keys like any other."""
    if not own and not overriding(environment):
        return []
    return [name for name in OVERRIDES if environment.get(name, "").strip()]


def completed(
    kept: Mapping[str, str], names: Iterable[str], present: Mapping[str, str]
) -> dict[str, str]:
    """What was kept, with what was withheld as it is now; and what our agent should miss of it."""
    found = {name: present[name] for name in names if present.get(name, "").strip()}
    lacking = [name for name in names if name not in found]
    told = {LACKING: " ".join(lacking)} if lacking and overriding(kept) else {}
    return {**kept, **found, **told}


# --- taken again ---------------------------------------------------------------------------------

OF_A_TERMINAL = frozenset(
    {
        *("_", "PWD", "OLDPWD", "SHLVL", "TERM", "COLORTERM", "COLUMNS", "LINES", "WINDOWID"),
        *("TMUX", "TMUX_PANE", "STY", "GPG_TTY", "VTE_VERSION", "XDG_SESSION_ID", "PS1"),
        *("SSH_TTY", "SSH_CLIENT", "SSH_CONNECTION", "KONSOLE_DBUS_SESSION"),
        *("ROOKERY_HOME", "ROOKERY_WORK_DIR", "ROOKERY_DEBUG", OVERRIDE),
    }
)
"""Differ from one terminal to the next and mean nothing to an agent, or were said by a flag when
the session was made: it keeps its own."""

_PREFIXES = ("TERM_", "ITERM_", "KITTY_", "WEZTERM_", "ALACRITTY_", "GNOME_TERMINAL_", "PYTEST_")


MOST_SAID = 12


class Change(NamedTuple):
    """Names alone: the values are secrets."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def words(self) -> str:
        """For a sentence: "A is new, B has changed, C is gone"."""
        said = [f"{name} is new" for name in self.added]
        said += [f"{name} has changed" for name in self.changed]
        said += [f"{name} is gone" for name in self.removed]
        more = len(said) - MOST_SAID
        return ", ".join([*said[:MOST_SAID], *([f"and {more} more"] if more > 0 else [])])


def renewed(kept: Mapping[str, str], present: Mapping[str, str]) -> tuple[dict[str, str], Change]:
    """The environment of a terminal for a session that has another, and how the two differ."""
    own = {name: value for name, value in kept.items() if _of_a_terminal(name)}
    new = {name: value for name, value in present.items() if not _of_a_terminal(name)} | own
    both = new.keys() & kept.keys()
    change = Change(
        tuple(sorted(new.keys() - kept.keys())),
        tuple(sorted(name for name in both if new[name] != kept[name])),
        tuple(sorted(kept.keys() - new.keys())),
    )
    return new, change


def _of_a_terminal(name: str) -> bool:
    return name in OF_A_TERMINAL or name.startswith(_PREFIXES)


def change_of(value: object) -> Change:
    """As it was written to a file."""
    return Change(*(tuple(lenient.texts(value, field)) for field in Change._fields))


def change_json(change: Change) -> Json:
    return {field: list(names) for field, names in change._asdict().items()}
