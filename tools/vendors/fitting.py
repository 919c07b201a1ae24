"""Arguments for a tool that fit its own schema: every vendor has other names for the same."""

from typing import Any

from rookery.agent.scripted.conversation import Json

SUB_AGENTS = (
    *("task", "agent", "spawn_agent", "delegate_task", "delegate", "subagent", "run_agent"),
    *("invoke_agent", "dispatch_agent", "invoke_subagent", "generalist", "codebase_investigator"),
)
"""What vendors call the tool that starts a sub-agent, in lower case."""

PLANS = (
    *("todowrite", "todo_write", "write_todos", "update_plan", "todo", "todolist", "set_todo_list"),
    *("settodolist", "task_tracker", "manage_todo_list", "taskcreate"),
)
"""And the one that writes a plan."""

PREFERRED = (
    *("generalist", "general-purpose", "general", "codebase_investigator", "default", "coder"),
    *("plan", "write", "update", "pending"),
)
"""Of several values, if it is among them."""

USUAL = {"status": "pending", "priority": "medium", "id": "1"}
"""For a text that has a meaning."""


CONTENT = ("message", "prompt", "goal", "task", "content", "title")
"""What a tool is given that requires nothing."""
LISTS = ("todos", "plan", "task_list", "tasks", "command")
"""Of a tool that writes a plan, also where they are not required."""

BACKGROUND = ("run_in_background", "is_background", "background")
"""Waited for instead, so that what it says comes in its turn."""


def tool_among(tools: list[Json], names: tuple[str, ...]) -> Json | None:
    """The first of these tools that has one of the names, in the order of the names."""
    known = {str(tool.get("name", "")).lower(): tool for tool in reversed(tools)}
    return next((known[name] for name in names if name in known), None)


def arguments_for(tool: Json, text: str) -> Json:
    """A value for each of its parameters that it requires; each free text is `text`."""
    schema = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
    about = f"{tool.get('description', '')} {schema}"
    kind = next((name for name in PREFERRED if name in about), PREFERRED[0])
    made = _value(schema, text, "", kind)
    return made if isinstance(made, dict) else {}


def _value(schema: Json, text: str, name: str, agent: str) -> Any:
    """`agent`: the kind of sub-agent, where one is to be named."""
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return _value({**schema, key: None, **schema[key][0]}, text, name, agent)
    if "const" in schema:
        return schema["const"]
    if values := schema.get("enum"):
        return next((each for each in PREFERRED if each in values), values[0])
    kind = schema.get("type")
    kind = str(kind[0] if isinstance(kind, list) else kind).lower()
    match kind:
        case "array":
            return [_value(schema.get("items") or {}, text, name, agent)]
        case "boolean":
            return False
        case "integer" | "number":
            return 1
    if schema.get("properties"):
        known = schema["properties"]
        wanted = schema.get("required") or [key for key in CONTENT if key in known][:1]
        if not any(key in CONTENT for key in wanted):
            wanted = [*wanted, *(key for key in LISTS if key in known and key not in wanted)]
        made = {key: _value(known.get(key, {}), text, key, agent) for key in wanted}
        return made | {key: False for key in BACKGROUND if key in known}
    if kind == "object":
        return {}
    named = name.lower().removesuffix("_name").removesuffix("_type")
    return agent if named in ("subagent", "agent") else USUAL.get(name, text)
