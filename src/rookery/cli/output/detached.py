"""What the session does after the user stops watching it."""

from rookery.client.fleet import head_of_session
from rookery.core.json import Json
from rookery.core.view.fleet import state_of
from rookery.home import paths
from rookery.log.reader import Reader


def farewell(session: str, command: str = "") -> str:
    """`command`: the id of the prompt, which may not have arrived."""
    head = head_of_session(paths.home(), session)
    if head is None:
        return f"Session {session} was deleted."
    with Reader.open(paths.session_dir(paths.home(), session)) as log:
        if command and log.find(command) is None:
            return f"Left before the prompt was sent. The session is {session}."
        header = log.header()
    return said(session, state_of(head, awake=head["awake"]), header)


def said(session: str, state: str, header: Json) -> str:
    """What it does now, and the commands for it."""
    tail = f"  rookery tail {session}     to watch it"
    cancel = f"  rookery cancel {session}   to end its turn"
    if any(not ask.get("ruled") for ask in header["asks"].values()):
        answer = f"  rookery answer {session}   to answer it"
        return "\n".join([f"Session {session} is waiting for your answer.", answer, tail, cancel])
    if state == "running":
        words = f"Session {session} keeps running."
        if not header["neverAsks"] and not header.get("unattended"):  # else it never asks
            words += " If it needs an answer, it waits for you."
        return "\n".join([words, tail, cancel])
    if state == "waiting":
        words = f"Session {session} is waiting: too many sessions are running (max_workers)."
        return "\n".join([words, "Its prompt is kept and starts automatically.", tail])
    waits = len(header["queue"])
    held = f"\n  rookery queue {session}    {waits} waiting" if waits else ""
    rest = {"failed": "failed", "asleep": "is asleep"}.get(state, "is idle")
    return f"Session {session} {rest}: rookery show {session}{held}"
