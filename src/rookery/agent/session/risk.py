"""Rates how risky an action is, and says why, in a sentence for the user: by the SDK's local
analyzers and the model's own rating, of which the worse counts. Our own parser of command lines
detects what cannot be undone (`auto_answer`); the analyzers know other risks: what is downloaded
and run, code that is evaluated, a prompt that was injected."""

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

from rookery.core.command_line import read_only
from rookery.core.command_line.syntax import MAX_LINE_LENGTH
from rookery.core.policy.planning import WEB

ORDER = ("LOW", "MEDIUM", "UNKNOWN", "HIGH")
WORDS = {"HIGH": "High risk", "MEDIUM": "Some risk", "UNKNOWN": "Unknown risk"}
UNREAD = "parts of this command are known only when it runs"
BY_MODEL = "says the model"
SAID = {
    "network fetch piped to another command": "it hands a download to another command",
    "recursive force-delete targeting critical path": "it deletes a system directory",
    "recursive force-delete (rm -rf variants)": "it deletes directories with all they contain",
    "privileged file deletion": "it deletes files as root",
    "filesystem format": "it formats a disk",
    "raw disk write": "it writes to a disk directly",
    "dynamic code evaluation": "it evaluates text as code (eval)",
    "dynamic code execution": "it executes text as code (exec)",
    "os-level command execution": "its code runs other commands (os.system)",
    "subprocess invocation": "its code runs other commands (subprocess)",
    "download and run": "it runs what it downloads",
    "http request via curl": "it talks to a server (curl)",
    "download via wget": "it downloads something (wget)",
    "instruction override attempt": "its text tells a model to ignore its instructions",
    "mode switching attempt": "its text tells a model to be in another mode",
    "identity manipulation": "its text tells a model to be someone else",
}
"""The analyzers' words, or how they begin, and ours."""


@cache
def _analyzers() -> tuple[EnsembleSecurityAnalyzer, PatternSecurityAnalyzer]:
    patterns = PatternSecurityAnalyzer()
    both = EnsembleSecurityAnalyzer(
        analyzers=[PolicyRailSecurityAnalyzer(), patterns], propagate_unknown=True
    )
    return both, patterns


def level(action: ActionEvent) -> str:
    """Return the worse of the model's rating, except for the web's tools, and our own."""
    if action.tool_name in WEB:
        return "MEDIUM"  # as curl's
    return max(action.security_risk.value, _detected(action), key=ORDER.index)


def why(action: ActionEvent) -> str:
    """Return the reason in a sentence; "" if there is none."""
    if action.tool_name in WEB:
        return f"{WORDS['MEDIUM']}: it reads from the web."
    stated, detected = action.security_risk.value, _detected(action)
    if detected != "LOW" and ORDER.index(detected) >= ORDER.index("MEDIUM"):
        return f"{WORDS[detected]}: {_reason(action, detected)}."
    return f"{WORDS[stated]}, {BY_MODEL}." if stated == "HIGH" else ""


def _detected(action: ActionEvent) -> str:
    """Rate only what is run: a file's text may well be about what would be a risk to run, and so
    may a search pattern."""
    if not isinstance(action.action, TerminalAction | MCPToolAction):
        return "LOW"
    if isinstance(action.action, TerminalAction) and _only_looks(action.action):
        return "LOW"
    both, _ = _analyzers()
    return both.security_risk(action).value


def _only_looks(action: TerminalAction) -> bool:
    return not action.is_input and not read_only.change_in(action.command[:MAX_LINE_LENGTH])


def _reason(action: ActionEvent, detected: str) -> str:
    if detected == "UNKNOWN":
        return UNREAD
    rail = _evaluate_rail_segments(_extract_exec_segments(action))
    if rail.reason and rail.outcome.value == detected:
        return _plain(rail.reason)
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
    known = (ours for theirs, ours in SAID.items() if about.lower().startswith(theirs))
    return next(known, about.rstrip("."))
