"""Attachments in a real worker: staged by a client, kept in the log, sent as agents take them."""

import json
import os
import stat
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from rookery.client.attach import LARGEST, MAX_FILES, Attachment, Unattachable, load, mime_of, stage
from rookery.client.session import Rejected
from rookery.core.view.reduce import fold
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.processes import tree
from tests.export.sessions import png
from tests.worker.aviary import Aviary, Bird, blocks, is_idle

type Json = dict[str, Any]

PNG = png(8, 6)


def given(bird: Bird, tmp_path: Path, **files: bytes) -> list[Json]:
    """Blocks of files that are staged for a session."""
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    return stage(str(bird.directory), load([str(tmp_path / name) for name in files]))


async def send(bird: Bird, *prompt: Json) -> Any:
    begun = await bird.send("prompt", prompt=[*blocks("look"), *prompt])
    return await bird.ended(begun)


def seen_by(aviary: Aviary) -> list[Json]:
    """The blocks that the player got, as it remembers them."""
    files = [file for file in next(aviary.root.glob("state-*")).rglob("*") if file.is_file()]
    lines = [line for file in files for line in file.read_text().splitlines() if line[:1] == "{"]
    records = [json.loads(line).get("update", {}) for line in lines]
    said = [each for each in records if each.get("sessionUpdate") == "user_message_chunk"]
    return [each["content"] for each in said]


async def test_files_reach_the_agent_whole(aviary: Aviary, tmp_path: Path) -> None:
    """An image with its data, text as text, anything else as a blob."""
    bird = aviary.hatch()
    prompt = given(bird, tmp_path, shot=PNG, notes="Grüße\n".encode(), data=b"\x00\xff")
    assert (await send(bird, *prompt)).update["reason"] == "end_turn"
    _, image, notes, data = seen_by(aviary)
    assert image == {"type": "image", "mimeType": "image/png", "data": b64encode(PNG).decode()}
    assert notes["resource"]["text"] == "Grüße\n"
    assert notes["resource"]["uri"].endswith("/notes")
    assert data["resource"]["blob"] == b64encode(b"\x00\xff").decode()


async def test_the_log_holds_the_bytes_once_and_the_stage_is_empty(
    aviary: Aviary, tmp_path: Path
) -> None:
    bird = aviary.hatch()
    prompt = given(bird, tmp_path, shot=PNG)
    await send(bird, *prompt)
    await send(bird, *prompt)  # staged once: the second finds it in the log
    assert os.listdir(bird.directory / paths.STAGED) == []
    kept = [event.update["prompt"][1] for event in bird.events() if "prompt" in event.update]
    assert kept[0] == kept[1]
    assert kept[0]["name"] == "shot"
    assert "data" not in kept[0]
    with Reader.open(str(bird.directory)) as log:
        assert log.blob(kept[0]["blob"]) == PNG
    block = next(iter(fold(None, bird.events()).blocks.values()))
    assert block["parts"] == [
        {
            "type": "image",
            "mime": "image/png",
            "bytes": len(PNG),
            "blob": kept[0]["blob"],
            "width": 8,
            "height": 6,
            "name": "shot",
        }
    ]


async def test_queued_attachments_survive_a_kill(aviary: Aviary, tmp_path: Path) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([{"until": "cancel"}])
    queued = await bird.send("prompt", prompt=given(bird, tmp_path, shot=PNG))
    await bird.send("queue", op="edit", item=queued.update["id"], prompt=queued.update["prompt"])
    tree.kill([bird.worker])
    await bird.until(is_idle, begun.seq)
    sent = await bird.send("queue", op="send")
    end = await bird.until(is_idle, sent.seq)
    assert end.update["reason"] == "end_turn"
    assert seen_by(aviary)[-1]["data"] == b64encode(PNG).decode()


@pytest.mark.parametrize(
    ("capability", "reason", "kind"),
    [("image", "failed", ""), ("embeddedContext", "end_turn", "resource_link")],
)
async def test_what_an_agent_does_not_take(
    aviary: Aviary, tmp_path: Path, capability: str, reason: str, kind: str
) -> None:
    """An image is refused with a sentence; a file goes as a link."""
    capabilities = {"promptCapabilities": {capability: False}}
    bird = aviary.hatch({"agent": {"capabilities": capabilities}})
    name = "shot" if capability == "image" else "notes"
    end = await send(bird, *given(bird, tmp_path, **{name: PNG if name == "shot" else b"text"}))
    assert end.update["reason"] == reason
    if kind:
        assert seen_by(aviary)[-1]["type"] == kind
    else:
        assert "does not accept images" in end.update["error"]["message"]


@pytest.mark.parametrize(
    "staged", ["0" * 64, "../../head.json", "x", "A" * 64, "/etc/passwd", "damaged"]
)
async def test_what_is_not_staged_is_rejected(aviary: Aviary, staged: str) -> None:
    bird = aviary.hatch()
    if staged == "damaged":
        staged = "1" * 64
        (bird.directory / paths.STAGED).mkdir()
        (bird.directory / paths.STAGED / staged).write_bytes(b"other bytes")
    image = {"type": "image", "mimeType": "image/png", "staged": staged}
    with pytest.raises(Rejected) as told:
        await bird.send("prompt", prompt=[*blocks("look"), image])
    assert told.value.reason == "bad_attachment"
    assert bird.header().turn == 0


# --- the client's part ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name", "mime"),
    [
        (PNG, "x.txt", "image/png"),
        (b"\xff\xd8\xff\xe0rest", "x", "image/jpeg"),
        (b"GIF89a...", "x", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "x", "image/webp"),
        (b"RIFF\x00\x00\x00\x00WAVE", "x.bin", "application/octet-stream"),
        (b"not an image", "liar.png", "text/plain"),
        (b"{}", "x.json", "application/json"),
        (b"words", "README", "text/plain"),
        (b"\x00\x01", "x", "application/octet-stream"),
    ],
)
def test_images_are_known_by_their_bytes(data: bytes, name: str, mime: str) -> None:
    assert mime_of(data, name) == mime


def test_staged_bytes_are_private(tmp_path: Path) -> None:
    [block] = stage(str(tmp_path), [Attachment("/a b/ü.txt", b"x", "text/plain")])
    folder = tmp_path / paths.STAGED
    file = folder / block["resource"]["staged"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert block["resource"]["uri"] == "file:///a%20b/%C3%BC.txt"


def test_files_that_cannot_be_attached_are_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    with (tmp_path / "large").open("wb") as file:
        file.truncate(LARGEST + 1)
    for part in ("a", "b", "c"):
        with (tmp_path / part).open("wb") as file:
            file.truncate(LARGEST - 1)
    (tmp_path / "small").write_text("x")
    for names, words in (
        (["none"], "No such file"),
        (["."], "regular file"),
        (["pipe"], "regular file"),
        (["empty"], "empty"),
        (["large"], "10.0 MiB"),
        (["a", "b", "c"], "together"),
        (["small"] * (MAX_FILES + 1), "the limit is 8"),
        (["nul\0"], "null"),
    ):
        with pytest.raises(Unattachable, match=words):
            load([str(tmp_path / name) for name in names])
    assert len(load([str(tmp_path / "small")] * MAX_FILES)) == MAX_FILES
