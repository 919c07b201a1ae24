"""What could not be ended because it runs as another user (sudo): it is left alone and reported."""

from collections.abc import Iterable

from rookery.core.json.events import Json, notice
from rookery.processes import strays
from rookery.processes.tree import Process

TITLE = "Some processes could not be ended"


def left_running(processes: Iterable[Process]) -> Json:
    found = list(processes)
    names = strays.told(strays.Stray("", each, strays.command_of(each.pid)) for each in found)
    pids = " ".join(str(each.pid) for each in found[:5])
    text = f"Still running as another user: {names}. To end it: sudo kill {pids}"
    return notice(text, title=TITLE, left=[each.pid for each in found])
