"""What the first prompts on the screen of a new session make."""

import threading
from functools import partial
from pathlib import Path

from textual.message import Message

from rookery.client.fleet import heads
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.tui.messages import Made, Sent
from rookery.tui.reader import ReaderThread


class Screen:
    """Hears what the reader tells."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.sent: list[Sent] = []
        self._heard = threading.Condition()

    def tell(self, message: Message) -> None:
        with self._heard:
            if isinstance(message, Made):
                self.made.append(message.session)
            elif isinstance(message, Sent):
                self.sent.append(message)
            self._heard.notify_all()

    def until_sent(self, count: int) -> None:
        with self._heard:
            assert self._heard.wait_for(lambda: len(self.sent) >= count, 120)


def say(reader: ReaderThread, agent: str, cwd: Path, words: str) -> None:
    reader.make(agent, str(cwd), [{"type": "text", "text": words}])


def test_prompts_sent_before_the_session_is_there_are_its_own(home: Path, tmp_path: Path) -> None:
    """In their order; after a new screen was asked for, they are another session's."""
    screen = Screen()
    reader = ReaderThread(str(home), screen.tell)
    reader.start()
    try:
        for words in ("first", "second"):
            say(reader, "demo", tmp_path, words)
        reader.begin_another()
        say(reader, "demo", tmp_path, "elsewhere")
        screen.until_sent(3)
    finally:
        reader.stop()
    assert [each.problem for each in screen.sent] == ["", "", ""]
    assert len(screen.made) == len(heads(str(home))) == 2
    assert sorted(map(partial(prompts, home), screen.made)) == [["elsewhere"], ["first", "second"]]


def prompts(home: Path, session: str) -> list[str]:
    with Reader.open(paths.session_dir(str(home), session)) as log:
        given = [event.update.get("prompt") for event in log.of_kinds("_prompt", "_queue")]
    return list(dict.fromkeys(each[0]["text"] for each in given if each))


def test_prompts_for_a_session_that_cannot_be_made_come_back_together(
    home: Path, tmp_path: Path
) -> None:
    screen = Screen()
    reader = ReaderThread(str(home), screen.tell)

    async def both() -> None:  # in one step of the reader: the first has not failed meanwhile
        for words in ("first", "second"):
            say(reader, "nosuch", tmp_path, words)

    reader.start()
    try:
        reader.run(both)
        screen.until_sent(1)
    finally:
        reader.stop()
    (back,) = screen.sent
    assert "nosuch" in back.problem
    assert [each["text"] for each in back.command["prompt"]] == ["first", "second"]
    assert heads(str(home)) == []
