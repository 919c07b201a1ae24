"""Converting prompts to what an agent accepts, according to the capabilities it declared."""

from base64 import b64decode
from collections.abc import Callable
from typing import Any

from rookery.core.json import Json, lenient

type Load = Callable[[str], str | None]
"""The bytes of a blob by its hash, in base64; None where there is none."""


OURS = ("bytes", "width", "height")
"""Keys that the log adds to a block whose bytes it keeps (`pictures.about`)."""


class Untaken(Exception):
    """The agent does not accept a part of the prompt; the message says which, and what helps."""


def for_agent(prompt: list[Json], capabilities: Json, load: Load) -> list[Json]:
    """Return the blocks as they are sent. Raises Untaken."""
    takes = lenient.mapping(capabilities, "promptCapabilities")
    return [_block(block, takes, load) for block in prompt]


def _block(block: Json, takes: Json, load: Load) -> Json:
    match block.get("type"):
        case "image" | "audio" as kind:
            if takes.get(kind) is not True:
                media = "images" if kind == "image" else kind
                raise Untaken(f"This agent does not accept {media}; send the prompt without.")
            return _filled(block, load)
        case "resource":
            resource = lenient.mapping(block, "resource")
            if takes.get("embeddedContext") is True:
                return {**block, "resource": _resource(resource, load)}
            name = lenient.text(resource, "uri").rpartition("/")[2] or "resource"
            return {"type": "resource_link", "uri": lenient.text(resource, "uri"), "name": name}
    return block


def _filled(block: Json, load: Load) -> Json:
    """Put the data back into an image that is kept as a blob."""
    if not lenient.text(block, "blob"):
        return block
    data = _loaded(block["blob"], load, "The image")
    rest = {key: block[key] for key in block if key not in (*OURS, "blob", "name")}
    return {**rest, "data": data}


def _resource(resource: Json, load: Load) -> Json:
    """Put the contents back into a file that is kept as a blob: as text where it is text."""
    if not lenient.text(resource, "kept"):
        return resource
    data = _loaded(resource["kept"], load, "A file")
    rest = {key: resource[key] for key in resource if key not in (*OURS, "kept")}
    try:
        text = b64decode(data).decode("utf-8")
    except UnicodeDecodeError:
        return {**rest, "blob": data}
    return {**rest, "blob": data} if "\0" in text else {**rest, "text": text}


def _loaded(name: str, load: Load, what: str) -> str:
    data = load(name)
    if data is None:
        raise Untaken(f"{what} of this prompt is no longer in the log.")
    return data


def words_of(prompt: list[Any]) -> str:
    """Return a prompt's own text: its text blocks, each starting on a new line."""
    joined = ""
    for block in prompt:
        text = lenient.text(block, "text") if lenient.text(block, "type") == "text" else ""
        apart = joined.endswith("\n") or text.startswith("\n") or not (joined and text)
        joined += text if apart else "\n" + text
    return joined
