"""Pictures that an agent sends, in a real worker: kept once, told again whole, copied by a fork."""

from base64 import b64encode

from rookery.client.rewind.fork import fork
from rookery.core.view.reduce import fold
from rookery.home import paths
from rookery.log.reader import Reader
from tests.export.sessions import png
from tests.worker.aviary import Aviary, Json, is_idle

PNG = png(64, 48)
IMAGE: Json = {"type": "image", "mimeType": "image/png", "data": b64encode(PNG).decode()}


def shots() -> list[Json]:
    """A call that tells its screenshot with each update, as agents do, and an answer with it."""
    call = {"toolCallId": "a", "content": [{"type": "content", "content": IMAGE}]}
    told = [{"sessionUpdate": "tool_call", "title": "Screenshot", "kind": "other", **call}]
    told += [{"sessionUpdate": "tool_call_update", "status": "completed", **call}] * 3
    told.append({"sessionUpdate": "agent_message_chunk", "content": IMAGE})
    return [{"update": each} for each in told]


async def test_a_picture_is_kept_once_however_often_it_is_told(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt(shots())
    await bird.until(is_idle, begun.seq)
    told = [each for each in bird.events() if "content" in each.update]
    assert len(told) >= 5
    assert IMAGE["data"] not in str(told)
    blocks = [each for each in fold(None, bird.events()).blocks.values() if each.get("parts")]
    assert [each["role"] for each in blocks] == ["tool", "answer"]
    (name,) = {part["blob"] for each in blocks for part in each["parts"]}
    with Reader.open(str(bird.directory)) as log:
        assert log.blob(name) == PNG


async def test_a_fork_has_the_pictures(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt(shots())
    await bird.until(is_idle, begun.seq)
    copy = fork(str(aviary.home), bird.directory.name)
    with Reader.open(paths.session_dir(str(aviary.home), copy)) as log:
        document = fold(None, log.read(0))
        names = {p["blob"] for b in document.blocks.values() for p in b.get("parts", [])}
        assert [log.blob(name) for name in names] == [PNG]
