"""The environment of the processes a worker starts: that in which the session was made, without
Rookery's own variables."""

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
    kept = {
        key: value
        for key, value in environment.items()
        if key not in without and not key.startswith(LOADER)
    }
    return kept | ({"PATH": for_programs(kept["PATH"])} if "PATH" in kept else {})


OVERRIDES = ("LLM_MODEL", "LLM_API_KEY", "LLM_BASE_URL")
"""Go over the model that is saved, and are themselves never saved."""

OVERRIDE = "ROOKERY_OVERRIDE_WITH_ENVS"
"""Says that LLM_MODEL, LLM_API_KEY and LLM_BASE_URL go over the model that is saved: what the flag
--override-with-envs sets for all that is started."""


def overriding(environment: Mapping[str, str]) -> bool:
    return environment.get(OVERRIDE, "").strip().lower() in ("1", "true", "yes")


def withheld(environment: Mapping[str, str], *, own: bool) -> list[str]:
    """Return the variables not saved with the environment in which a session is made: overrides of
    our own agent's model (`own`: it is the session's agent). For another agent they are ordinary
    keys."""
    if not own and not overriding(environment):
        return []
    return [name for name in OVERRIDES if environment.get(name, "").strip()]


def completed(
    kept: Mapping[str, str], names: Iterable[str], present: Mapping[str, str]
) -> dict[str, str]:
    """Return what was kept, with the present values of what was withheld; and, for our own agent,
    the names of what is missing."""
    restored = {name: present[name] for name in names if present.get(name, "").strip()}
    lacking = [name for name in names if name not in restored]
    marker = {LACKING: " ".join(lacking)} if lacking and overriding(kept) else {}
    return {**kept, **restored, **marker}


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
    """The difference between two environments, names only: the values are secrets."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def describe(self) -> str:
        """Describe the change as part of a sentence: "A is new, B has changed, C is gone"."""
        parts = [f"{name} is new" for name in self.added]
        parts += [f"{name} has changed" for name in self.changed]
        parts += [f"{name} is gone" for name in self.removed]
        more = len(parts) - MOST_SAID
        return ", ".join([*parts[:MOST_SAID], *([f"and {more} more"] if more > 0 else [])])


def renewed(kept: Mapping[str, str], present: Mapping[str, str]) -> tuple[dict[str, str], Change]:
    """Return a terminal's environment for a session that has another, and how the two differ.
    Variables that belong to a terminal stay the session's own."""
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
    """Parse a change as it was written to a file."""
    return Change(*(tuple(lenient.texts(value, field)) for field in Change._fields))


def change_json(change: Change) -> Json:
    return {field: list(names) for field, names in change._asdict().items()}
