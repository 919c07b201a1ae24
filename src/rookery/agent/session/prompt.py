"""Converts a prompt's content blocks to the model's message."""

from typing import Any
from urllib.parse import unquote, urlsplit

from rookery.agent.provider.surrogates import whole
from rookery.core.json import Json
from rookery.wire.params import invalid


def parts_of(prompt: list[Any]) -> list[tuple[str, str]]:
    """Parse content blocks. Raises RpcError for unsupported ones: none is dropped silently."""
    parts = [_part(block) for block in prompt]
    if not any(kind != "text" or text.strip() for kind, text in parts):
        raise invalid("the prompt is empty")
    return parts


def words_of(parts: list[tuple[str, str]]) -> str:
    return "\n".join(text for kind, text in parts if kind == "text")


def message_of(parts: list[tuple[str, str]]) -> Any:
    """Build the SDK's message."""
    from openhands.sdk import ImageContent, Message, TextContent

    content = [
        ImageContent(image_urls=[value]) if kind == "image" else TextContent(text=value)
        for kind, value in parts
    ]
    return Message(role="user", content=content)


def _part(block: Any) -> tuple[str, str]:
    kind = block.get("type") if isinstance(block, dict) else None
    match kind:
        case "text":
            return "text", whole(_text(block, "text"))
        case "image":
            return "image", _image(_text(block, "data"), _text(block, "mimeType"))
        case "resource_link":
            return "text", _link(block)
        case "resource":
            return _resource(block.get("resource"))
        case "audio":
            raise invalid("audio is not supported: send it as text")
    raise invalid(f"content of type {kind!r} is not supported")


def _text(block: Json, key: str) -> str:
    value = block.get(key)
    if not isinstance(value, str):
        raise invalid(f"a block of type {block.get('type')!r} needs {key}")
    return value


def _image(data: str, kind: str) -> str:
    return f"data:{kind};base64,{data}"


def _link(block: Json) -> str:
    place = path_of(_text(block, "uri"))
    name = block.get("title") or block.get("name")
    about = block.get("description")
    link = f"[{name}]({place})" if isinstance(name, str) and name and name != place else place
    return f"{link}: {about}" if isinstance(about, str) and about else link


def _resource(resource: Any) -> tuple[str, str]:
    if not isinstance(resource, dict) or not isinstance(resource.get("uri"), str):
        raise invalid("a resource needs its uri")
    place, text, blob = path_of(resource["uri"]), resource.get("text"), resource.get("blob")
    if isinstance(text, str):
        return "text", whole(f'<resource uri="{place}">\n{text}\n</resource>')
    kind = resource.get("mimeType")
    if not isinstance(blob, str):
        raise invalid("a resource needs text or blob")
    if isinstance(kind, str) and kind.startswith("image/"):
        return "image", _image(blob, kind)
    raise invalid(f"a resource of type {kind or 'unknown'} cannot be read: send its text")


def path_of(uri: str) -> str:
    """Return the path of a file: URI, since the tools take paths; any other URI as it is."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" and parts.path else uri
