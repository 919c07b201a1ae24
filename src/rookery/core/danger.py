"""Which calls cannot be undone: judged on the command's text, the tool's kind and its paths (row
P4).

This guards against mistakes, not against malice: an agent that wants to hide a command can.
"""

import re
from collections.abc import Iterable

from rookery.core import loose
from rookery.core.events import Json

_COMMANDS: tuple[tuple[str, str], ...] = (
    (r"\brm\s+(-\w+\s+)*-\w*(r\w*f|f\w*r)", "deletes files without a way back (rm -rf)"),
    (r"\brm\s+(?=.*(-r\b|-R\b|--recursive))(?=.*(-f\b|--force))", "deletes files (rm -r -f)"),
    (
        r"\bgit\s+(\S+\s+)*push\b.*(\s-f\b|\s--force\b|\s--force-with-lease\b|\s\+\S)",
        "rewrites a remote's history (git push --force)",
    ),
    (r"\bgit\s+(\S+\s+)*reset\b.*--hard", "drops uncommitted work (git reset --hard)"),
    (r"\bgit\s+(\S+\s+)*clean\b.*\s-\w*f", "deletes untracked files (git clean -f)"),
    (r"\bdd\b.*\bof=", "overwrites a file or a device (dd of=)"),
    (r"\bmkfs(\.\w+)?\b", "makes a file system (mkfs)"),
    (r"\b(chmod|chown)\s+(\S+\s+)*(-\w*R|--recursive)", "changes the rights of a whole tree"),
    (r"\bdrop\s+(table|database)\b", "drops data from a database"),
    (r"\btruncate\b", "empties a file or a table (truncate)"),
    (r">\s*/dev/(?!null\b|stdout\b|stderr\b|tty\b|fd/)", "writes to a device"),
    (r"\b(curl|wget)\b.*\|\s*(sudo\s+)?\w*sh\b", "runs what it downloads (curl | sh)"),
)
_PATTERNS = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), why) for pattern, why in _COMMANDS
)

_HOLY = ("/etc", "/usr", "/bin", "/sbin", "/boot", "/lib")
_WRITES = frozenset({"edit", "delete", "move"})
_TEXT_KEYS = ("command", "cmd", "script", "code", "query", "sql")
_PATH_KEYS = ("path", "file_path", "filePath", "filepath", "filename", "target")


def danger_of(call: Json, roots: Iterable[str], home: str) -> str:
    """Why this tool call wants a second confirmation, in a few words; "" when it does not."""
    for text in _commands(call):
        for pattern, why in _PATTERNS:
            if pattern.search(text):
                return why
    if loose.text(call, "kind") in _WRITES:
        return _paths_danger(_paths(call), tuple(roots), home)
    return ""


def _commands(call: Json) -> list[str]:
    given = call.get("rawInput")
    found = [given] if isinstance(given, str) else []
    for key in _TEXT_KEYS:
        value = loose.mapping(call, "rawInput").get(key)
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            found.append(" ".join(word for word in value if isinstance(word, str)))
    if loose.text(call, "kind") == "execute":
        found.append(loose.text(call, "title"))
    return [text[:20_000] for text in found if text]


def _paths(call: Json) -> list[str]:
    found = [loose.text(place, "path") for place in loose.mappings(call, "locations")]
    found += [loose.text(part, "path") for part in loose.mappings(call, "content")]
    found += [loose.text(loose.mapping(call, "rawInput"), key) for key in _PATH_KEYS]
    return [path for path in found if path.startswith("/")]


def _paths_danger(paths: list[str], roots: tuple[str, ...], home: str) -> str:
    for path in paths:
        plain = normal(path)
        if _below(plain, normal(home + "/.ssh")):
            return f"writes to your keys ({plain})"
        if any(_below(plain, place) for place in _HOLY):
            return f"writes to the system ({plain})"
        if not any(_below(plain, normal(root)) for root in roots):
            return f"writes outside the session's directories ({plain})"
    return ""


def _below(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def normal(path: str) -> str:
    """An absolute path without `.` and `..`, by its text alone."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
