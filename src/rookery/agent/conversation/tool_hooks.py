"""Hooks around tools, which know a server's tool by the name that rules have for it,
`mcp__server__tool`, whatever the model calls it."""

from collections.abc import Mapping
from typing import Any, override

from openhands.sdk.hooks import HookConfig
from openhands.sdk.hooks.config import HookDefinition
from openhands.sdk.hooks.manager import HookManager
from openhands.sdk.hooks.types import HookEvent, HookEventType
from pydantic import PrivateAttr

type Json = dict[str, Any]


class ToolHookConfig(HookConfig):
    _names: Mapping[str, str] = PrivateAttr(default_factory=dict)

    @classmethod
    def made(cls, hooks: Json, names: Mapping[str, str]) -> "ToolHookConfig":
        """`names`: the model's names of servers' tools, and what each stands for. A live table."""
        config = cls.model_validate(hooks)
        config._names = names
        return config

    def whole(self, tool: str) -> str:
        return self._names.get(tool, tool)

    @override
    def get_hooks_for_event(
        self, event_type: HookEventType, tool_name: str | None = None
    ) -> list[HookDefinition]:
        """A matcher with the model's own name for a tool still means that tool."""
        names = [tool_name] if tool_name is None else list({tool_name, self.whole(tool_name)})
        return [
            hook
            for matcher in self._get_matchers_for_event(event_type)
            if any(matcher.matches(name) for name in names)
            for hook in matcher.hooks
        ]


class ToolHookManager(HookManager):
    config: HookConfig

    @override
    def _create_event(
        self, event_type: HookEventType, tool_name: str | None = None, *more: Any, **named: Any
    ) -> HookEvent:
        """A hook for every tool decides by the name that it is given: it is the whole one."""
        if tool_name is not None and isinstance(self.config, ToolHookConfig):
            tool_name = self.config.whole(tool_name)
        return super()._create_event(event_type, tool_name, *more, **named)
