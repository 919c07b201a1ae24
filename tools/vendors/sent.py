"""What an agent sends of the newer parts of ACP when it is offered them, and how it is shown.

A cell says what was seen: `not sent` where the agent was offered it and nothing came.
"""

from collections.abc import Iterable

from rookery.client.login import status
from rookery.core.agent.chunks import CHILD
from rookery.core.json import lenient
from rookery.core.json.events import Event, kind_of
from rookery.core.turn import quota as quotas
from rookery.core.vendors import logins
from tests.worker.aviary import is_agent, text_of
from tools.vendors.perch import Perch

BELOW = "heard from below"
STEP = "look under the stone"
COMPACT = ("compact", "compress", "summarize", "condense")
"""What vendors call their command that compacts a conversation."""

WITHIN = ("tool", "message", "thought")
"""Roles of what a sub-agent does and says."""

NOT_SENT = "not sent"
NO_TOOL = "no such tool"


async def links(perch: Perch) -> str:
    """A tool of an MCP server sends the user to an address (`elicitation`, mode `url`)."""
    turn, asks = await perch.play("[[mcp link]]", "allow_once")
    shown = [perch.asked[ask] for ask in asks if "https://example.com/consent" in perch.asked[ask]]
    text = text_of(turn)
    if "There is no tool" in text:
        return "no tools of servers"
    if not shown:
        return f"{NOT_SENT}: its servers cannot ask" if "not taken" in text else NOT_SENT
    assert "the link was accept" in text, text
    return "asked"


async def subagents(perch: Perch) -> str:
    """What a sub-agent says stands below the call that started it, not among the agent's words."""
    turn, _ = await perch.play(f"[[task {BELOW}]]", "allow_once")
    if "There is no tool" in text_of(turn):
        return NO_TOOL
    if "subagent_update" in _kinds(turn):  # codex' work on when their agent's turn is over
        await perch.bird.until(_says_below, turn[0].seq)
    sight = perch.sight()
    blocks = list(sight.document.blocks.values())
    heads = {block["id"] for block in blocks if block["role"] == "tool" and not block["parent"]}
    nested = [block for block in blocks if block["parent"] in heads and block["role"] in WITHIN]
    own = [block for block in blocks if block["role"] == "answer" and not block["parent"]]
    assert BELOW not in [block["text"].strip() for block in own], "shown as the agent's own words"
    if nested:
        return "nested" if any(BELOW in sight.shown(block) for block in nested) else "calls nested"
    outputs = [sight.output(block) for block in sight.blocks("tool")]
    return "in the call's result" if any(BELOW in each for each in outputs) else "one call"


async def plan(perch: Perch) -> str:
    turn, _ = await perch.play(f"[[plan {STEP}]]", "allow_once")
    if "There is no tool" in text_of(turn):
        return NO_TOOL
    kinds = [kind for kind in _kinds(turn) if kind.startswith("plan")]
    sight = perch.sight()
    lists = [part for block in sight.document.blocks.values() for part in block["parts"]]
    shown = any(STEP in str(part) for part in lists if part["type"] in ("checklist", "markdown"))
    if kinds:
        assert shown, f"{kinds}, and no plan is shown"
        return f"`{kinds[-1]}`"
    return "as a call" if shown else f"{NOT_SENT}: a call alone"


async def compaction(perch: Perch) -> str:
    commands = [lenient.text(each, "name") for each in perch.bird.header().commands]
    command = next((name for name in COMPACT if name in commands), None)
    if command is None:
        return "no command"
    await perch.say("before the summary")
    turn, _ = await perch.play(f"/{command}", "allow_once")
    if "compaction_update" not in _kinds(turn):
        return f"{NOT_SENT}: words of the answer" if text_of(turn).strip() else NOT_SENT
    blocks = perch.sight().document.blocks.values()
    shown = [block for block in blocks if "ompact" in f"{block['title']} {block['text']}"]
    assert shown, "a compaction is not shown"
    return "shown"


async def notices(perch: Perch) -> str:
    """In the whole session: what the agent warned of, and not as its own words."""
    sent = [event.update for event in perch.events() if kind_of(event.update) == "notice"]
    titles = {lenient.text(each, "title") for each in sent}
    shown = {block["title"] for block in perch.sight().blocks("notice")}
    assert titles <= shown, f"{titles - shown} are not shown"
    return f"{len(sent)} shown" if sent else NOT_SENT


async def title(perch: Perch) -> str:
    """Of the session."""
    updates = [event.update for event in perch.events()]
    named = [
        each for each in updates if kind_of(each) == "session_info_update" and each.get("title")
    ]
    return "shown" if named else NOT_SENT


async def login(perch: Perch) -> str:
    """What the agent says of logging in, as `rookery agents` knows it once it ran by its name."""
    name = perch.vendor.name
    bird = perch.hatch([], name, perch.environment)
    begun = await bird.send("restart")
    await bird.until(lambda event: is_agent(event, "ready"), begun.seq)
    known = status.read(perch.aviary.home, name, perch.vendor.argv)
    await bird.send("stop")
    methods = known.methods()
    if not known.at:
        return NOT_SENT
    said = [f"{len(methods)} {'method' if len(methods) == 1 else 'methods'}"]
    said += ["log-out"] if logins.has_logout(known.capabilities) else []
    said += ["status"] if known.state != logins.UNKNOWN else []
    return ", ".join(said)


async def quota(perch: Perch) -> str:
    """A response of its model says how much of a quota is left."""
    await perch.play("[[quota]]", "allow_once")
    windows = quotas.windows(perch.bird.header())
    return ", ".join(each.text for each in windows) or NOT_SENT


def _says_below(event: Event) -> bool:
    """Its last word: an answer comes in pieces."""
    word = BELOW.rpartition(" ")[2]
    return kind_of(event.update) == CHILD and word in str(event.update["update"].get("content"))


def _kinds(events: Iterable[Event]) -> list[str]:
    return [kind_of(event.update) for event in events]
