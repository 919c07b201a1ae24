"""Finds and reads a project's `hooks.json`, once: what the user is asked about is exactly what
runs.

It is looked for in the session's directory only, not above it, below it or in its other roots."""

import json
import os
import re
import stat
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from rookery.client.project_hooks import named
from rookery.core.json import Json, lenient
from rookery.core.json.files import Unusable, parse
from rookery.core.policy.hook_asks import GUARD
from rookery.sandbox.git import repository_of

FILE = "hooks.json"
FOLDERS = (".openhands", ".rookery")
"""Below a session's directory."""
LARGEST = 1_000_000
"""Bytes of a file."""
MAX_SCRIPT_LENGTH = 20_000
"""Most characters of all commands together: more is too much to read."""


class Hook(NamedTuple):
    kind: str
    matcher: str
    command: str
    """Or else, of one that asks a model, all that is said of it."""


class HookFile(NamedTuple):
    project: str
    """Its repository, which its worktrees share; without one, its directory."""
    cwd: str
    root: str
    tables: tuple[tuple[str, Json], ...]
    """What each file says, by its path."""
    hooks: tuple[Hook, ...]
    files: dict[str, str]
    """Those that the commands name, each as it was."""
    fingerprint: str
    fault: str = ""
    """Why nobody can trust them; "": the user may."""

    @property
    def guards(self) -> bool:
        """Whether one of the hooks may be a safeguard: it can refuse what the agent wants to do."""
        return any(hook.kind == GUARD for hook in self.hooks)

    def changed(self) -> bool:
        """Tell whether a file that the hooks name has changed since."""
        try:
            return _named(self.hooks, self.cwd, self.root) != self.files
        except named.TooMuch:
            return True

    def script(self) -> str:
        """Return all commands as a script, with the event of each hook as a comment."""
        lines = []
        for hook in self.hooks:
            on = "" if hook.matcher in ("", "*") else f" of {hook.matcher}"
            lines += [f"# {hook.kind}{on}".replace("\n", " "), hook.command]
        if self.files:
            lines.append("# with these files as they are now: " + ", ".join(self.files))
        return "\n".join(lines)


def find(home: str, cwd: str) -> HookFile | None:
    """Return a directory's hooks, or None if it has no such file. Raises Unusable."""
    cwd = os.path.realpath(cwd)
    root, project = repository_of(cwd)
    own = os.path.realpath(os.path.join(home, FILE))
    tables, content = [], []
    for folder in FOLDERS:
        path = os.path.join(cwd, folder, FILE)
        if os.path.realpath(path) == own or (data := _read(path)) is None:
            continue
        tables.append((path, parse(data, path)))
        content.append([os.path.relpath(path, root), sha256(data).hexdigest()])
    hooks = tuple(hook for _, table in tables for hook in _hooks(table))
    if not tables:
        return None
    files, fault = dict[str, str](), ""
    try:
        files = _named(hooks, cwd, root)
    except named.TooMuch as error:
        fault = str(error)
    whole = json.dumps([os.path.relpath(cwd, root), content, files], sort_keys=True)
    project_hooks = HookFile(
        *(project, cwd, root, tuple(tables), hooks, files),
        sha256(whole.encode()).hexdigest(),
        fault,
    )
    too_long = not fault and len(project_hooks.script()) > MAX_SCRIPT_LENGTH
    return (
        project_hooks._replace(fault="their commands are too long to be shown")
        if too_long
        else project_hooks
    )


def _named(hooks: tuple[Hook, ...], cwd: str, root: str) -> dict[str, str]:
    return named.digests((hook.command for hook in hooks), cwd, root)


def _read(path: str) -> bytes | None:
    """Return the file's bytes, or None if there is no such file. Raises Unusable."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}.") from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Unusable(f"{path} is not a file.")
    with os.fdopen(file, "rb") as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Unusable(f"{path} has more than {LARGEST // 1_000_000} MB.")
    return data


def _hooks(table: Json) -> Iterator[Hook]:
    """Yield the hooks, read as leniently as any program might: what is malformed is refused
    elsewhere."""
    inner = table.get("hooks", table)
    for key, matchers in (inner if isinstance(inner, dict) else {}).items():
        kind = kind_of(str(key))
        for matcher in matchers if isinstance(matchers, list) else []:
            on = lenient.text(matcher, "matcher")
            for hook in lenient.mappings(matcher, "hooks"):
                yield Hook(kind, on, _command(hook))


def kind_of(key: str) -> str:
    """Convert a hook's key to its current name: PreToolUse becomes pre_tool_use."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", key).lower()


def _command(hook: Any) -> str:
    if command := lenient.text(hook, "command"):
        return command
    return "# " + json.dumps(hook, ensure_ascii=False)
