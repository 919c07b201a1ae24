"""Which calls cannot be undone: judged on the command's text, the tool's kind and its paths (row
P4).

This guards against mistakes, not against malice: an agent that wants to hide a command can.
"""

import re
from collections.abc import Iterable
from itertools import islice

from rookery.core import loose
from rookery.core.events import Json

# Of one command: up to the next separator. All repeats are bounded, so that a text that was made to
# be hard cannot hold a worker.
_MORE = r"[^;&|\n]{0,500}?"
_GIT = r"\bgit\s+(\S{1,200}\s+){0,8}"

_COMMANDS: tuple[tuple[str, str], ...] = (
    (
        rf"(?<![\w-])rm(?={_MORE}\s(-[a-z]{{0,9}}r|--recursive\b))"
        rf"(?={_MORE}\s(-[a-z]{{0,9}}f|--force\b))",
        "deletes files without a way back (rm -rf)",
    ),
    (
        rf"{_GIT}push\b{_MORE}\s(-[a-z]{{0,5}}f[a-z]{{0,5}}\b|--force\b|\+\S)",
        "rewrites a remote's history (git push --force)",
    ),
    (rf"{_GIT}reset\b{_MORE}\s--hard\b", "drops uncommitted work (git reset --hard)"),
    (rf"{_GIT}clean\b{_MORE}\s-[a-z]{{0,9}}f", "deletes untracked files (git clean -f)"),
    (rf"\bdd\b{_MORE}\bof=", "overwrites a file or a device (dd of=)"),
    (r"\bmkfs(\.\w{1,20})?\b", "makes a file system (mkfs)"),
    (
        rf"\b(chmod|chown)\b{_MORE}\s(-[a-zA-Z]{{0,9}}(?-i:R)|--recursive\b)",
        "changes the rights of a whole tree",
    ),
    (r"\bdrop\s{1,9}(table|database)\b", "drops data from a database"),
    (r"(?<![\w.-])truncate\s{1,9}[\w-]", "empties a file or a table (truncate)"),
    (r">\s{0,9}/dev/(?!null\b|stdout\b|stderr\b|tty\b|fd/)", "writes to a device"),
    (
        r"(>|\btee\s(-\S{1,20}\s)?)\s{0,9}(/etc/|/usr/|(~|\$HOME)/\.ssh\b)",
        "writes to the system or to your keys",
    ),
    (
        r"\b(curl|wget)\b[^;\n]{0,500}?\|\s{0,9}(sudo\s{1,9}(-\S{1,20}\s{1,9}){0,4})?\w{0,5}sh\b",
        "runs what it downloads (curl | sh)",
    ),
    (
        r"\b\w{0,5}sh\b[^;\n]{0,40}?(<\(|\$\(|`)\s{0,9}(curl|wget)\b",
        "runs what it downloads (curl | sh)",
    ),
)
_PATTERNS = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), why) for pattern, why in _COMMANDS
)

LONGEST = 100_000
"""Characters of a command that are judged."""

MOST_PATHS = 1000
"""Of a call that are judged, and words of its command."""
LONGEST_PATH = 4096
UNKNOWN = "?"

_HOLY = ("/etc", "/usr", "/bin", "/sbin", "/boot", "/lib")
_WRITES = frozenset({"edit", "delete", "move"})
TEXT_KEYS = ("command", "cmd", "script", "code", "query", "sql")
_PATH_KEYS = ("path", "file_path", "filePath", "filepath", "filename", "target")


def danger_of(call: Json, roots: Iterable[str], home: str) -> str:
    """Why this tool call wants a second confirmation, in a few words; "" when it does not."""
    for text in _commands(call):
        for pattern, why in _PATTERNS:
            if pattern.search(text):
                return why
    if loose.text(call, "kind") in _WRITES:
        known = tuple(roots)
        return _paths_danger(paths_of(call, known, home), known, home)
    return ""


def gist(call: Json) -> Json:
    """What of a tool call, or of its update, says how dangerous it is: its size is bounded."""
    found: Json = {key: call[key][:LONGEST] for key in ("title", "kind") if loose.text(call, key)}
    if name := _tool_name(call):
        found["name"] = name[:LONGEST_PATH]
    given = call.get("rawInput")
    if isinstance(given, str):
        found["rawInput"] = given[:LONGEST]
    elif isinstance(given, dict):
        kept = {key: given[key] for key in (*TEXT_KEYS, *_PATH_KEYS, "args") if key in given}
        found["rawInput"] = {key: _short(value) for key, value in kept.items()}
        if given and not kept:  # it says something that nobody here understands
            found["rawInput"] = {UNKNOWN: True}
    for key in ("locations", "content"):
        if key in call and call[key] is not None:
            parts = islice(loose.mappings(call, key), MOST_PATHS)
            paths = (loose.text(part, "path") for part in parts)
            found[key] = [{"path": path[:LONGEST_PATH]} for path in paths if path]
    return found


def _tool_name(call: Json) -> str:
    """As its agent calls it: of an MCP server's tool the only thing that does not change."""
    spaces = loose.mapping(call, "_meta").values()
    named = [loose.text(call, "name"), *(loose.text(space, "toolName") for space in spaces)]
    return next((name for name in named if name), "")


def _short(value: object) -> object:
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, list):
        words = [word[:LONGEST] for word in value[:MOST_PATHS] if isinstance(word, str)]
        return words if sum(map(len, words)) <= LONGEST else [" ".join(words)[:LONGEST]]
    return None


def _commands(call: Json) -> list[str]:
    given = call.get("rawInput")
    found = [given] if isinstance(given, str) else []
    for key in TEXT_KEYS:
        value = loose.mapping(call, "rawInput").get(key)
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            found.append(" ".join(word for word in value if isinstance(word, str)))
    words = loose.texts(call.get("rawInput"), "args")
    if found and words:  # a program and its arguments apart
        found.append(" ".join([found[-1], *words]))
    if loose.text(call, "kind") == "execute":
        found.append(loose.text(call, "title"))
    return [text[:LONGEST] for text in found if text]


def paths_of(call: Json, roots: tuple[str, ...], home: str) -> list[str]:
    """What a call says that it reads or writes; absolute."""
    found = [loose.text(place, "path") for place in loose.mappings(call, "locations")]
    found += [loose.text(part, "path") for part in loose.mappings(call, "content")]
    found += [loose.text(call.get("rawInput"), key) for key in _PATH_KEYS]
    return absolute(found, roots, home)


def absolute(found: Iterable[str], roots: tuple[str, ...], home: str) -> list[str]:
    """A person's `~` and what is relative to the session's directory included."""
    whole = [home + path[1:] if path.startswith("~/") else path for path in found if path]
    cwd = roots[0] if roots else "/"
    return [path if path.startswith("/") else f"{cwd}/{path}" for path in whole]


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
