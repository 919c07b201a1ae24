"""Arguments of operations: declared once for the command line, forms, API and validation."""

from collections.abc import Callable, Mapping
from types import MappingProxyType, NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

if TYPE_CHECKING:
    from rookery.core.json import Json

type How = Literal["", "moment", "past", "words", "text", "path", "agent", "blocks", "files"]
"""How faces read a value and complete it.

    moment, past    milliseconds of the epoch, to come or gone: users write 2h, 09:00 or a date
    words           a text of which each word may stand for itself
    text            one that may have several lines
    path            a path of the machine that it is done on
    agent           the name of an agent
    blocks          ACP's content blocks; no form draws them
    files           names and contents in base64; the same
"""


class Arg(NamedTuple):
    """The annotation that describes an argument."""

    help: str
    """A sentence."""
    minimum: int | None = None
    maximum: int | None = None
    max_length: int | None = None
    pattern: str = ""
    how: How = ""
    positional: bool = False
    letter: str = ""
    """The command line's short option for it."""
    each: Mapping[str, str] = MappingProxyType({})
    """What each choice means; the command line has an option for each."""
    metavar: str = ""
    """What stands for a value in help; "": its type, or of a positional one, its name."""
    typed: bool = True
    """Whether users type it; else a face's own code or a client of the API gives it."""
    agrees: bool = False
    """Whether it is a yes to what a preview shows: a face that has shown that does not ask."""
    reason: str = "invalid"
    """The refusal's word, for programs."""
    wrong: str = ""
    """The refusal's sentence; "": the check's."""


class Argument(NamedTuple):
    name: str
    """On the wire."""
    parameter: str
    """The function's: with a last `_` where Python keeps the name for itself (`in_`)."""
    kind: str
    """The schema's type: string, integer, number, boolean or array; object, which no form draws."""
    choices: tuple[str, ...]
    required: bool
    default: Any
    about: Arg
    other: str = ""
    """Another type that it may have: true, or a number."""

    @property
    def word(self) -> str:
        """The name as users write it."""
        return self.name.replace("_", "-")

    def read(self, value: Any) -> Any:
        """Convert a value from JSON, where 1.0 is an integer, too."""
        return int(value) if self.kind == "integer" and isinstance(value, float) else value


FILE: "Json" = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "pattern": r"^[^/\\\x00-\x1f]+$",
            "examples": ["plan.png"],
        },
        "data": {
            "type": "string",
            "minLength": 4,
            "pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
            "description": "In base64.",
        },
    },
    "required": ["name", "data"],
    "additionalProperties": False,
}
LARGEST = 2**53 - 1
"""The largest integer that every reader of JSON keeps."""
KINDS = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}


def arguments_of(body: Callable[..., Any]) -> tuple[Argument, ...]:
    """Return the parameters that have an `Arg`. The caller supplies the others."""
    code = body.__code__
    plain = code.co_varnames[: code.co_argcount]
    some = body.__defaults__ or ()
    defaults = dict(zip(plain[len(plain) - len(some) :], some, strict=True))
    defaults |= body.__kwdefaults__ or {}
    annotated = ((name, _about(each)) for name, each in body.__annotations__.items())
    return tuple(
        _argument(name, body.__annotations__[name].__origin__, about, defaults)
        for name, about in annotated
        if about is not None
    )


def _about(annotation: Any) -> Arg | None:
    known = getattr(annotation, "__metadata__", ())
    return next((each for each in known if isinstance(each, Arg)), None)


def _argument(name: str, of: Any, about: Arg, defaults: Mapping[str, Any]) -> Argument:
    of = getattr(of, "__value__", of)  # of a name for a type
    others: list[Any] = []
    if get_origin(of) is UnionType:  # one that may be left out, or has two types
        of, *others = (each for each in get_args(of) if each is not NoneType)
    choices = get_args(of) if get_origin(of) is Literal else ()
    kind = "string" if choices else KINDS[get_origin(of) or of]
    required, default = name not in defaults, defaults.get(name)
    other = KINDS[others[0]] if others else ""
    return Argument(name.rstrip("_"), name, kind, choices, required, default, about, other)


def schema_of(arguments: tuple[Argument, ...]) -> "Json":
    """Return the arguments as ACP's restricted JSON schema."""
    return {
        "type": "object",
        "properties": {each.name: _property(each) for each in arguments},
        "required": [each.name for each in arguments if each.required],
    }


def _property(argument: Argument) -> "Json":
    about = argument.about
    title = argument.word.replace("-", " ")
    schema: Json = {"type": argument.kind, "title": f"{title[:1].upper()}{title[1:]}"}
    schema["description"] = about.help
    most = LARGEST if argument.kind == "integer" and about.maximum is None else about.maximum
    greatest = "maxItems" if argument.kind == "array" else "maximum"
    limits = {"minimum": about.minimum, greatest: most, "maxLength": about.max_length}
    schema |= {name: value for name, value in limits.items() if value is not None}
    schema |= {"pattern": about.pattern} if about.pattern else {}
    schema |= {"how": about.how} if about.how else {}
    plain = argument.kind == "string" and not argument.choices and not about.pattern
    schema |= {"minLength": 1} if plain and argument.required else {}
    schema |= {} if about.typed else {"typed": False}
    schema |= {"type": [argument.kind, argument.other]} if argument.other else {}
    schema |= {"items": {"type": "object"}} if about.how == "blocks" else {}
    schema |= {"items": FILE} if about.how == "files" else {}
    schema |= {"enum": list(argument.choices)} if argument.choices else {}
    schema |= {} if argument.default is None else {"default": argument.default}
    return schema
