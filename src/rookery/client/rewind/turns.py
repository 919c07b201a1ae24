"""The turns that a session can be rewound to."""

from rookery.client.config import in_force
from rookery.core.agent.prompt import words_of
from rookery.core.asks.asks import Refusal
from rookery.core.json import Json, kind_of, lenient
from rookery.core.limits import Policy
from rookery.core.turn import rewinding
from rookery.home import paths
from rookery.home.config import ConfigError
from rookery.log.reader import Reader


def turns(home: str, session: str, most: int | None = None) -> list[Json]:
    """List the turns, oldest first, from 0, the beginning: when each ended, its prompt, whether its
    files are known, and whether a rewind hides it. `most`: only that many, the newest. Raises
    LogError."""
    with Reader.open(paths.session_dir(home, session)) as log:
        header = log.header()
        events = log.of_kinds("_prompt", rewinding.SNAPSHOT)
        last, hidden = header.turn, header.hidden
        numbers = range(max(0, last + 1 - most) if most else 0, last + 1)
        spans = {n: log.spans(n) for n in numbers}
        firsts = {n: log.first_seq(n) for n in numbers}
    shots = [event for event in events if kind_of(event.update) == rewinding.SNAPSHOT]
    prompts = {event.seq: event.update for event in events}
    return [
        {
            "turn": turn,
            "at": spans[turn][1],
            "prompt": words_of(lenient.sequence(prompts.get(firsts[turn], {}), "prompt"))[:200],
            "files": bool(rewinding.snapshot_of(shots, turn)),
            "passed": rewinding.is_passed_over(shots, turn),
            "hidden": turn > 0 and rewinding.is_hidden(hidden, firsts[turn]),
        }
        for turn in numbers
    ]


def snapshot_file_bytes(home: str) -> int:
    """Return the size up to which a file is kept; the default if the configuration is
    unreadable."""
    try:
        return in_force.load(home).policy.snapshot_file_bytes
    except ConfigError:
        return Policy().snapshot_file_bytes


def no_snapshot(turn: int, *, passed: bool = False) -> Refusal:
    why = " It was passed over: the next turn was quicker than the snapshot." if passed else ""
    hint = "To rewind only the conversation: rookery rewind --conversation"
    message = f"There is no snapshot of the files after turn {turn}.{why} {hint}"
    return Refusal("no_snapshot", message)
