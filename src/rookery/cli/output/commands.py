"""The actions of a block as commands, and the answers to an ask with their numbers."""

from typing import Any

from rookery.core.blocks import Block, captions
from rookery.core.blocks.failures import CONTINUE_WORDS
from rookery.core.json import lenient
from rookery.core.settings.held import CONFIRM
from rookery.render.ask_choices import is_link, letters_of
from rookery.render.lines.view import Controls, View
from rookery.render.runs import Line, clean_line, prefixed, wrap

LINK_ANSWERS = (("y", "I opened it"), ("n", "Decline"))

WINDOWS = {"agents": "rookery agents", "servers": "rookery mcp", "model": "rookery setup"}
"""The commands that do what an action's window does."""


class Commands(Controls):
    """`session`: the one that the commands are for; "": none are offered."""

    def __init__(self, session: str = "") -> None:
        self._session = session

    def field(self, name: str) -> str:
        return f"--set {name}=…"

    def actions(self, block: Block, view: View) -> list[Line]:
        offered = captions.actions_of(block) if self._session else []
        pairs = [(clean_line(each["label"]), _command(each, self._session)) for each in offered]
        texts = [f"{label}: {command}" for label, command in pairs if command]
        return [line for text in texts for line in wrap([(text, "faint")], view.prose)]

    def answers(self, block: Block, view: View) -> list[Line]:
        if is_link(block):
            return [[(f"{letter}  {meaning}", "ink")] for letter, meaning in LINK_ANSWERS]
        keys, lines = letters_of(block), list[Line]()
        for place, action in enumerate(block["actions"]):
            option = wrap(_option(action, keys.get(place, "")), max(1, view.prose - 3))
            lines += prefixed(option, [(f"{place + 1}  ", "ink")], [("   ", "")])
            if view.alone and (reach := clean_line(lenient.text(action, "reach"))):
                lines += prefixed(wrap([(reach, "faint")], view.prose), [("   ", "")])
        return lines


def _option(action: dict[str, Any], letter: str) -> Line:
    """Return an option. `letter`: the key for its meaning, the same for every agent."""
    label = clean_line(action["label"]) + (f" [{letter}]" if letter else "")
    if why := clean_line(action.get("disabled", "")):
        return [(f"{label} ({why})", "faint")]
    return [(label, "ink"), (" · asks you to confirm" if action.get("danger") else "", "soft")]


def _command(action: dict[str, Any], session: str) -> str:
    """Return the command that does an action; "" if there is none."""
    match action:
        case {"choose": "agent", "command": {"do": "switch"}}:
            return f"rookery switch-agent {session} AGENT"
        case {"compose": {"recap": int(seq)}}:
            return f"rookery recap {session} --before {seq}"
        case {"command": {"do": "prompt"}}:
            return f'rookery prompt {session} "{CONTINUE_WORDS}"'
        case {"command": {"do": "resume", **rest}}:
            when = "--not-at-reset" if rest.get("off") else "--at-reset"
            return f"rookery retry {session} {when}"
        case {"command": {"do": "settings"}}:
            return CONFIRM
        case {"command": {"do": "retry" | "clear" | "restart" as name}}:
            return f"rookery {name} {session}"
        case {"window": "move"}:
            return f"rookery move {session}"
        case {"window": "log", "of": "worker"}:
            return f"rookery logs --worker {session}"
        case {"window": "log"}:
            return f"rookery logs {session}"
        case {"window": str(name)}:
            return WINDOWS.get(name, "")
    return ""
