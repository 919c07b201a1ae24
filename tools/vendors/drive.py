"""One vendor's agent through the whole scenario, each step with what came of it."""

import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from rookery.client.session import Rejected
from rookery.client.start import StartError
from tools.vendors import sent, successions, trials
from tools.vendors.install import CannotInstall
from tools.vendors.perch import OPEN, Cage, Perch, perched
from tools.vendors.vendor import Vendor

type Step = Callable[[Perch], Awaitable[str]]

SENT: dict[str, Step] = {
    "links": sent.links,
    "subagents": sent.subagents,
    "plan": sent.plan,
    "quota": sent.quota,
    "compaction": sent.compaction,
    "notices": sent.notices,
    "title": sent.title,
    "login": sent.login,
}
"""What each sends when it is offered it: columns of a table of their own."""

STEPS: dict[str, Step] = {
    "start": trials.start,
    "stream": trials.stream,
    "approve": trials.approve,
    "reject": trials.reject,
    "edit": trials.edit,
    "command": trials.command,
    "mcp": trials.mcp,
    "cancel": trials.cancel,
    "kill_agent": trials.kill_agent,
    "kill_worker": trials.kill_worker,
    "refuse": trials.refuse,
    "limit": trials.limit,
    "stop": trials.stop,
    **SENT,
    "options": trials.options,  # it may leave a model of other tools: codex' own is in no list
    "look": trials.look,
    "switch": successions.switch,
    "forget": successions.forget,
}
"""By the name under which a vendor's own fault is stated. All but the switch in one session."""

IN_SANDBOX: dict[str, Step] = {
    name: STEPS.get(name, trials.inside)
    for name in (
        *("start", "stream", "approve", "reject", "edit", "command", "mcp", "inside"),
        *("cancel", "kill_agent", "kill_worker", "stop", *SENT, "look"),
    )
}
"""Those that a sandbox could spoil."""

FAILURES = (
    *(AssertionError, LookupError, OSError, TimeoutError),
    *(CannotInstall, Rejected, StartError),
)


class Cell(NamedTuple):
    step: str
    said: str
    error: str = ""
    """What went wrong, where the vendor's own fault is not known to explain it."""
    fault: str = ""
    """The vendor's own, in the words of its module."""


async def drive(
    vendor: Vendor,
    root: Path,
    record: Path | None = None,
    steps: frozenset[str] = frozenset(),
    cage: Cage = OPEN,
) -> AsyncIterator[Cell]:
    """`steps`: of all only these. `cage`: the sandbox of its sessions."""
    async with perched(vendor, root, record, cage) as perch:
        for name, step in (STEPS if cage == OPEN else IN_SANDBOX).items():
            if not steps or name in steps:
                yield await _take(perch, name, step)


async def _take(perch: Perch, name: str, step: Step) -> Cell:
    fault = perch.vendor.faults.get(name, "")
    try:
        said = await step(perch)
    except FAILURES as error:  # one that fails must not hide how the others do
        why = "" if fault else "".join(traceback.format_exception(error))
        try:
            await perch.settle()
            if fault:
                await perch.recover()
        except FAILURES as worse:
            why = f"{why}\nand then: {worse!r}"
        return Cell(name, "", why if not fault else "", fault)
    return Cell(name, said, "", f"gone: {fault}" if fault else "")
