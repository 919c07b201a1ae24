"""The roles of devices, and what each of them may do.

  look     read sessions, follow them, get their notifications
  answer   look, answer asks once, mark sessions as seen
  all      everything

Whatever is not in the table here needs `all`, including routes that are added later."""

import re
from collections.abc import Mapping

from rookery.core.ask import Ask
from rookery.core.json import Json
from rookery.operations.catalogue.finding import find

LOOK, ANSWER, ALL = "look", "answer", "all"
ROLES = (LOOK, ANSWER, ALL)
NAMES = {ALL: "everything", ANSWER: "look and answer", LOOK: "only look"}
MEANING = {
    LOOK: "This device may only look.",
    ANSWER: "This device may look and answer questions, nothing else.",
    ALL: "This device may do everything.",
}
WEBSOCKET = "WEBSOCKET"

_SESSION = "/api/sessions/{session}"
TABLE: Mapping[str, tuple[str, ...]] = {
    LOOK: (
        "GET /",
        "GET /inbox",
        "GET /metrics",
        "GET /search",
        "GET /settings",
        "GET /usage",
        "GET /pieces/fleet",
        "GET /pieces/inbox",
        "GET /pieces/palette",
        "GET /races/{race}",
        "GET /sessions/{session}",
        "GET /sessions/{session}/changes",
        "GET /sessions/{session}/changes/lines",
        "GET /sessions/{session}/file",
        "GET /sessions/{session}/newer",
        "GET /sessions/{session}/older",
        "GET /sessions/{session}/timeline",
        "GET /api/about",
        "GET /api/agents",
        "GET /api/docs",
        "GET /api/events",
        "GET /api/limits",
        "GET /api/openapi.json",
        "HEAD /api/openapi.json",
        "GET /api/push/key",
        "GET /api/races/{race}",
        "GET /api/search",
        "GET /api/sessions",
        "GET /api/trash",
        "GET /api/usage",
        "GET /api/v1/operations",
        "GET /api/v1/sessions",
        f"GET {_SESSION}",
        *(
            f"GET {_SESSION}/{what}"
            for what in (
                *("blobs/{name}", "changes", "diff", "document", "events", "export"),
                *("file", "files", "files/known", "header", "logs/{of}", "merge", "part", "recap"),
                *("rewind", "rewind/undo", "rewind/{turn}", "turns"),
            )
        ),
        f"{WEBSOCKET} /api/stream",
        # Of the device itself: whom else they would be about, the routes refuse.
        "DELETE /api/devices/{device}",
        "POST /api/push/subscriptions",
        "DELETE /api/push/subscriptions",
    ),
    ANSWER: (
        f"POST {_SESSION}/answer",
        f"POST {_SESSION}/commands",  # of which `command_fault` takes answers alone
        f"POST {_SESSION}/seen",
    ),
}
"""The routes that each role adds to the ones below it."""

ANSWERS = frozenset(
    {"do", "id", "ask", "nonce", "option", "reason", "confirm", "action", "content", "cancel"}
    | {"defer"}
)
"""The fields of an answer that is good once."""
ALWAYS = "_always"


def _pattern(route: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route)))


_OPERATION = re.compile(r"(?P<method>GET|POST) /api/v1/(?:sessions/[^/]+/)?(?P<name>[^/]+)")
"""An operation of the catalogue, whose row says who may have it."""
_ALLOWED = {role: [_pattern(route) for route in routes] for role, routes in TABLE.items()}


def may_ask(role: str, method: str, path: str) -> bool:
    """Tell whether a device of this role may send such a request. `method` may also be
    WEBSOCKET."""
    if role == ALL:
        return True
    request = f"{method} {path}"
    allowed = [*_ALLOWED[LOOK], *(_ALLOWED[ANSWER] if role == ANSWER else ())]
    if any(each.fullmatch(request) for each in allowed):
        return True
    operation = _OPERATION.fullmatch(request)
    row = find(operation["name"]) if operation else None
    if operation is None or row is None:
        return False
    if operation["method"] == "POST":
        return row.traits.role == ANSWER == role
    return row.kind == "read" and row.traits.role == LOOK


def command_fault(role: str, command: Json, ask: Ask | None) -> str:
    """Return why a device of this role may not send this command, or "" if it may. `ask` is the one
    that the command answers, in the session's current state."""
    if role == ALL:
        return ""
    if role != ANSWER or command.get("do") != "answer":
        return MEANING.get(role, MEANING[LOOK])
    options = ask.options if ask else ()
    chosen = [each.kind for each in options if each.id == command.get("option")]
    if not command.keys() <= ANSWERS or any(kind.endswith(ALWAYS) for kind in chosen):
        return "This device may answer once, and not for all time."
    return ""
