"""How risky an action is, and why, in words for the user: by the SDK's local analyzers and the
model's own word, of which the worse counts. What cannot be undone, our own reader of command lines
says (`auto_answer`); the analyzers know other things: what is downloaded and run, code that is
evaluated, a prompt that was injected."""

from functools import cache

from openhands.sdk.event import ActionEvent
from openhands.sdk.mcp.definition import MCPToolAction
from openhands.sdk.security.defense_in_depth.pattern import PatternSecurityAnalyzer
from openhands.sdk.security.defense_in_depth.policy_rails import (
    PolicyRailSecurityAnalyzer,
    _evaluate_rail_segments,
)
from openhands.sdk.security.defense_in_depth.utils import (
    _extract_content,
    _extract_exec_content,
    _extract_exec_segments,
    _normalize,
)
from openhands.sdk.security.ensemble import EnsembleSecurityAnalyzer
from openhands.tools.terminal.definition import TerminalAction

ORDER = ("LOW", "MEDIUM", "UNKNOWN", "HIGH")
WORDS = {"HIGH": "High risk", "MEDIUM": "Some risk", "UNKNOWN": "Unknown risk"}
UNREAD = "parts of this command are known only when it runs"
BY_MODEL = "says the model"


@cache
def _analyzers() -> tuple[EnsembleSecurityAnalyzer, PatternSecurityAnalyzer]:
    patterns = PatternSecurityAnalyzer()
    both = EnsembleSecurityAnalyzer(
        analyzers=[PolicyRailSecurityAnalyzer(), patterns], propagate_unknown=True
    )
    return both, patterns


def level(action: ActionEvent) -> str:
    """The worse of the model's word and what is found here."""
    return max(action.security_risk.value, _found(action), key=ORDER.index)


def why(action: ActionEvent) -> str:
    """In a sentence; "": there is nothing to say."""
    said, found = action.security_risk.value, _found(action)
    if found != "LOW" and ORDER.index(found) >= ORDER.index("MEDIUM"):
        return f"{WORDS[found]}: {_reason(action, found)}."
    return f"{WORDS[said]}, {BY_MODEL}." if said == "HIGH" else ""


def _found(action: ActionEvent) -> str:
    """Only of what is run: a file's text may well be about what would be a risk to run."""
    if not isinstance(action.action, TerminalAction | MCPToolAction):
        return "LOW"
    both, _ = _analyzers()
    return both.security_risk(action).value


def _reason(action: ActionEvent, found: str) -> str:
    rail = _evaluate_rail_segments(_extract_exec_segments(action))
    if rail.reason and rail.outcome.value == found:
        return _plain(rail.reason)
    if found == "UNKNOWN":
        return UNREAD
    _, patterns = _analyzers()
    run, all_of_it = (_normalize(get(action)) for get in (_extract_exec_content, _extract_content))
    lists = (
        (run, patterns._compiled_high),
        (all_of_it, patterns._compiled_injection_high),
        (run, patterns._compiled_medium),
        (all_of_it, patterns._compiled_injection_medium),
    )
    for text, known in lists:
        for pattern, about, _ in known:
            if pattern.search(text):
                return _plain(about)
    return "it deletes recursively"  # all that is found without a pattern


def _plain(about: str) -> str:
    return about[:1].lower() + about[1:].rstrip(".")
