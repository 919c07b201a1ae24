"""Hooks in a conversation: first the user's, then the project's, which run only as the user saw and
trusted them."""

from collections.abc import Mapping, Sequence
from typing import Any, override

from openhands.sdk.hooks import HookConfig
from openhands.sdk.hooks.config import HookDefinition, HookMatcher
from openhands.sdk.hooks.executor import HookExecutor, HookResult
from openhands.sdk.hooks.manager import HookManager
from openhands.sdk.hooks.types import HookEvent, HookEventType
from pydantic import PrivateAttr

from rookery.agent.conversation.choices import PLAN, Choices
from rookery.agent.sdk_patches import Around, wrap
from rookery.client.project_hooks import trust
from rookery.client.project_hooks.hook_file import HookFile
from rookery.core.json import Json
from rookery.core.policy.hook_asks import GUARD
from rookery.models import hook_files

CHANGED = (
    "A file that this project's hooks run has changed since the user trusted them. The user is "
    "asked again with the next prompt; nothing that they guard is done before that."
)

FORGOTTEN = (
    "The user no longer trusts this project's hooks, and is asked again with the next prompt; "
    "nothing that they guard is done before that."
)


class ProjectHooks:
    """A project's hooks, as they were read for this turn. All that a conversation runs shares one
    instance, so trust is given or withdrawn everywhere at once."""

    def __init__(
        self,
        hook_file: HookFile | None,
        config: Json,
        choices: Choices | None = None,
        *,
        trusted: bool = False,
        known: str = "unknown",
    ) -> None:
        self.file = hook_file
        self.choices = choices
        self.trusted = trusted
        self.known = known
        """What the user said to them before, if anything."""
        self.kept_in = ""
        """The home that remembers the user's yes; "": none does."""
        self.notified = False
        """That they are left out."""
        self._config = HookConfig.model_validate(config)

    @property
    def plans(self) -> bool:
        return self.choices is not None and self.choices.wanted.mode == PLAN

    def take(self, other: "ProjectHooks") -> None:
        """Take over what was read anew."""
        self.file, self._config = other.file, other._config
        self.trusted, self.known, self.notified = other.trusted, other.known, other.notified
        self.kept_in = other.kept_in

    def note_kept(self, home: str) -> None:
        """Note whether the user's trust is remembered beyond this session. Blocks."""
        kept = self.file is not None and trust.state(home, self.file) == "trusted"
        self.kept_in = home if kept else ""

    @property
    def forgotten(self) -> bool:
        """Whether the user has withdrawn the trust. Blocks."""
        if not self.kept_in or self.file is None:
            return False
        return trust.state(self.kept_in, self.file) != "trusted"

    def matchers(self, event: HookEventType) -> list[HookMatcher]:
        """Return the trusted matchers of an event; in plan mode, only those that may refuse."""
        if not self.trusted or (self.plans and event != HookEventType.PRE_TOOL_USE):
            return []
        return _matchers_in(self._config, event)

    def fault(self) -> str:
        """Return why the hooks do not run now; "" if they do."""
        if self.file is None or self.file.changed():
            return CHANGED
        return FORGOTTEN if self.forgotten else ""


def load(home: str, cwd: str, choices: Choices | None = None) -> tuple[Json, ProjectHooks]:
    """Read the user's own hooks, which run first, and the project's. Raises SettingsError."""
    return hook_files.own(home), read(home, cwd, choices)


def read(home: str, cwd: str, choices: Choices | None = None) -> ProjectHooks:
    """Read a project's hooks, as they are now. Raises SettingsError."""
    hook_file, config = hook_files.of_project(home, cwd)
    known = trust.state(home, hook_file) if hook_file else "unknown"
    result = ProjectHooks(hook_file, config, choices, trusted=known == "trusted", known=known)
    result.kept_in = home if result.trusted else ""
    return result


def has_any(home: str, cwd: str) -> bool:
    """Tell whether the user or the project has any hooks. Raises SettingsError."""
    own, project = load(home, cwd)
    return bool(own) or project.file is not None


class ProjectHook(HookDefinition):
    """One hook of a project. Right before it runs, the files that it names are checked again."""

    _project: ProjectHooks | None = PrivateAttr(default=None)

    @classmethod
    def made(cls, hook: HookDefinition, project: ProjectHooks) -> "ProjectHook":
        made = cls.model_validate(hook.model_dump(by_alias=True))
        made._project = project
        return made

    def fault(self) -> str:
        return CHANGED if self._project is None else self._project.fault()


class HookTable(HookConfig):
    """The user's hooks and, as far as they are trusted now, the project's. Knows MCP tools by the
    names that rules use for them, `mcp__server__tool`."""

    _names: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _kinds: Sequence[str] = PrivateAttr(default=())
    _project: ProjectHooks | None = PrivateAttr(default=None)

    @classmethod
    def made(
        cls,
        hooks: Json,
        project: ProjectHooks,
        kinds: Sequence[str],
        names: Mapping[str, str] | None = None,
    ) -> "HookTable":
        """Make a table for these `kinds` of events. `names` maps the model's names of MCP tools to
        what each stands for; it may change later."""
        table = cls.model_validate(hooks)
        table._names = {} if names is None else names
        table._kinds, table._project = kinds, project
        return table

    def whole(self, tool: str) -> str:
        return self._names.get(tool, tool)

    def _of_project(self, event: HookEventType) -> list[HookMatcher]:
        kind = _KINDS[event]
        return self._project.matchers(event) if self._project and kind in self._kinds else []

    @override
    def get_hooks_for_event(
        self, event_type: HookEventType, tool_name: str | None = None
    ) -> list[HookDefinition]:
        """Return the hooks that match the tool by any name: whole, the model's or its server's."""
        names = [tool_name]
        if tool_name is not None:
            whole = self.whole(tool_name)
            plain = whole.removeprefix("mcp__").partition("__")[2]
            names = list({tool_name, whole, plain or tool_name})

        def matching(matchers: list[HookMatcher]) -> list[HookDefinition]:
            fitting = (each for each in matchers if any(map(each.matches, names)))
            return [hook for matcher in fitting for hook in matcher.hooks]

        theirs = matching(self._of_project(event_type))
        project = self._project
        guarded = [ProjectHook.made(hook, project) for hook in theirs] if project else []
        return [*matching(_matchers_in(self, event_type)), *guarded]

    @override
    def has_hooks_for_event(self, event_type: HookEventType) -> bool:
        return super().has_hooks_for_event(event_type) or bool(self._of_project(event_type))


def _matchers_in(config: HookConfig, event: HookEventType) -> list[HookMatcher]:
    matchers: list[HookMatcher] = getattr(config, _KINDS[event])
    return matchers


_KINDS = {
    HookEventType.PRE_TOOL_USE: GUARD,
    HookEventType.POST_TOOL_USE: "post_tool_use",
    HookEventType.USER_PROMPT_SUBMIT: "user_prompt_submit",
    HookEventType.SESSION_START: "session_start",
    HookEventType.SESSION_END: "session_end",
    HookEventType.STOP: "stop",
}


class ToolHookManager(HookManager):
    config: HookConfig

    @override
    def _create_event(
        self, event_type: HookEventType, tool_name: str | None = None, *more: Any, **named: Any
    ) -> HookEvent:
        """Create the event with the tool's whole name, also for a hook that matches every tool."""
        if tool_name is not None and isinstance(self.config, HookTable):
            tool_name = self.config.whole(tool_name)
        return super()._create_event(event_type, tool_name, *more, **named)


def watch_project_hooks() -> None:
    """Patch the SDK's executor so that project hooks are checked first. Written for openhands-sdk
    1.58, which runs three kinds itself. Safe to call twice."""
    wrap(HookExecutor, "execute", _execute)


def _execute(
    around: Around, self: HookExecutor, hook: HookDefinition, event: HookEvent, *more: Any
) -> HookResult:
    """Replace the SDK's method for every hook of every kind: a project's runs only if it may."""
    why = hook.fault() if isinstance(hook, ProjectHook) else ""
    if not why:
        return around(self, hook, event, *more)  # type: ignore[no-any-return]
    blocks = event.event_type == HookEventType.PRE_TOOL_USE
    return HookResult(success=False, blocked=blocks, exit_code=2, reason=why, error=why)
