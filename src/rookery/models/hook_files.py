"""`hooks.json`: commands that run at six moments of a conversation, the user's and the project's,
in the SDK's format (also under `hooks`, and with names such as `PreToolUse`):

    {"pre_tool_use": [{"matcher": "terminal", "hooks": [{"command": "./check.sh", "timeout": 10}]}]}

A file with a mistake is refused: a guard that is silently left out guards nothing."""

import os
import re
from typing import Any

from rookery.client.config import in_force
from rookery.client.project_hooks.hook_file import FILE, HookFile, find, kind_of
from rookery.models import documents
from rookery.models.documents import Json, refusal

__all__ = ["FILE", "KINDS", "of_project", "own", "validated"]

KINDS = (
    *("pre_tool_use", "post_tool_use", "user_prompt_submit"),
    *("session_start", "session_end", "stop"),
)
TYPES = ("command", "prompt", "agent")


def own(home: str) -> Json:
    """Return the user's hooks that apply. Raises SettingsError."""
    place = os.path.join(home, FILE)
    documents.read(place, private=False, home=home)
    hooks = dict(in_force.hooks(home))  # a change by an agent waits for the user
    return validated(hooks, place) if hooks else {}


def of_project(home: str, cwd: str) -> tuple[HookFile | None, Json]:
    """Return the hooks that come with a project, and the same in the SDK's format. Raises
    SettingsError."""
    project_hooks, config = find(home, cwd), dict[str, Any]()
    for place, table in project_hooks.tables if project_hooks else ():
        for kind, matchers in validated(table, place).items():
            config[kind] = [*config.get(kind, []), *matchers]
    return (project_hooks if project_hooks and project_hooks.hooks else None), config


def validated(document: Json, place: str) -> Json:
    """Return the hooks of one file, under their current names. Raises SettingsError."""
    table = document.get("hooks", document)
    if not isinstance(table, dict):
        raise refusal(place, "hooks", "must be an object")
    config: Json = {}
    for key, matchers in table.items():
        kind = kind_of(key)
        if kind not in KINDS:
            raise refusal(place, key, f"is not a kind of hook. Known kinds: {', '.join(KINDS)}")
        if kind in config:
            raise refusal(place, key, f"appears twice: also as {kind}")
        if not isinstance(matchers, list):
            raise refusal(place, key, 'must be a list of {"matcher": …, "hooks": […]}')
        config[kind] = [_matcher(place, key, each) for each in matchers]
    return config


def _matcher(place: str, key: str, value: Any) -> Json:
    if not isinstance(value, dict):
        raise refusal(place, key, 'must be a list of {"matcher": …, "hooks": […]}')
    pattern = value.get("matcher", "*")
    if not isinstance(pattern, str):
        raise refusal(place, f"{key}.matcher", "must be a text: a tool's name, * or /pattern/")
    if len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/"):
        try:
            re.compile(pattern[1:-1])
        except re.error as error:
            why = f"is not a regular expression: {error}"
            raise refusal(place, f"{key}.matcher", why) from None
    hooks = value.get("hooks", [])
    if not isinstance(hooks, list):
        raise refusal(place, f"{key}.hooks", "must be a list")
    for hook in hooks:
        _check_hook(place, key, hook)
    return value


def _check_hook(place: str, key: str, hook: Any) -> None:
    if not isinstance(hook, dict):
        raise refusal(place, f"{key}.hooks", 'must be a list of {"command": "…"}')
    kind = hook.get("type", "command")
    if kind not in TYPES:
        raise refusal(place, f"{key}.type", f"must be one of {', '.join(TYPES)}")
    command, prompt = hook.get("command", ""), hook.get("prompt")
    if kind == "command" and (not isinstance(command, str) or not command.strip()):
        raise refusal(place, f"{key}.command", "must be a command line")
    if kind == "prompt" and (not isinstance(prompt, str) or not prompt.strip()):
        raise refusal(place, f"{key}.prompt", "must be a text")
    if kind != "command" and command:
        raise refusal(place, f"{key}.command", f"cannot be used with type {kind}")
    if kind != "command" and hook.get("async"):
        raise refusal(place, f"{key}.async", f"cannot be used with type {kind}")
    for field in ("timeout", "max_iterations"):
        number = hook.get(field, 1)
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise refusal(place, f"{key}.{field}", "must be an integer of at least 1")
