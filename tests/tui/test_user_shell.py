"""The user's own shell behind `!`: a real one, in a real pseudo-terminal."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rookery.client.fleet import heads
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.tui.actions.shell_line import as_prompt
from rookery.tui.system.user_shell import UserShell, shell_of
from tests.tui.tmux import Tmux


class Lines:
    """What each line printed, and how it ended."""

    def __init__(self, cwd: Path) -> None:
        self.shell = UserShell(str(cwd), self._say)
        self._said: asyncio.Queue[tuple[str, int | None]] = asyncio.Queue()

    def _say(self, text: str, code: int | None) -> None:
        self._said.put_nowait((text, code))

    async def run(self, line: str) -> tuple[str, int]:
        await self.shell.run(line, 80)
        return await self.end()

    async def end(self) -> tuple[str, int]:
        said = ""
        while True:
            text, code = await self._said.get()
            said += text
            if code is not None:
                return said.replace("\r\n", "\n"), code

    async def until(self, word: str) -> None:
        said = ""
        while word not in said:
            said += (await self._said.get())[0]


@pytest.fixture(params=["bash", "sh"])
async def lines(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Lines]:
    program = shutil.which(request.param)
    if program is None:
        pytest.skip(f"there is no {request.param} here")
    monkeypatch.setenv("SHELL", program)
    monkeypatch.setenv("HOME", str(tmp_path))
    found = Lines(tmp_path)
    yield found
    found.shell.close()
    await found.shell.gone()


async def test_a_shell_keeps_its_directory_and_variables(lines: Lines, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    assert await lines.run("cd below; one=1; two() { echo two; }") == ("", 0)
    assert lines.shell.cwd == str(tmp_path / "below")
    assert await lines.run("pwd; echo $one; two") == (f"{tmp_path}/below\n1\ntwo\n", 0)
    assert await lines.run("(exit 3)") == ("", 3)
    assert await lines.run("printf 'no end of line'") == ("no end of line", 0)
    assert await lines.run("printf 'a\\n'\nprintf 'b\\n'") == ("a\nb\n", 0)


async def test_a_command_has_a_terminal_and_reads_keys(lines: Lines) -> None:
    said, code = await lines.run("test -t 0 && test -t 1 && stty size")
    assert (said, code) == ("24 80\n", 0)
    await lines.shell.run("printf 'who? '; read name; echo hello $name", 80)
    await lines.until("who? ")
    lines.shell.type("bob\n")
    assert await lines.end() == ("hello bob\n", 0)


async def test_input_typed_before_a_line_begins_goes_to_that_line(lines: Lines) -> None:
    """The shell is still starting."""
    await lines.shell.run("read name; echo hello $name", 80)
    lines.shell.type("bob\n")
    assert await lines.end() == ("hello bob\n", 0)


async def test_input_that_no_command_reads_is_the_next_line(lines: Lines, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    await lines.shell.run("cat gate", 80)
    lines.shell.type("echo next\n")
    await asyncio.to_thread((tmp_path / "gate").write_text, "")
    said, code = await lines.end()
    assert (said.strip(), code) == ("next", 0)


async def test_stopping_a_line_keeps_the_shell(lines: Lines) -> None:
    assert await lines.run("one=1") == ("", 0)
    await lines.shell.run("echo begun; sleep 600; echo never", 80)
    await lines.until("begun")
    await lines.shell.stop()
    said, code = await lines.end()
    assert code < 0
    assert "never" not in said
    assert await lines.run("echo $one") == ("1\n", 0)


async def test_a_command_that_ignores_an_interrupt_is_killed(lines: Lines) -> None:
    await lines.shell.run("sh -c \"trap '' INT; echo begun; sleep 600\"; echo never", 80)
    await lines.until("begun")
    await lines.shell.stop()
    said, code = await lines.end()
    assert code < 0
    assert "never" not in said


async def test_a_shell_that_exits_is_replaced(lines: Lines, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    await lines.run("cd below")
    assert (await lines.run("exit 4"))[1] == 4
    assert await lines.run("pwd") == (f"{tmp_path}/below\n", 0)


async def test_a_long_line_and_a_flood_of_output_arrive_whole(lines: Lines) -> None:
    said, _ = await lines.run(f"echo {'x' * 10_000} | wc -c")
    assert said.strip() == "10001"
    said, _ = await lines.run("i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done")
    assert said.split() == [str(number) for number in range(20_000)]


async def test_a_line_that_sets_a_prompt_shows_none(lines: Lines) -> None:
    """As an environment of Python or a theme does."""
    assert await lines.run('PS1="(env) $PS1" PROMPT_COMMAND="echo prompted"') == ("", 0)
    assert await lines.run("PS1='> '; (exit 5)") == ("", 5)
    assert await lines.run("echo here") == ("here\n", 0)


async def test_a_missing_directory_is_reported(tmp_path: Path) -> None:
    found = Lines(tmp_path / "gone")
    said, code = await found.run("pwd")
    assert (said, code) == ("No such file or directory\n", 127)


def test_a_shell_that_does_not_take_our_lines_is_replaced() -> None:
    assert os.path.basename(shell_of("/usr/bin/fish")[0]) in ("bash", "sh")
    assert os.path.basename(shell_of("")[0]) in ("bash", "sh")


def test_output_for_the_agent_is_plain_text() -> None:
    said = as_prompt("why?", "make", "/w", 2, "\x1b[31mred\x1b[0m\r\n```\r\n10%\r20%\r\n")
    assert said == "why?\n\nI ran this in /w (exit 2):\n\n````\n$ make\nred\n```\n20%\n````"
    assert as_prompt("", "make", "", -2, "") == "I ran this (stopped):\n\n```\n$ make\n\n```"


def test_cd_lasts_and_the_output_goes_to_the_agent(home: Path, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    with Tmux(home, size=(80, 24), cwd=tmp_path) as screen:
        screen.ready()
        screen.say("!cd below")
        screen.wait_for("! cd below", "Ctrl+S to send")
        screen.say("!basename $PWD; test -t 1 && echo it-is-$((6*7)); exit_with() { return 3; }")
        screen.wait_for("below\n", "it-is-42")
        screen.say("!exit_with")
        screen.wait_for("exit 3 · not sent")
        screen.say("!echo told-$((6*7))")
        screen.wait_for("told-42")
        assert heads(str(home)) == []
        screen.type("look at this")
        screen.press("C-s")
        screen.wait_for("Rookery's demo agent")
    (head,) = heads(str(home))
    with Reader.open(paths.session_dir(str(home), str(head["id"]))) as log:
        updates = [event.update for event in log.read(0, 1000)]
    (prompt,) = [each["prompt"] for each in updates if each["sessionUpdate"] == "_prompt"]
    assert prompt[0]["text"].startswith("look at this\n\nI ran this in ")
    assert prompt[0]["text"].endswith("(exit 0):\n\n```\n$ echo told-$((6*7))\ntold-42\n```")


@pytest.mark.long
def test_keys_go_to_the_running_line(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say("!printf 'who? '; read name; echo hello-$name")
        screen.wait_for("who?", "running")
        screen.say("!bob")
        screen.wait_for("hello-bob", "not sent")
