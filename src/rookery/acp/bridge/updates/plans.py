"""Plans for an editor. Plans by id are sent as they are if the editor supports them, else as its
one plan, or as a call that shows the text."""

from rookery.acp.bridge.updates import shapes
from rookery.core.blocks.plans import REMOVED
from rookery.core.json import Json, kind_of, lenient


class Plans:
    def __init__(self, *, by_id: bool) -> None:
        """`by_id`: the editor offers to show plans by id."""
        self._by_id = by_id
        self._shown: str | None = None
        """Whose steps the editor shows as its one plan."""
        self._calls: set[str] = set()

    def take(self, update: Json) -> list[Json]:
        match kind_of(update):
            case "plan_update":
                return self._updated(update)
            case "plan_removed":
                return self._removed(update)
        self._shown = None
        return [shapes.plan(update)]

    def _updated(self, update: Json) -> list[Json]:
        plan = lenient.mapping(update, "plan")
        key, items = lenient.text(plan, "planId"), shapes.plan(plan)
        content = _content(plan)
        if self._by_id:
            given = {"type": plan.get("type"), "planId": key}
            if plan.get("type") == "items":
                given["entries"] = items["entries"]
            elif content:
                given |= {name: plan[name] for name in ("content", "uri") if name in plan}
            else:
                return []
            return [{"sessionUpdate": "plan_update", "plan": given}]
        if plan.get("type") == "items":
            self._shown = key
            return [items]
        return [self._call(key, {"content": content})] if content else []

    def _removed(self, update: Json) -> list[Json]:
        key = lenient.text(update, "planId")
        if self._by_id:
            return [{"sessionUpdate": "plan_removed", "planId": key}]
        if key == self._shown:
            self._shown = None
            return [shapes.plan({})]
        return [self._call(key, {"title": REMOVED})] if key in self._calls else []

    def _call(self, key: str, fields: Json) -> Json:
        known = key in self._calls
        self._calls.add(key)
        kind = "tool_call_update" if known else "tool_call"
        first = {} if known else {"title": "Plan", "kind": "think", "status": "completed"}
        return {"sessionUpdate": kind, "toolCallId": f"plan:{key}", **first, **fields}


def _content(plan: Json) -> list[Json]:
    match plan:
        case {"type": "markdown", "content": str(text)}:
            content: Json = {"type": "text", "text": text}
        case {"type": "file", "uri": str(uri)}:
            content = {"type": "resource_link", "uri": uri, "name": uri.rpartition("/")[2] or uri}
        case _:
            return []
    return [{"type": "content", "content": content}]
