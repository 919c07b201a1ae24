"""The request bodies for a session: each command with its fields."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

ID = "^[A-Za-z0-9_.:-]*$"
Id = Annotated[
    str,
    Field(
        max_length=200,
        pattern=ID,
        description="Chosen by you: a command sent twice with the same id runs once.",
    ),
]


def _whole(value: object) -> object:
    """Convert a whole float to int: to JSON, 1.0 is an integer, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


LARGEST = 2**53
"""The largest number that every reader of JSON keeps exactly."""
Whole = Annotated[int, Field(ge=0, le=100_000), BeforeValidator(_whole)]
When = Annotated[int, Field(ge=0, le=LARGEST), BeforeValidator(_whole)]
Seq = Annotated[int, Field(ge=0, le=LARGEST), BeforeValidator(_whole)]
Turn = Annotated[int, Field(ge=0, le=10**9), BeforeValidator(_whole)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
ENCODED = 14 * 1024 * 1024
"""Characters: 10 MiB and a little."""


class Strict(BaseModel):
    """Takes what the document says and nothing else: no 1 for true, no unknown field."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Content(BaseModel):
    """A content block of ACP."""

    model_config = ConfigDict(extra="allow")
    type: str = Field(max_length=100, examples=["text"])
    text: str = Field("", max_length=1_000_000, examples=["Run the tests."])


Blocks = Annotated[list[Content], Field(min_length=1, max_length=100)]


class Attached(Strict):
    name: str = Field(
        min_length=1, max_length=200, pattern=r"^[^/\\\x00-\x1f]+$", examples=["plan.png"]
    )
    data: str = Field(min_length=4, max_length=ENCODED, pattern=BASE64, description="In base64.")


class Answer(Strict):
    ask: Name
    nonce: str = Field("", max_length=200)
    option: str = Field("", max_length=500)
    reason: str = Field("", max_length=100_000)
    confirm: bool = False
    always: bool | Whole = False
    action: Literal["", "accept", "decline", "cancel"] = ""
    content: dict[str, Any] = {}
    cancel: bool = False
    defer: bool = False
    id: Id = ""


class SessionFields(Strict):
    """Changes to a session. A field that is left out keeps its value."""

    title: str | None = Field(None, min_length=1, max_length=200, pattern=r"\S")
    archived: bool | None = None
    pinned: bool | None = None
    snoozed: When | None = Field(
        None, description="Until when, in milliseconds since the epoch; 0: no longer."
    )


# --- commands ----------------------------------------------------------------------------------


class _Command(Strict):
    id: Id = ""


class PromptCommand(_Command):
    """The operation `prompt`, with all of the prompt as content blocks."""

    do: Literal["prompt"]
    prompt: Annotated[list[Content], Field(max_length=100)] = []
    attachments: list[Attached] = Field(default=[], max_length=8)
    steer: bool = False
    edits: int = Field(0, ge=0, le=10**9)


class RetryCommand(_Command):
    """Send the prompt of a turn again, as it was sent."""

    do: Literal["retry"]
    turn: int = Field(0, ge=0, le=10**9, description="Its number; 0: the last one.")


class QueueCommand(_Command):
    """Change a prompt that waits, or send it now."""

    do: Literal["queue"]
    op: Literal["edit", "move", "remove", "send"]
    item: str = Field(
        "", max_length=500, description="From the header's `queue`; with `send`, empty: all."
    )
    prompt: Blocks | None = Field(None, description="With `edit`: the new prompt.")
    to: Whole = 0


class AnswerCommand(Answer):
    """Answer an ask."""

    do: Literal["answer"]


class SetCommand(_Command):
    """Set the mode, the model, the effort, `confirm` or an option of the agent's."""

    do: Literal["set"]
    option: Name = Field(examples=["model"])
    value: Annotated[str, Field(min_length=1, max_length=1000)] | bool
    destructive: bool = False
    told: str = Field("", max_length=80)


class RenameCommand(_Command):
    """Give it a title."""

    do: Literal["rename"]
    title: str = Field(min_length=1, max_length=200)


class SnoozeCommand(_Command):
    """Hide it from lists until a time."""

    do: Literal["snooze"]
    until: When = Field(description="In milliseconds since the epoch; 0: show it again.")


class ResumeCommand(_Command):
    """Send the prompt that hit a rate limit again once the limit is lifted."""

    do: Literal["resume"]
    off: bool = Field(False, description="No more.")


class SwitchCommand(_Command):
    """Let another agent take over."""

    do: Literal["switch"]
    agent: Name = Field(examples=["demo"])
    model: str | None = Field(None, min_length=1, max_length=500)


class RewindCommand(_Command):
    """Take the session back to how it was after a turn, or undo the last rewind."""

    do: Literal["rewind"]
    turn: Turn | None = Field(None, description="0: the beginning.")
    files: bool = Field(True, description="The files of its directory.")
    conversation: bool = Field(True, description="The conversation and the agent's memory.")
    undo: bool = Field(False, description="Undo the last one.")
    fingerprint: str = Field(
        "",
        max_length=100,
        description="That of a preview: a yes to exactly its list; refused (`changed`) if files "
        "changed since. Without it, only files are rewound that this session alone changed.",
    )


class SettingsCommand(_Command):
    """Take on changed settings that wait for your word."""

    do: Literal["settings"]
    take: Name = Field(description="The fingerprint of the settings.")


class CancelSubagentCommand(_Command):
    """Cancel one sub-agent; the agent that started it is told and goes on."""

    do: Literal["cancel_subagent"]
    subagent: Name = Field(description="From the action of its block.")


class PlainCommand(_Command):
    """Cancel the turn, end it by force, start, stop or restart the agent, hide it from lists or
    show it again, pin it, or start the conversation over."""

    do: (
        Literal["cancel", "force_end", "start", "stop", "restart"]
        | Literal["archive", "unarchive", "pin", "unpin", "clear"]
    )


Command = Annotated[
    PromptCommand
    | RetryCommand
    | QueueCommand
    | AnswerCommand
    | SetCommand
    | RenameCommand
    | SnoozeCommand
    | ResumeCommand
    | SwitchCommand
    | RewindCommand
    | SettingsCommand
    | CancelSubagentCommand
    | PlainCommand,
    Field(discriminator="do"),
]
