"""A row of the catalogue: one operation, with all that any face needs to know of it.

A row is made from a function and the arguments of its decorator:

    name         the function's, as users write it (`_` becomes `-`; a last `_` is dropped)
    sentence     the first of its docstring; more: the rest, for the help
    arguments    its parameters, each `Annotated` with an `Arg`

There are four kinds:

    change     returns the changes to the session. Whoever writes the session's log applies
               them: its worker or, while the session sleeps, the process that asks for it.
    command    returns the command (`core.commands`) that is sent to the session.
    work       is carried out by a process of the home, and gets its `At`; it returns a
               result, with a `summary` for people.
    read       the same, and changes nothing."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from rookery.core.refusals import AGREE, PREVIEW
from rookery.operations.catalogue.arguments import Argument, arguments_of, schema_of

if TYPE_CHECKING:
    from rookery.core.asks.asks import Refusal
    from rookery.core.commands import Command, Test
    from rookery.core.json import Json

type Kind = Literal["change", "command", "work", "read"]
type Place = Literal["session", "sessions", "rookery"]
"""The target of an operation: `sessions`: the command line takes several at once; `rookery`: no
session."""
type Once = Literal["key", "harmless"]
"""Why it is safe to send a work twice: `key`: the daemon keeps the result of the first; `harmless`:
the second does nothing more."""
type Report = Callable[[str], object]
"""Gets a sentence on how far a work has come."""

FINGERPRINT = "fingerprint"
"""The field beside the arguments for the fingerprint of a preview that was agreed to: no argument
has this name."""
SHOW = "show"
"""In its place: only the preview is wanted, even where nobody would have to agree to it."""


def unheard(_sentence: str) -> None:
    """Ignore progress: a `Report` that nobody follows."""


class At(NamedTuple):
    """The context in which a work or a read is carried out."""

    home: str
    session: str = ""
    report: Report = unheard
    name: str = ""
    """An id for what the work makes: the same each time that the request comes."""
    again: bool = False
    """Whether an earlier try may have done some of it: the process ended before it said so."""
    agreed: str | None = None
    """The fingerprint of the preview that was agreed to; None: nothing has to be agreed to."""


class Preview(NamedTuple):
    """The effects of a work, shown so that the user can agree to exactly these."""

    shown: str
    fingerprint: str
    reason: str = PREVIEW
    """The refusal's word, until it is agreed to."""
    remedy: str = AGREE


class SessionChange(TypedDict, total=False):
    """The changes to a session; fields that are left out stay as they are."""

    title: str
    archived: bool
    pinned: bool
    snoozed: int
    """Until when it is hidden, in milliseconds of the epoch; 0: it is not."""


class Preset(NamedTuple):
    """A menu entry that needs no form: a title, and the arguments as users write them."""

    title: str
    given: "Mapping[str, str]"
    more: str = ""


class Traits(NamedTuple):
    """The properties of an operation, given to its decorator."""

    title: str
    on: Place = "sessions"
    group: str = "Manage sessions"
    """The heading of the command line's help that it stands under."""
    handler: str = "record"
    """Of a change: the worker's method for it."""
    guarded: "Test" = False
    """Whether it may loosen what the user decides: it needs proof that a user sent it."""
    takes: "Test" = False
    """Whether it takes away, hides or ends what is there: an agent's process may not."""
    person: str = ""
    """Of a work: what an agent's process may not do ("drop worktrees"); "": it may do this."""
    role: Literal["look", "answer", "all"] = "look"
    """Of a read: the least role of a device that may have it. `answer`: of a command that such a
    device may send; others may be sent by devices that may do everything."""
    for_new: bool = False
    """Of a read: whether it only helps to create a session, which a read-only daemon does not."""
    when: "Mapping[str, bool]" = MappingProxyType({})
    """What menus ask of a session (`conditions.facts`) before they offer it."""
    listed: bool = True
    """Whether menus offer it; a face may have a place of its own for it."""
    typed: bool = True
    """Whether users type it: as a command and a slash command. Else it is in the API alone."""
    needless: str = ""
    """Why it is not done again where `when` does not hold: "is already archived"; "": it is."""
    undo: str = ""
    """The operation that takes it back."""
    done: str = ""
    """What is said afterwards, with {} for the session; of a work, its `summary` is."""
    while_running: str = ""
    """What is said besides, while a turn runs."""
    presets: Sequence[Preset] = ()
    examples: Sequence[str] = ()
    """Of the command line, without its first word."""
    sends: "Callable[[Json], Json] | None" = None
    """The command that builds from before the catalogue know it by."""
    more: str = ""
    """What menus say beside the title; "": the sentence."""
    warns: str = ""
    """What it costs: said by menus and keys, which then ask; "": they do not."""
    warns_when: "Mapping[str, bool]" = MappingProxyType({})
    """The facts with which it costs that."""
    needs_one: Sequence[str] = ()
    """Arguments of which at least one is given."""
    preview: Callable[..., Preview | None] | None = None
    """Of a work or a command: what it would do, which has to be agreed to; None: nothing has to
    be. A command is sent with the fingerprint."""
    once: Once = "key"
    whole_id: bool = False
    """Whether requests name the session by its whole id, since a title could mean another one by
    then. It may be gone when the request comes again."""
    completes: "Callable[[At, Json], Json] | None" = None
    """Of a command: puts in what whoever sends it over HTTP may not know, such as secrets."""
    masks: "Callable[[Json], Json] | None" = None
    """Of a read: what a daemon says instead of it, without values that have no known shape."""


class Row:
    """An operation of the catalogue."""

    def __init__(self, kind: Kind, body: Callable[..., Any], traits: Traits) -> None:
        self.body = body
        self.kind = kind
        self.name = body.__name__.rstrip("_").replace("_", "-")
        self.traits = traits
        self.paragraphs = [" ".join(each.split()) for each in (body.__doc__ or "").split("\n\n")]
        first, stop, _ = self.paragraphs[0].partition(". ")
        self.sentence = first + stop.rstrip()

    @property
    def word(self) -> str:
        """The sentence as part of a list: with a small initial, without its full stop."""
        return f"{self.sentence[:1].lower()}{self.sentence[1:].rstrip('.')}"

    @property
    def more(self) -> str:
        """The text that menus show beside the title."""
        return self.traits.more or self.word

    @property
    def on_session(self) -> bool:
        return self.traits.on != "rookery"

    @property
    def is_sent(self) -> bool:
        """Whether it is a command to the session, not carried out by whoever was asked."""
        return self.kind in ("change", "command")

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        return arguments_of(self.body)

    @cached_property
    def schema(self) -> "Json":
        """The arguments as ACP's restricted JSON schema, from which forms are drawn."""
        return schema_of(self.arguments)

    def check(self, given: "Json") -> "Refusal | None":
        """Return what is wrong with the arguments, or None."""
        from rookery.core.asks import forms
        from rookery.core.asks.asks import Refusal

        wrong = forms.check(self.schema, given)
        if not wrong:
            needed = self.traits.needs_one
            if not needed or any(_says(given.get(each)) for each in needed):
                return None
            names = f"{', '.join(needed[:-1])} and {needed[-1]}"
            return Refusal("invalid", f"Give at least one of {names}.")
        name, why = next(iter(wrong.items()))
        argument = next((each for each in self.arguments if each.name == name), None)
        if argument is None:
            known = ", ".join(each.name for each in self.arguments) or "none"
            return Refusal("invalid", f"{self.name} has no argument {name!r}. It has: {known}.")
        title = self.schema["properties"][name]["title"]
        return Refusal(argument.about.reason, argument.about.wrong or f"{title} {why}.")

    def call(self, given: "Json", *at: At, body: Callable[..., Any] | None = None) -> Any:
        """Call the function, or another `body` that takes the same arguments."""
        known = self.given(given)
        named = {each.parameter: known[each.name] for each in self.arguments if each.name in known}
        return (body or self.body)(*at, **named)

    def update(self, given: "Json") -> "Json":
        """Return the event that a change amounts to."""
        return {"sessionUpdate": "_session", **self.call(given)}

    def command(self, given: "Json") -> "Json":
        """Return the command for a session, in the form that earlier builds know, if any."""
        if self.kind == "command":
            request: Json = self.call(given)
            return request
        sends = self.traits.sends
        return {"do": self.name, **given} if sends is None else sends(given)

    @cached_property
    def execution(self) -> "Command":
        """How whoever writes the session's log carries the operation out."""
        from rookery.core.commands import COMMANDS, Command

        if self.kind == "command":
            return COMMANDS[self.name]
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
        """Return only the operation's arguments; ignore what another build adds."""
        known = [each for each in self.arguments if command.get(each.name) is not None]
        return {each.name: each.read(command[each.name]) for each in known}


def _says(value: Any) -> bool:
    return value is not None and value is not False


def _operation(kind: Kind, title: str, **traits: Any) -> Callable[[Callable[..., Any]], Row]:
    return partial(Row, kind, traits=Traits(title, **traits))


change = partial(_operation, "change")
command = partial(_operation, "command")
work = partial(_operation, "work")
read = partial(_operation, "read")
