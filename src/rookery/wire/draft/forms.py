"""The JSON forms that differ between version 1 and draft 2, each translated both ways. Unknown
fields are kept as they came."""

import difflib
import re
from collections.abc import Iterable
from typing import Any

from rookery.core.json import lenient
from rookery.core.tools.git_patches import hunks

type Json = dict[str, Any]

PROMPTS = ("image", "audio", "embeddedContext")
SESSIONS = ("delete", "additionalDirectories", "systemPrompt", "fork", "archive", "status", "title")
BASELINE: Json = {"list": {}, "resume": {}, "close": {}}
"""The session capabilities that every agent of the draft has."""

STATUSES = {"paused": "in_progress", "cancelled": "failed"}
"""The statuses of tool calls that version 1 does not have, and what replaces them."""

WHOLE_DIFF = 200_000
"""Characters of a file's two sides of which a patch is made; more is only named."""


def renamed(given: Json, **names: str) -> Json:
    """Return the object with some keys renamed."""
    return {names.get(key, key): value for key, value in given.items()}


def without(given: Json, *keys: str) -> Json:
    return {key: value for key, value in given.items() if key not in keys}


def meta(given: object) -> Json:
    fields = lenient.mapping(given, "_meta")
    return {"_meta": fields} if fields else {}


# --- capabilities ---------------------------------------------------------------------------------


def client_2(params: Json) -> Json:
    """Translate our `initialize` for an agent of the draft."""
    offers = lenient.mapping(params, "clientCapabilities")
    can: Json = meta(offers)
    if isinstance(offers.get("elicitation"), dict):
        can["elicitation"] = offers["elicitation"]
    if auth := lenient.mapping(offers, "auth"):
        can["auth"] = meta(auth) | ({"terminal": {}} if auth.get("terminal") is True else {})
    info = {"name": "rookery", "version": "unknown", **lenient.mapping(params, "clientInfo")}
    return {"protocolVersion": 2, "info": info, "capabilities": can}


def client_1(params: Json) -> Json:
    """Translate a client's `initialize` to version 1. What is optional in 1 and required of
    everyone in 2 is offered."""
    offers = lenient.mapping(params, "capabilities")
    auth = lenient.mapping(offers, "auth")
    can: Json = without(offers, "auth", "_meta") | {
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "auth": meta(auth) | {"terminal": isinstance(auth.get("terminal"), dict)},
        "plan": {},
    }
    own = lenient.mapping(lenient.mapping(offers, "_meta"), "rookery")
    can["_meta"] = lenient.mapping(offers, "_meta") | {"rookery": {**own, "turns": True}}
    return {"protocolVersion": 1, "clientInfo": params["info"], "clientCapabilities": can}


def agent_1(result: Json) -> Json:
    """Translate an agent's response to `initialize`."""
    given = lenient.mapping(result, "capabilities")
    session = given.get("session")
    known = session if isinstance(session, dict) else {}
    takes, servers = lenient.mapping(known, "prompt"), lenient.mapping(known, "mcp")
    can: Json = without(given, "session") | {
        "loadSession": isinstance(session, dict),
        "promptCapabilities": {key: isinstance(takes.get(key), dict) for key in PROMPTS},
        "mcpCapabilities": {key: isinstance(servers.get(key), dict) for key in ("http", "acp")},
        "sessionCapabilities": BASELINE | {key: known[key] for key in SESSIONS if key in known},
    }
    methods = [renamed(each, methodId="id") for each in lenient.mappings(result, "authMethods")]
    for each in methods:
        if isinstance(each.get("env"), list):
            pairs = lenient.mappings(each, "env")
            each["env"] = {lenient.text(one, "name"): lenient.text(one, "value") for one in pairs}
    if methods:  # who can log in can log out, in the draft
        can["auth"] = {**lenient.mapping(given, "auth"), "logout": {}}
    response: Json = {"protocolVersion": 2, "agentInfo": result["info"], "agentCapabilities": can}
    return response | {"authMethods": methods} | meta(result)


def agent_2(result: Json) -> Json:
    given = lenient.mapping(result, "agentCapabilities")
    takes, servers = (lenient.mapping(given, f"{key}Capabilities") for key in ("prompt", "mcp"))
    known = lenient.mapping(given, "sessionCapabilities")
    session: Json = {key: known[key] for key in SESSIONS if key in known}
    session["prompt"] = {key: {} for key in PROMPTS if takes.get(key) is True}
    session["mcp"] = {"stdio": {}} | {
        key: {} for key in ("http", "acp") if servers.get(key) is True
    }
    can: Json = {"session": session, **meta(given)}
    can |= {"providers": given["providers"]} if "providers" in given else {}
    auth = lenient.mapping(given, "auth")
    can |= {"auth": without(auth, "logout")} if auth else {}
    response: Json = {"protocolVersion": 2, "info": result["agentInfo"], "capabilities": can}
    methods = [_method_2(each) for each in lenient.mappings(result, "authMethods")]
    if methods and auth.get("logout") is not None:  # as above
        response["authMethods"] = methods
    return response | meta(result)


def _method_2(given: Json) -> Json:
    method = {"type": "agent", **renamed(given, id="methodId")}
    if isinstance(method.get("env"), dict):
        pairs = method["env"].items()
        method["env"] = [{"name": name, "value": value} for name, value in pairs]
    return method


def servers_1(params: Json) -> Json:
    """Translate a request that opens a session, with the MCP servers that it brings."""
    entries = [_server_1(each) for each in lenient.mappings(params, "mcpServers")]
    return {**params, "mcpServers": entries}


def _server_1(given: Json) -> Json:
    if given.get("type") != "stdio":
        return {"headers": [], **given} if given.get("type") == "http" else given
    return {"args": [], "env": [], **without(given, "type")}


def servers_2(params: Json, takes: Json) -> Json:
    """Translate the MCP servers of a request. `takes`: the transports that the agent supports."""
    entries = [{"type": "stdio", **each} for each in lenient.mappings(params, "mcpServers")]
    return {
        **params,
        "mcpServers": [each for each in entries if takes.get(each["type"]) is not None],
    }


# --- options and commands -------------------------------------------------------------------------


def options_1(given: Iterable[Json]) -> list[Json]:
    return [_option(each, ("configId", "id"), ("groupId", "group")) for each in given]


def options_2(given: Iterable[Json]) -> list[Json]:
    return [_option(each, ("id", "configId"), ("group", "groupId")) for each in given]


def _option(given: Json, id: tuple[str, str], group: tuple[str, str]) -> Json:
    option = renamed(given, **dict([id]))
    if isinstance(option.get("options"), list):
        listed = lenient.mappings(option, "options")
        option["options"] = [renamed(each, **dict([group])) for each in listed]
    return option


def commands_1(given: Iterable[Json]) -> list[Json]:
    commands = []
    for each in given:
        command, input = without(each, "type", "input"), lenient.mapping(each, "input")
        commands.append(command | ({"input": without(input, "type")} if input else {}))
    return commands


def commands_2(given: Iterable[Json]) -> list[Json]:
    commands = []
    for each in given:
        command, input = {"type": "command", **each}, lenient.mapping(each, "input")
        commands.append(command | ({"input": {"type": "text", **input}} if input else {}))
    return commands


# --- tool calls -----------------------------------------------------------------------------------

CLEARED: Json = {"kind": "other", "status": "pending", "content": [], "locations": []}
"""The values that null stands for in a patch; in version 1 null means no change."""


def call_1(given: Json) -> Json:
    call = {key: CLEARED.get(key) if value is None else value for key, value in given.items()}
    call = {key: value for key, value in call.items() if value is not None}
    if isinstance(status := call.get("status"), str):
        call["status"] = STATUSES.get(status, status)
    if isinstance(content := call.get("content"), list):
        call["content"] = [part for each in content for part in part_1(each)]
    return without(call, "capabilities")


def part_1(part: object) -> list[Json]:
    """Translate a diff of the draft, a patch of several files, to one diff for each hunk, and text
    for each file that the patch leaves out."""
    if not isinstance(part, dict) or part.get("type") != "diff" or "newText" in part:
        return [part] if isinstance(part, dict) else []
    changes = list(lenient.mappings(part, "changes"))
    paths = {_bare(lenient.text(each, "path")): lenient.text(each, "path") for each in changes}
    diffs: list[Json] = []
    for hunk in hunks(lenient.text(lenient.mapping(part, "patch"), "text")):
        path = paths.get(_bare(hunk.path), hunk.path)
        diffs.append({"type": "diff", "path": path, "oldText": hunk.old, "newText": hunk.new})
    shown = [each["path"] for each in diffs]
    left = [each for each in changes if lenient.text(each, "path") not in shown]
    return diffs + [{"type": "content", "content": _named(each)} for each in left]


def _bare(path: str) -> str:
    """Strip the leading slash, which git's own patches leave out."""
    return path.lstrip("/")


def _named(change: Json) -> Json:
    names = [lenient.text(change, key) for key in ("oldPath", "path")]
    text = f"{lenient.text(change, 'operation')}: {' → '.join(filter(None, names))}"
    return {"type": "text", "text": text}


def call_2(given: Json) -> Json:
    call = without(given, "sessionUpdate")
    if isinstance(call.get("content"), list):
        call["content"] = [_part_2(each) for each in lenient.mappings(call, "content")]
    return call


def _part_2(part: Json) -> Json:
    if part.get("type") != "diff" or "newText" not in part:
        return part
    path, old, new = part["path"], part.get("oldText"), part["newText"]
    operation = "modify" if isinstance(old, str) else "add"
    diff: Json = {"type": "diff", **meta(part)}
    diff["changes"] = [{"operation": operation, "path": path, "fileType": "text"}]
    if len(new) + len(old or "") <= WHOLE_DIFF:
        text = _patch(path, old if isinstance(old, str) else None, new)
        diff["patch"] = {"format": "git_patch", "text": text}
    return diff


_UNENDED = r"\ No newline at end of file"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def _patch(path: str, old: str | None, new: str) -> str:
    name = path.lstrip("/")
    head = f"diff --git a/{name} b/{name}\n" + ("new file mode 100644\n" if old is None else "")
    sides = _LINE.findall(old or ""), _LINE.findall(new)
    names = ("/dev/null" if old is None else f"a/{name}", f"b/{name}")
    rows = difflib.unified_diff(*sides, *names)
    ended = (row if row.endswith("\n") else f"{row}\n{_UNENDED}\n" for row in rows)
    return head + "".join(ended)
