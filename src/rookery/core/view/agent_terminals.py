"""How an agent's own terminals look: blocks below their calls, as the worker's are."""

from rookery.core.blocks.document import Op, append, change, make_block, put
from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.core.tools.outputs import ENDED, Told, running_of, told


def ops(before: Json, now: Json, call: Json, owner: str) -> list[Op]:
    """What an update changes in the terminals' blocks."""
    news = told(call)
    found: list[Op] = []
    if news and (terminal := now.get(news.name)) and terminal[0]:
        block, _, parent = terminal
        if (before.get(news.name) or [None])[0] == block:
            found += append(block, news.text)
        else:
            found += put(
                make_block(block, "terminal", status="running", parent=parent, text=news.text)
            )
        if news.over:
            status = "done" if news.code == 0 or _went_well(news, call) else "failed"
            found += change(block, status=status, exit=news.code, signal=news.signal)
    if (status := lenient.text(call, "status")) in ENDED:
        mine = [name for name in running_of(before, owner) if not news or name != news.name]
        words = {"completed": "done", "failed": "failed"}[status]
        found += [op for name in mine for op in change(before[name][0], status=words)]
    return found


def _went_well(news: Told, call: Json) -> bool:
    """Without a code it is the call that knows: claude tells none where it takes another than 0 for
    a success, nor of a command that it put into the background."""
    unknown = news.code is None and not news.signal
    return unknown and lenient.text(call, "status") != "failed"
