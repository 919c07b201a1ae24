"""Pictures in an agent's updates: out of the event and back into it."""

from base64 import b64encode
from typing import Any

import pytest

from rookery.core.agent import pictures
from rookery.core.json import Json, dumps
from rookery.core.view.reduce import fold
from tests.core.making import log
from tests.export.sessions import png

PNG = png(64, 48)
BASE64 = b64encode(PNG).decode()
IMAGE: Json = {"type": "image", "mimeType": "image/png", "data": BASE64}
RESOURCE: Json = {
    "type": "resource",
    "resource": {"uri": "file:///shot.png", "mimeType": "image/png", "blob": BASE64},
}


def call(*content: Any) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "a", "content": [*content]}


def said(block: Json, kind: str = "agent_message_chunk") -> Json:
    return {"sessionUpdate": kind, "content": block}


UPDATES = [
    said(IMAGE),
    said(IMAGE, "agent_thought_chunk"),
    said(RESOURCE),
    call({"type": "content", "content": IMAGE}, {"type": "content", "content": RESOURCE}),
    call({"type": "diff", "path": "a", "newText": "b"}, {"type": "content", "content": IMAGE}),
    {"sessionUpdate": "_child", "session": "s", "update": said(IMAGE)},
    {"sessionUpdate": "_child", "call": "c", "update": call({"type": "content", "content": IMAGE})},
]


@pytest.mark.parametrize("update", UPDATES)
def test_bytes_go_out_of_an_event_and_come_back(update: Json) -> None:
    store: dict[str, bytes] = {}

    def keep(data: bytes) -> str:
        store[pictures.name_of(data)] = data
        return pictures.name_of(data)

    kept = pictures.kept(update, keep)
    assert BASE64 not in dumps(kept)
    assert list(store.values()) == [PNG]
    assert set(pictures.named(kept)) == set(store)
    assert pictures.kept(kept, keep) == kept, "once is enough"
    assert BASE64 in dumps(pictures.whole(kept, store.get))
    gone = dumps(pictures.whole(kept, lambda _: None))
    assert f"{len(PNG)} bytes]" in gone, "what is lost is said"


@pytest.mark.parametrize(
    "update",
    [
        said({"type": "text", "text": BASE64}),
        said({"type": "image", "mimeType": "image/png", "data": "no base64!"}),
        said({"type": "image", "data": 7}),
        said({"type": "audio", "mimeType": "audio/wav", "data": BASE64}),
        said({"type": "resource", "resource": {"uri": "a.bin", "blob": b64encode(b"x").decode()}}),
        {"sessionUpdate": "agent_message_chunk", "content": [IMAGE]},
        {"sessionUpdate": "plan", "content": IMAGE},
        call("a", None, 7, {"type": "content", "content": None}),
        {"sessionUpdate": "_child", "update": None},
    ],
)
def test_anything_else_stays_as_it_came(update: Json) -> None:
    assert pictures.kept(update, pictures.name_of) is update
    assert pictures.whole(update, lambda _: None) is update


def test_a_picture_is_a_part_with_its_size_and_a_false_one_has_none() -> None:
    svg = {**IMAGE, "data": b64encode(b"<svg onload='alert(1)'/>").decode()}
    lines = {**IMAGE, "data": "\n".join(BASE64[at : at + 60] for at in range(0, len(BASE64), 60))}
    updates = [call(*({"type": "content", "content": each} for each in (IMAGE, svg, lines)))]
    found = fold(None, log(*(pictures.kept(each, pictures.name_of) for each in updates)))
    (block,) = found.blocks.values()
    sizes = [(part["width"], part["height"]) for part in block["parts"]]
    assert sizes == [(64, 48), (0, 0), (64, 48)]
