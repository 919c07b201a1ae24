"""`fs/*`: an agent reads and writes files through us, from an editor's unsaved buffers first, then
from the disk."""

from collections.abc import Callable

from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.wire.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Incoming
from rookery.worker.agent.files import Files, Refused
from rookery.worker.clients import Clients


def take(incoming: Incoming, files: Files, clients: Clients, *, deaf: bool) -> None:
    """`deaf`: the agent leaves too much of ours unread."""
    params = incoming.params if isinstance(incoming.params, dict) else {}
    work = {"fs/read_text_file": _read, "fs/write_text_file": _write}.get(incoming.method)
    if work is None:
        incoming.unknown()
        return
    if deaf:  # one breath of requests can ask for gigabytes
        incoming.fail(INTERNAL_ERROR, "read the pending answers first")
        return
    try:
        files.check(lenient.text(params, "path"))
    except Refused as refused:
        incoming.fail(refused.code, refused.message)
        return

    def answered(result: object | None) -> None:
        if isinstance(result, dict):
            incoming.reply(result)
        else:
            _answer(incoming, work, files, params)

    if not clients.call(incoming.method, params, answered):
        _answer(incoming, work, files, params)


def _read(files: Files, params: Json) -> Json:
    line, limit = lenient.integer(params, "line"), lenient.integer(params, "limit")
    return {"content": files.read(lenient.text(params, "path"), line, limit)}


def _write(files: Files, params: Json) -> Json:
    if not isinstance(params.get("content"), str):
        raise Refused(INVALID_PARAMS, "content must be text")
    files.write(lenient.text(params, "path"), params["content"])
    return {}


def _answer(
    incoming: Incoming, work: Callable[[Files, Json], Json], files: Files, params: Json
) -> None:
    try:
        incoming.reply(work(files, params))
    except Refused as refused:
        incoming.fail(refused.code, refused.message)
