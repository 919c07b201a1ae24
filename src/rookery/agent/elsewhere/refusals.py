"""Actions that are not run on an agent server: those that its tools would turn into more than they
look like, and those of a step of which one was rejected."""

from collections.abc import Sequence

from openhands.sdk.event import ActionEvent, AgentErrorEvent, Event, UserRejectObservation
from openhands.sdk.event.error_classification import AGENT_OUTCOME
from openhands.sdk.skills import Skill
from openhands.tools.terminal import TerminalTool

from rookery.agent.process.place import Place
from rookery.agent.tools.families import GLOB, GREP
from rookery.agent.translate.rejection import REASON
from rookery.core.asks.asks import Judgement
from rookery.core.policy.auto_answer import DENIED
from rookery.core.policy.planning import FORBIDDEN

BY = "agent server"
NO_SHELL = "commands are not run on an agent server. View files with the editor, search with grep."
"""Their shell has what earlier commands set: an alias may hide anything."""
DASH = "its search would take this for an option. Write [-] instead of the first -."
RELATIVE = "its search needs an absolute path."
OTHERS = "The other calls of this step were not run either. Make those again that you still need."
CUT_OFF = (
    "The agent server died before this had a result. It may have taken effect: check before you "
    "repeat it."
)
RESTARTED = "[The agent server was restarted] Its shells are new."
UNASKED = (
    "The agent server ran {tool} without waiting for your permission, so the turn was ended. "
    "Unless another client of that server allowed it, do not use the server for work that needs "
    "permission."
)
NOT_RUN = "Not run, since another call of the same step was rejected."


def judged(action: ActionEvent, *, plans: bool) -> Judgement | None:
    """Return a refusal that stands whatever the user and the rules say; None if they decide."""
    if action.tool_name == TerminalTool.name and plans:
        return Judgement("deny", BY, FORBIDDEN, NO_SHELL)
    if action.tool_name not in (GREP, GLOB) or action.action is None:
        return None
    given = action.action.model_dump()
    if str(given.get("pattern") or "").startswith("-"):
        return Judgement("deny", BY, "refused for the agent server", DASH)
    path = str(given.get("path") or "")
    if path and not path.startswith("/"):
        return Judgement("deny", BY, "refused for the agent server", RELATIVE)
    return None


def error_of(call: ActionEvent | UserRejectObservation, message: str) -> AgentErrorEvent:
    """Return an error as a call's result, for a failure that nobody chose."""
    return AgentErrorEvent(
        error=message,
        tool_name=call.tool_name,
        tool_call_id=call.tool_call_id,
        classification=AGENT_OUTCOME,
    )


def as_text(skill: Skill, place: Place, cwd: str) -> Skill:
    """Return a skill that is safe to send: the server's SDK would run each !`command` in it, and
    start its MCP servers, before anybody could judge that. Its other files are over there if they
    belong to the project."""
    below = (skill.source or "").removeprefix(cwd.rstrip("/") + "/")
    own = f"{place.where(cwd).rstrip('/')}/{below}" if below != skill.source else None
    content = skill.content.replace("!`", "! `")
    return skill.model_copy(update={"content": content, "mcp_tools": None, "source": own})


class Rejections:
    """One step's rejections. The server takes one for all its actions, as the user's."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}
        self._shown: dict[str, str] = {}

    def add(self, action: str, reason: str) -> None:
        self._reasons.setdefault(action, reason)

    def has(self, action: str) -> bool:
        return action in self._reasons

    def settle(self, pending: Sequence[ActionEvent]) -> str:
        """Return what the model is told, once all are answered for; "" if all may run."""
        reasons, self._reasons = self._reasons, {}
        if not reasons:
            return ""
        self._shown = {each.id: reasons.get(each.id, NOT_RUN) for each in pending}
        lines = list(dict.fromkeys(reasons.values()))
        if len(reasons) < len(pending):
            names = {each.id: each.tool_name for each in pending}
            lines = [f"{names.get(id, 'A call')}: {why}" for id, why in reasons.items()]
            lines.append(OTHERS)
        return "\n".join(lines)

    def shown(self, event: UserRejectObservation) -> Event:
        """Return a rejection as the user should see it: with the reason for this action, and as
        rejected by the user only if it was."""
        reason = self._shown.pop(event.action_id, event.rejection_reason)
        if reason.startswith((REASON, DENIED, FORBIDDEN.capitalize())):
            return event.model_copy(update={"rejection_reason": reason})
        same = {"id": event.id, "timestamp": event.timestamp, "parent_id": event.parent_id}
        return error_of(event, reason).model_copy(update=same)
