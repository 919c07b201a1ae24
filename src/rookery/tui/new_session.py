"""Creating a session by its first prompt, in the reader's thread."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.tui.messages import Sent

if TYPE_CHECKING:
    from rookery.client.attach import Attachment
    from rookery.operations.calling.interface import Rookery

type Prompt = tuple[Json, "Sequence[Attachment]"]
"""The command, and its files."""


def unsent(prompts: list[Prompt], why: str) -> Sent:
    """Return all prompts as one, to be put back into the composer."""
    command = {"do": "prompt", "prompt": [each for one, _ in prompts for each in one["prompt"]]}
    return Sent("", command, why, files=[each for _, files in prompts for each in files])


def created(rookery: "Rookery", **given: Any) -> tuple[str, str]:
    """Create a session; return its id, or "" and why there is none and what helps."""
    try:
        return rookery.create(**given), ""
    except Refused as error:
        return "", error.sentences
    except OSError as error:
        return "", f"Cannot create the session: {error}"
