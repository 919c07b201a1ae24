"""A row of the catalogue: one operation, with all that any face needs to know of it.

A row is made of a function and of what its decorator says:

    name         the function's, as users write it (`_` becomes `-`; a last `_` is dropped)
    sentence     the first of its docstring; more: the rest, for the help
    arguments    its parameters, each `Annotated` with an `Arg`

`change`: the function returns what becomes of the session. It is done by whoever writes the
session's log: its worker, or, while the session sleeps, the one who asks for it.
`command`: the function returns the command (`core.commands`) that is sent to the session.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from rookery.operations.catalogue.arguments import Argument, arguments_of, schema_of

if TYPE_CHECKING:
    from rookery.core.asks.asks import Refusal
    from rookery.core.commands import Command, Test
    from rookery.core.json import Json

type Kind = Literal["change", "command"]
type Place = Literal["session", "sessions"]
"""What it is done to: `sessions`: the command line takes several at once."""


class SessionChange(TypedDict, total=False):
    """What a change does to a session; what is left out stays as it is."""

    title: str
    archived: bool
    pinned: bool
    snoozed: int
    """Until when it is hidden, in milliseconds of the epoch; 0: it is not."""


class Preset(NamedTuple):
    """A menu's entry that needs no form: a title, and the arguments as users write them."""

    title: str
    given: "Mapping[str, str]"
    more: str = ""


class Traits(NamedTuple):
    """What a decorator says of an operation."""

    title: str
    group: str
    """The heading of the command line's help that it stands under."""
    on: Place
    handler: str
    """The worker's method for it."""
    guarded: "Test"
    """Whether it may loosen what the user decides: it needs proof that a user sent it."""
    takes: "Test"
    """Whether it takes away, hides or ends what is there: an agent's process may not."""
    when: "Mapping[str, bool]"
    """What menus ask of a session (`conditions.FACTS`) before they offer it."""
    needless: str
    """Why it is not done again where `when` does not hold: "is already archived"; "": it is."""
    undo: str
    """The operation that takes it back."""
    done: str
    """What is said afterwards, with {} for the session."""
    while_running: str
    """What is said besides, while a turn runs."""
    presets: Sequence[Preset]
    examples: Sequence[str]
    """Of the command line, without its first word."""
    sends: "Callable[[Json], Json] | None"
    """The command that builds from before the catalogue know it by."""
    more: str
    """What menus say beside the title; "": the sentence."""
    warns: str
    """What it costs: said by menus and keys, which then ask; "": they do not."""
    warns_when: "Mapping[str, bool]"
    """The facts with which it costs that."""


class Row:
    """An operation."""

    def __init__(self, body: Callable[..., Any], kind: Kind, traits: Traits) -> None:
        self.body = body
        self.kind = kind
        self.name = body.__name__.rstrip("_").replace("_", "-")
        self.traits = traits
        self.paragraphs = [" ".join(each.split()) for each in (body.__doc__ or "").split("\n\n")]
        first, stop, _ = self.paragraphs[0].partition(". ")
        self.sentence = first + stop.rstrip()

    @property
    def word(self) -> str:
        """The sentence as part of a list: small, without its full stop."""
        return f"{self.sentence[:1].lower()}{self.sentence[1:].rstrip('.')}"

    @property
    def more(self) -> str:
        """What menus say beside the title."""
        return self.traits.more or self.word

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        return arguments_of(self.body)

    @cached_property
    def schema(self) -> "Json":
        """Its arguments as ACP's restricted JSON schema, which forms draw."""
        return schema_of(self.arguments)

    def check(self, given: "Json") -> "Refusal | None":
        """What is wrong with the arguments; None: nothing."""
        from rookery.core.asks import forms
        from rookery.core.asks.asks import Refusal

        wrong = forms.check(self.schema, given)
        if not wrong:
            return None
        name, why = next(iter(wrong.items()))
        argument = next((each for each in self.arguments if each.name == name), None)
        if argument is None:
            known = ", ".join(each.name for each in self.arguments) or "none"
            return Refusal("invalid", f"{self.name} has no argument {name!r}. It has: {known}.")
        title = self.schema["properties"][name]["title"]
        return Refusal(argument.about.reason, argument.about.wrong or f"{title} {why}.")

    def _called(self, given: "Json") -> Any:
        known = self.given(given)
        return self.body(
            **{each.parameter: known[each.name] for each in self.arguments if each.name in known}
        )

    def update(self, given: "Json") -> "Json":
        """Of a change: the event that it is."""
        return {"sessionUpdate": "_session", **self._called(given)}

    def command(self, given: "Json") -> "Json":
        """What is sent to a session: as earlier builds know it, if they do."""
        if self.kind == "command":
            found: Json = self._called(given)
            return found
        sends = self.traits.sends
        return {"do": self.name, **given} if sends is None else sends(given)

    @cached_property
    def execution(self) -> "Command":
        """How whoever writes the session's log carries it out."""
        from rookery.core.commands import COMMANDS, Command

        if self.kind == "command":
            return COMMANDS[self.command({})["do"]]
        traits = self.traits
        return Command(
            handler=traits.handler,
            check=lambda command, _bytes: self.check(self.given(command)),
            offline=lambda _header, command: self.update(command),
            guarded=traits.guarded,
            takes=traits.takes,
            deed=f"{traits.title[:1].lower()}{traits.title[1:]} sessions",
        )

    def given(self, command: "Json") -> "Json":
        """Its arguments alone: what another build adds to a command is passed over."""
        return {each.name: command[each.name] for each in self.arguments if each.name in command}


def change(  # noqa: PLR0913 - each is a field of the row
    title: str,
    *,
    on: Place = "sessions",
    group: str = "Manage sessions",
    handler: str = "record",
    guarded: "Test" = False,
    takes: "Test" = False,
    when: "Mapping[str, bool] | None" = None,
    needless: str = "",
    undo: str = "",
    done: str = "",
    while_running: str = "",
    presets: Sequence[Preset] = (),
    examples: Sequence[str] = (),
    sends: "Callable[[Json], Json] | None" = None,
) -> Callable[[Callable[..., SessionChange]], Row]:
    """An operation whose outcome is what its function returns, written into the session's log."""
    traits = Traits(
        *(title, group, on, handler, guarded, takes, when or {}, needless, undo, done),
        *(while_running, presets, examples, sends, "", "", {}),
    )
    return lambda body: Row(body, "change", traits)


def command(
    title: str,
    *,
    group: str = "Manage sessions",
    when: "Mapping[str, bool] | None" = None,
    done: str = "",
    examples: Sequence[str] = (),
    more: str = "",
    warns: str = "",
    warns_when: "Mapping[str, bool] | None" = None,
) -> "Callable[[Callable[..., Json]], Row]":
    """An operation that the session's worker carries out, or the core while none runs."""
    traits = Traits(
        *(title, group, "sessions", "", False, False, when or {}, "", "", done),
        *("", (), examples, None, more, warns, warns_when or {}),
    )
    return lambda body: Row(body, "command", traits)
