"""Strategies for what no agent should send, and some do."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from tests.core.making import ACP_KINDS, OUR_KINDS, log

KINDS = sorted(OUR_KINDS | ACP_KINDS | {"", "_", "_forged", "never_heard_of", "state_update"})

NAMES = """
sessionUpdate content messageId toolCallId title kind status rawInput rawOutput locations _meta
entries availableCommands currentModeId configOptions used size cost id state reason turn prompt
queued op to name nonce toolCall options message schema outcome error detail last argv pid info
capabilities modes models sessionId stderr remedy from level text severity actions description value
why source score issues resetsAt exitCode signal command cwd roots mcpServers agent created archived
pinned mode model effort origin compactionId type path oldText newText terminalId claudeCode
parentToolUseId optionId code data category currentValue choices availableModes currentModelId
availableModels modelId uri resource blob danger confirmed steered kept
critic refine again accepted iteration of more probability rookery
planId session call update senderSessionId recipientSessionId senderMessageId recipientMessageId
rateLimits primary secondary usedPercent windowDurationMins unifiedWindows utilization limits window
compactionId trigger before when tree changed elicitation url files conversation undo
"""
FIELDS = NAMES.split()

STATES = """
pending in_progress completed failed unfinished interrupted running quiet idle asked closed started
output ended starting ready exited stopped switched parked reset cleared end_turn cancelled add edit
move remove judged judging critic text image resource diff terminal content header 1 t a
"""
WORDS = STATES.split()

machines = settings(max_examples=50, stateful_step_count=40)

texts = st.text(st.characters(), max_size=8)  # lone surrogates and NUL too

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([2**64, -(2**200), 10**400])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
    | texts
    | st.sampled_from(["x" * 9_000, "🪶" * 6_000])
)

foreign_json: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | texts, inner, max_size=5)
    ),
    max_leaves=12,
)
"""JSON that survives a trip: no NaN, no infinity."""

words = st.builds(lambda said: {"type": "text", "text": said}, texts)
ids = st.sampled_from(["1", "a", "t"])
terminals = st.builds(lambda name: {"type": "terminal", "terminalId": name}, ids)

shapely = st.fixed_dictionaries(
    {"sessionUpdate": st.sampled_from(KINDS)},
    optional={
        "content": words | st.lists(words | terminals, max_size=2),
        "toolCallId": ids,
        "id": ids,
        "messageId": ids,
        "status": st.sampled_from(WORDS),
        "state": st.sampled_from(WORDS),
        "reason": st.sampled_from(WORDS),
        "op": st.sampled_from(["add", "edit", "move", "remove"]),
        "toolCall": st.fixed_dictionaries({"toolCallId": ids}),
        "prompt": st.lists(words, max_size=2),
        "_meta": st.fixed_dictionaries({"v": st.fixed_dictionaries({"parentToolUseId": ids})}),
    },
)
"""Updates that mostly make sense, so that they meet each other's blocks."""

junk = st.builds(
    lambda kind, fields: {**fields, "sessionUpdate": kind},
    st.sampled_from(KINDS) | scalars,
    st.dictionaries(st.sampled_from(FIELDS), foreign_json, max_size=8),
)
"""Known kinds and fields, with values of any type."""

children = st.fixed_dictionaries(
    {
        "sessionUpdate": st.sampled_from(
            ["subagent_update", "session_message", "session_message_chunk", "plan_update"]
        )
    },
    optional={
        "sessionId": ids,
        "senderSessionId": ids,
        "recipientSessionId": ids,
        "messageId": ids,
        "title": texts,
        "description": texts,
        "state": st.fixed_dictionaries({"state": st.sampled_from(["running", "idle", "?"])})
        | scalars,
        "content": words | st.lists(words, max_size=2),
        "plan": st.fixed_dictionaries(
            {"planId": ids, "type": st.sampled_from(["items", "markdown", "file"])}
        )
        | scalars,
        "planId": ids,
    },
)
"""Sub-agents that come and go, and whom nobody announced; plans that are changed and removed."""

family = st.builds(
    lambda inner, place, name: {"sessionUpdate": "_child", place: name, "update": inner},
    shapely | children | foreign_json,
    st.sampled_from(["session", "call", "nobody"]),
    ids | scalars,
)

turns = st.sampled_from(
    [
        {"sessionUpdate": "_prompt", "prompt": [{"type": "text", "text": "p"}]},
        {"sessionUpdate": "_turn", "state": "running"},
        {"sessionUpdate": "_turn", "state": "idle", "reason": "end_turn"},
        {"sessionUpdate": "_turn", "state": "idle", "reason": "cancelled"},
    ]
)

updates = (
    shapely | children | family | turns | junk | st.dictionaries(texts, foreign_json, max_size=3)
)

logs = st.lists(updates, max_size=25).map(lambda found: log(*found))

shapely_logs = st.lists(shapely | children | family | turns, max_size=40).map(
    lambda found: log(*found)
)


def nested(levels: int, *, of: type = list) -> Any:
    """Made from the inside out: no recursion is needed to build it."""
    value: Any = 0
    for _ in range(levels):
        value = [value] if of is list else {"a": value}
    return value
