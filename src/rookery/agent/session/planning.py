"""Plan mode in a session: the instructions for the model, when its plan is ready, and how the
user's "go" carries on with it. For what is refused meanwhile, see `auto_answer`."""

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from openhands.sdk import Message, TextContent
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import ActionEvent, MessageEvent
from openhands.sdk.tool.builtins import FinishAction

from rookery.agent import private
from rookery.agent.conversation.choices import (
    ALWAYS_APPROVE,
    ALWAYS_ASK,
    MODE_OF,
    PLAN,
    RISK_BASED,
)
from rookery.agent.session import asks
from rookery.core.json import Json
from rookery.core.policy import approvals, go_asks, modes

if TYPE_CHECKING:
    from rookery.agent.session.session import Session
    from rookery.agent.session.slash_commands import SlashCommand

type Parts = list[tuple[str, str]]

BRIEF = """\
[Plan mode] The user wants a plan before anything is changed. You can read files{looks}; the \
rest is refused, also for sub-agents. Ask what you must know. When you know enough, answer with \
the plan: the heading `# Plan`, then numbered steps that name the files to change, what changes, \
and how the result is checked. Do not carry it out: the user decides that. If the user only asks \
a question, answer it without a plan."""
SHELL = ", search, and run commands that only look (ls, cat, grep, git log)"
NO_SHELL = " and search, with the tools for that; no command is run"
OVER = "[Plan mode is over] You may change things again."
GO = "Carry out the plan now."
KEEP = "keep-planning"
OPTIONS: list[Json] = [
    {"optionId": ALWAYS_ASK, "name": f"Go, {approvals.WORDS[modes.EVERY]}", "kind": "allow_once"},
    {"optionId": RISK_BASED, "name": f"Go, {approvals.WORDS[modes.RISKY]}", "kind": "allow_always"},
    {
        "optionId": ALWAYS_APPROVE,
        "name": f"Go, {approvals.WORDS[modes.ALL]}",
        "kind": "allow_always",
    },
    {"optionId": KEEP, "name": "Keep planning", "kind": "reject_once"},
]
WORDS = {option["optionId"]: option["name"] for option in OPTIONS}
TITLE = "carry out the plan"
KEPT = "keep planning"
"""Its title once the user wants that."""
UNDECIDED = "Not decided"
LOOKED_AT = 20
"""Events at the end among which the model's last words are."""


class Plan(NamedTuple):
    id: str
    text: str
    """From its heading on."""


def prompt_in(session: "Session", command: "SlashCommand", parts: Parts) -> Parts | None:
    """Return the prompt for the model of `/plan WORDS` and `/go`, whose mode is set; None for
    another command, or one that the agent answers itself."""
    if command.name == "plan" and command.rest:
        session.choose("mode", PLAN)
        return [("text", command.rest), *parts[1:]]
    if command.name != "go" or session.choices.wanted.mode != PLAN:
        return None
    first, _, rest = command.rest.partition(" ")
    mode = MODE_OF.get(modes.value_of(first) or "", "")
    session.choose("mode", mode or session.record.before_plan or ALWAYS_ASK)
    more = rest if mode else command.rest
    return [("text", f"{GO} {more}".rstrip()), *parts[1:]]


def brief(session: "Session") -> str:
    """Return what to tell the model about its mode, before the user's prompt; "": nothing."""
    plans, was_told = session.choices.wanted.mode == PLAN, session.record.told_plan
    if plans != was_told:
        session.keep(told_plan=plans)
    looks = SHELL if session.has_shell_in_plan_mode else NO_SHELL
    return BRIEF.format(looks=looks) if plans else OVER if was_told else ""


def tell(session: "Session", text: str) -> None:
    """Add text that is not the user's, which the model is to answer. Blocks."""
    add(session, text)
    session.running.state.execution_status = Status.IDLE


def add(session: "Session", text: str) -> None:
    """Add text that is not the user's, before a message that follows. Blocks."""
    conversation = session.running
    message = Message(role="user", content=[TextContent(text=text)])
    with conversation.state:
        event = MessageEvent(source="environment", llm_message=message)
        private.add_event(conversation, event)


def ready(session: "Session") -> Plan | None:
    """Return the plan with which the model ended; None if it only answered, or plans no longer."""
    if session.choices.wanted.mode != PLAN:
        return None
    for event in reversed(session.running.state.active_branch(limit=LOOKED_AT)):
        text = _message(event)
        if text is not None:
            heading = go_asks.HEADING.search(text)
            return Plan(event.id, text[heading.start() :].strip()) if heading else None
        if isinstance(event, MessageEvent) and event.source == "user":
            return None
    return None


def _message(event: Any) -> str | None:
    """Return the model's message to the user in an event; None if there is none."""
    if isinstance(event, ActionEvent):
        return event.action.message if isinstance(event.action, FinishAction) else None
    if not isinstance(event, MessageEvent) or event.source != "agent":
        return None
    parts = event.llm_message.content
    return "".join(part.text for part in parts if isinstance(part, TextContent))


async def decided(
    session: "Session", unless_stopped: asks.UnlessStopped, overtaken: asyncio.Event
) -> str | None:
    """Let the user decide once the plan is ready. Returns what the model is told; "" if nothing;
    None if it was cancelled. `overtaken`: the user writes instead of answering, or chooses another
    mode."""
    if (plan := ready(session)) is None:
        return ""
    overtaken.clear()
    verdict = await _ask(session, plan, unless_stopped, overtaken)
    if verdict.outcome == "cancelled":
        return None
    if verdict.outcome == "allowed":
        session.choose("mode", verdict.mode or ALWAYS_ASK)
        session.keep(told_plan=False)
        return f"{OVER} The user agreed to the plan. {GO}"
    return f"The user wants another plan: {verdict.comment}" if verdict.comment else ""


async def _ask(
    session: "Session", plan: Plan, unless_stopped: asks.UnlessStopped, overtaken: asyncio.Event
) -> asks.Verdict:
    call: Json = {
        "toolCallId": f"plan-{plan.id}",
        "title": TITLE,
        "name": go_asks.TOOL,
        "kind": go_asks.KIND,
        "rawInput": {"plan": plan.text},
        "status": "pending",
    }
    session.tell({"sessionUpdate": "tool_call", **call})
    decision = ""
    try:
        verdict = await asks.request(session, call, OPTIONS, unless_stopped, overtaken)
        if verdict.outcome in ("allowed", "rejected"):
            decision = WORDS[verdict.mode or ALWAYS_ASK if verdict.outcome == "allowed" else KEEP]
    finally:
        text = {"type": "text", "text": f"{decision or UNDECIDED}."}
        ended: Json = {"status": "completed" if decision else "failed"}
        ended |= {
            "toolCallId": call["toolCallId"],
            "content": [{"type": "content", "content": text}],
        }
        ended |= {"title": KEPT} if decision == WORDS[KEEP] else {}
        session.tell({"sessionUpdate": "tool_call_update", **ended})
    return verdict
