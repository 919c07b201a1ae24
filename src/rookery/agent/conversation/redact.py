"""What the model is told of a tool's result: without secrets, whichever tool read them.

A key in a file that the agent looks at would otherwise go to the provider of another model, into
every later request. All agents, those below too, carry their tools out at one place of the SDK's.
"""

from functools import wraps
from typing import Any

from openhands.sdk import Agent
from openhands.sdk.event import Event
from pydantic import BaseModel

from rookery.models.secrets import KNOWN

_carry_out = Agent._execute_action_event


@wraps(_carry_out)
def carry_out_discreetly(self: Agent, conversation: Any, action_event: Any) -> list[Event]:
    return [without_secrets(event) for event in _carry_out(self, conversation, action_event)]


def install() -> None:
    """From now on every tool's result is told so. Once is enough; twice does no harm."""
    Agent._execute_action_event = carry_out_discreetly  # type: ignore[method-assign]


def without_secrets[T](value: T) -> T:
    """The same value, its texts without secrets; what holds none is not copied."""
    changed: Any = value
    match value:
        case str():
            hidden = KNOWN.text(value)
            changed = value if hidden == value else hidden
        case BaseModel():
            fields = {name: getattr(value, name) for name in type(value).model_fields}
            told = {name: without_secrets(inner) for name, inner in fields.items()}
            news = {name: inner for name, inner in told.items() if inner is not fields[name]}
            changed = value.model_copy(update=news) if news else value
        case dict():
            inner = {key: without_secrets(each) for key, each in value.items()}
            changed = inner if any(inner[key] is not value[key] for key in value) else value
        case list() | tuple():
            items = [without_secrets(each) for each in value]
            same = all(new is old for new, old in zip(items, value, strict=True))
            whole = items if isinstance(value, list) else tuple(items)
            changed = value if same else whole
    return changed  # type: ignore[no-any-return]
