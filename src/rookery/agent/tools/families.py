"""The tools that a conversation begins with: editors by the family of its model, which was trained
with them, and those that all have. Their modules are imported here, when a conversation has them.
"""

import importlib
import re
from collections.abc import Sequence

from openhands.tools.file_editor import FileEditorTool
from openhands.tools.task import TaskToolSet
from openhands.tools.task_tracker import TaskTrackerTool
from openhands.tools.terminal import TerminalTool

from rookery.core.settings.web import Web

GREP, GLOB = "grep", "glob"
APPLY_PATCH = ("apply_patch",)
GEMINI = ("read_file", "write_file", "edit", "list_directory")
USUAL = (FileEditorTool.name,)
BROWSER = "browser_tool_set"
WEB_FETCH, WEB_SEARCH = "web_fetch", "web_search"

MODULES = {
    GREP: "openhands.tools.grep",
    GLOB: "openhands.tools.glob",
    **dict.fromkeys(APPLY_PATCH, "openhands.tools.apply_patch"),
    **dict.fromkeys(GEMINI, "openhands.tools.gemini"),
    BROWSER: "openhands.tools.browser_use",
    **dict.fromkeys((WEB_FETCH, WEB_SEARCH), "rookery.agent.web.tools"),
}
"""Those that are imported only where they are used."""

_GPT = re.compile(r"(?:^|[/.])(?:gpt-(?:4\.1|[5-9])|o[34]\b|codex)")
_GEMINI = re.compile(r"(?:^|[/.])gemini\b")


def editors_of(model: str) -> Sequence[str]:
    """Choose editors by a model's name, whatever its prefix: openrouter/openai/gpt-5."""
    name = model.lower()
    if _GPT.search(name):
        return APPLY_PATCH
    return GEMINI if _GEMINI.search(name) else USUAL


def usual(model: str, *, small: bool, browser: bool, web: Web) -> list[str]:
    """Return the tools of a new conversation. `small`: for a small window, which the declarations
    of all tools would fill."""
    first = [TerminalTool.name, *editors_of(model)]
    if small:
        return first
    names = [*first, GREP, GLOB, TaskTrackerTool.name, TaskToolSet.name]
    chosen = {WEB_FETCH: web.fetch, WEB_SEARCH: web.searches, BROWSER: browser}
    return [*names, *(name for name, wanted in chosen.items() if wanted)]


def load(names: Sequence[str]) -> None:
    """Import the tools of these names, which registers them. Safe to call twice."""
    for module in dict.fromkeys(MODULES[name] for name in names if name in MODULES):
        importlib.import_module(module)
    if not {GREP, GLOB}.isdisjoint(names):
        from rookery.agent.sdk_patches import search_tools

        search_tools.install()
    if not set(APPLY_PATCH).isdisjoint(names):
        from rookery.agent.sdk_patches import apply_patch

        apply_patch.install()
    if not set(GEMINI).isdisjoint(names):
        from rookery.agent.sdk_patches import editors

        editors.install_gemini()
