"""Rates how risky an action is, and says why, in a sentence for the user: by the model's own rating
and by what our parser of command lines reads in it, of which the worse counts."""

from collections.abc import Iterator

from openhands.sdk.event import ActionEvent
from openhands.sdk.mcp.definition import MCPToolAction
from openhands.tools.terminal.definition import TerminalAction

from rookery.core.command_line import read_only
from rookery.core.command_line.syntax import MAX_LINE_LENGTH
from rookery.core.policy.planning import WEB
from rookery.core.policy.risk import LEVELS, Risk, of_run, of_words, worst

WORDS = {"HIGH": "High risk", "MEDIUM": "Some risk", "UNKNOWN": "Unknown risk"}
BY_MODEL = "says the model"


def level(action: ActionEvent) -> str:
    """Return the worse of the model's rating, except for the web's tools, and our own."""
    if action.tool_name in WEB:
        return "MEDIUM"  # as curl's
    return max(action.security_risk.value, _detected(action).level, key=LEVELS.index)


def why(action: ActionEvent) -> str:
    """Return the reason in a sentence; "" if there is none."""
    if action.tool_name in WEB:
        return f"{WORDS['MEDIUM']}: it reads from the web."
    detected = _detected(action)
    if detected.reason:
        return f"{WORDS[detected.level]}: {detected.reason}."
    stated = action.security_risk.value
    return f"{WORDS[stated]}, {BY_MODEL}." if stated == "HIGH" else ""


def _detected(action: ActionEvent) -> Risk:
    """Rate only what is run: a file's text may well be about what would be a risk to run, and so
    may a search pattern."""
    match action.action:
        case TerminalAction(command=command, is_input=is_input):
            if not is_input and not read_only.change_in(command[:MAX_LINE_LENGTH]):
                return Risk()
            run = [command]
        case MCPToolAction(data=data):
            run = list(_texts(data))
        case _:
            return Risk()
    thought = [part.text for part in action.thought]
    texts = [*run, action.summary or "", action.reasoning_content or "", *thought]
    return worst([of_run(run), of_words(texts)])


def _texts(data: object) -> Iterator[str]:
    """Yield the texts in a tool's arguments."""
    waiting = [data]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case dict(fields):
                waiting += reversed(fields.values())
            case list(parts):
                waiting += reversed(parts)
