"""Rendering tool calls, from what the call states itself and what its agent's profile knows of the
tools.

The profile is used where the call says little; an unknown tool looks like any other."""

from typing import Any

from rookery.core.agent import children
from rookery.core.blocks import parts
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.policy import go_asks
from rookery.core.tools import terminals
from rookery.core.tools.calls import CANCELLED, LEFT, REJECTED, block_of, steps
from rookery.core.tools.names import MCP, is_bare, is_codex_mcp, name_of, readable
from rookery.core.units import duration
from rookery.core.vendors.profiles import Profile

LONGEST_TITLE = 500

STATUS = {"pending": "pending", "in_progress": "running", "completed": "done", "failed": "failed"}
STATUS |= dict.fromkeys(CANCELLED, LEFT[True]) | dict.fromkeys(REJECTED, REJECTED[0])


def fields(call: Json, profile: Profile, *, fresh: bool) -> Json:
    """Return the block fields that a call or an update of it states; any other field stays as it
    was. `fresh`: this is the first update of the call."""
    call = readable(call)
    stated: Json = {}
    # OpenHands tells of a call that it refuses itself by its result alone.
    observed = lenient.text(lenient.mapping(call, "rawOutput"), "tool_name")
    named = (lenient.text(call, "name") or observed)[:LONGEST_TITLE]
    if title := lenient.text(call, "title") or (named if fresh else ""):
        stated["title"] = _title(call, title, profile)[:LONGEST_TITLE]
    elif named:  # codex names a tool when its call is over
        stated["tool"] = named
    if (id := children.cancel_id(call)) is not None:
        stated["actions"] = children.cancel_actions(id)
    if kind := _kind(call, profile, fresh=fresh):
        stated["kind"] = kind[:40]
    if status := lenient.text(call, "status"):
        stated["status"] = STATUS.get(status, status[:40])
    if brought := terminals.result(call):
        stated["parts"] = parts.from_tool_content(brought, call)
    elif isinstance(call.get("content"), list):
        stated["parts"] = parts.from_tool_content(_brought(call, profile), call)
    code = terminals.exit_code(call)
    code = terminals.exit_in_words(call, profile.exit_words) if code is None else code
    if code is not None:
        stated["exit"] = code
    if change := parts.stated(call):
        stated["proposed"] = change
    if isinstance(call.get("locations"), list):
        places = [
            each for each in lenient.mappings(call, "locations") if lenient.text(each, "path")
        ]
        stated["locations"] = [each["path"][:250] for each in places[:20]]
        if places and (line := lenient.integer(places[0], "line")):
            stated["line"] = line
    hidden = profile.judged and go_asks.is_own(
        (name_of(call),)
    )  # a plan: just above, and in the ask
    for key, field in (("rawInput", "input"), ("rawOutput", "output")):
        if call.get(key) not in (None, {}, "") and not hidden:
            stated[field] = parts.fit([{"type": "json", "value": call[key]}], 6_000)[0]
    return stated | _special(call, profile)


def _brought(call: Json, profile: Profile) -> list[Any]:
    """Return a call's content, without the text that is its input."""
    content: list[Any] = call["content"]
    if not profile.writes_input or lenient.text(call, "status") in terminals.ENDED:
        return content
    return [part for part in content if lenient.text(part, "type") != "content"]


def tool_name(call: Json, profile: Profile) -> str:
    """Return the agent's name for the tool, which is not always the one it shows."""
    space, key = profile.tool_name
    named = lenient.text(lenient.mapping(lenient.mapping(call, "_meta"), space), key)
    return named or name_of(call) or lenient.text(call, "title")


def parent(header: Header, call: Json, profile: Profile) -> str | None:
    """Return the block of the call that a sub-agent's call belongs to: named in `_meta` where the
    profile says, or, for an agent without one, under any vendor's key."""
    meta = lenient.mapping(call, "_meta")
    space, key = profile.parent
    named = [(each, "parentToolUseId") for each in meta.values()]
    places = [(meta.get(space), key)] if space else named
    for place, name in places:
        if known := block_of(header, lenient.text(place, name)):
            return known
    return None


def is_sub_agents(update: Json) -> bool:
    """Whether an update is a sub-agent's, that is, belongs to a call, under any vendor's key."""
    meta = lenient.mapping(update, "_meta")
    return any(lenient.text(each, "parentToolUseId") for each in meta.values())


def _title(call: Json, title: str, profile: Profile) -> str:
    """Return `mcp__server__tool` in a readable form."""
    prefixes = profile.mcp
    if is_codex_mcp(call) or (is_bare(title) and name_of(call)):
        title, prefixes = name_of(call), (MCP,)
    for prefix in prefixes:
        server, apart, tool = title.removeprefix(prefix).partition("__")
        if title.startswith(prefix) and server and apart and tool:
            return f"{server}: {tool}"
    return title


def _kind(call: Json, profile: Profile, *, fresh: bool) -> str:
    kind = lenient.text(call, "kind")
    if kind == "execute" and is_codex_mcp(call):
        return "other"
    if kind == "other" or (fresh and not kind):
        return dict(profile.aliases).get(tool_name(call, profile), kind)
    return kind


def _special(call: Json, profile: Profile) -> Json:
    """Return the fields of tools with a look of their own, each only if the profile allows it."""
    given, name = lenient.mapping(call, "rawInput"), tool_name(call, profile)
    match name:
        case "ExitPlanMode" if profile.plan_mode and lenient.text(given, "plan"):
            plan = {"type": "markdown", "text": lenient.text(given, "plan")}
            return {"title": "The plan is ready", "parts": parts.fit([plan])}
        case "TodoWrite" if profile.todos and lenient.sequence(given, "todos"):
            items = steps(given, "todos", 200)
            return {"title": "To do", "parts": parts.fit([{"type": "checklist", "items": items}])}
        case "Skill" if profile.skills and lenient.text(given, "skill"):
            return {"title": f"Skill: {lenient.text(given, 'skill')}"[:LONGEST_TITLE]}
        case "ScheduleWakeup" if profile.wake_ups:
            seconds = lenient.number(given, "delaySeconds")
            return {} if seconds is None else {"title": f"Sleeps for {duration(seconds)}"}
    return {}
