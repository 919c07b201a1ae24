"""The unsaved buffers of an editor, which a session's worker reads and writes."""

from collections.abc import Callable

from rookery.core.json import Json
from rookery.wire.jsonrpc import Answer, Peer
from rookery.wire.params import offers

FILES = {"fs/read_text_file": "readTextFile", "fs/write_text_file": "writeTextFile"}


def offered(client: Json) -> list[str]:
    """Return the methods that an editor with these capabilities answers."""
    return [name for name, key in FILES.items() if offers(client, "fs", key)]


def ask(
    peer: Peer, session: str, method: str, params: Json, reply: Callable[[Json | None], None]
) -> None:
    """Pass a worker's request on to the editor; `reply(None)`: there is no such buffer."""
    keys = ("path", "line", "limit") if method == "fs/read_text_file" else ("path", "content")
    asked = {key: params[key] for key in keys if params.get(key) is not None}

    def answered(answer: Answer) -> None:
        result = answer.result if answer.error is None else None
        if method == "fs/write_text_file":
            reply({} if answer.error is None else None)
        else:
            content = result.get("content") if isinstance(result, dict) else None
            reply({"content": content} if isinstance(content, str) else None)

    if method in FILES:
        peer.send_request(method, {"sessionId": session, **asked}, answered)
    else:
        reply(None)
