"""How many files a newcomer has to touch: each kind of addition is made in a scratch copy of the
sources, counted, and used."""

import json
import sys
from pathlib import Path

import pytest

from tests.rigs.scratch import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


def test_a_vendor_takes_one_file(scratch: Scratch) -> None:
    row = '    "kestrel": ("Kestrel", "kestrel --acp", f"{_NPM} kestrel-cli"),\n'
    scratch.insert("agents/registry.py", '    "kimi":', row)
    assert "npm install -g kestrel-cli" in scratch.run("agents")
    assert len(scratch.touched) <= 1


NAP = """    nap: float = setting(5.0, "how long a worker naps", (1.0, 60.0))
"""
USE = """    standard().line(f"Naps for {files.load(paths.home()).policy.nap:g} s.")
"""


def test_a_setting_takes_two_files(scratch: Scratch) -> None:
    scratch.insert("core/limits.py", "    cancel_grace: float", NAP)
    scratch.insert(
        "cli/commands/setup/config.py",
        "    standard().line(place)",
        USE,
    )
    assert "how long a worker naps" in scratch.run("config", "explain")
    assert "1 to 60 seconds" in scratch.run("config", "explain", "nap")
    assert "Naps for 5 s." in scratch.run("config", "path")
    scratch.run("config", "set", "worker.nap", "7")
    [shown] = [line for line in scratch.run("config", "show").splitlines() if ".nap" in line]
    assert shown.split() == ["worker.nap", "7", "config.toml,", "line", "2"]
    assert "Naps for 7 s." in scratch.run("config", "path")
    refused = scratch.run("config", "set", "worker.nap", "soon", status=2)
    assert "worker.nap must be a number (1 to 60 seconds)" in " ".join(refused.split())
    assert "Naps for 7 s." in scratch.run("config", "path")
    assert len(scratch.touched) <= 2


COMMAND = '''"""`count`: how many sessions there are."""

import click

from rookery.client.fleet import heads
from rookery.home import paths


@click.command()
def count() -> None:
    """Print how many sessions there are."""
    click.echo(f"{len(heads(paths.home()))} sessions")
'''


def test_a_command_takes_two_files(scratch: Scratch) -> None:
    scratch.write("cli/commands/look/count.py", COMMAND)
    row = '        "count": "Count the sessions.",\n'
    scratch.insert("cli/app.py", '        "tail": ', row)
    assert scratch.run("count") == "0 sessions\n"
    assert "Count the sessions." in scratch.run("help", "all")
    assert len(scratch.touched) <= 2


BLOCK = '''"""How the weather looks."""

from rookery.core.blocks.document import Block, make_block
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json
from rookery.core.tools.calls import block_id


def weather(header: Json, event: Event) -> Block:
    return make_block(
        block_id(header, event), "notice", status="info", text=lenient.text(event.update, "sky")
    )
'''

FOLD = """
import json
from rookery.core.json.events import Event
from rookery.core.view.reduce import fold
update = {"sessionUpdate": "weather", "sky": "It rains."}
document = fold(None, [Event(1, 0, None, None, update)])
print(json.dumps([[b["role"], b["text"]] for b in document.blocks.values()]))
"""


def test_a_kind_of_update_takes_no_file_to_be_shown_raw(scratch: Scratch) -> None:
    [[role, _]] = json.loads(scratch.run(code=FOLD))
    assert role == "raw"


def test_a_kind_of_update_takes_two_files_to_look_right(scratch: Scratch) -> None:
    scratch.write("core/blocks/weather.py", BLOCK)
    name = "core/view/reduce.py"
    look = "lambda _before, after, event: put(weather.weather(after, event))"
    scratch.insert(name, "type Look = ", "from rookery.core.blocks import weather\n\n")
    scratch.insert(name, '    "_notice":', f'    "weather": {look},\n')
    assert json.loads(scratch.run(code=FOLD)) == [["notice", "It rains."]]
    assert len(scratch.touched) <= 2


GREET = '''"""`greet`: leaves a word in a session."""

import click

from rookery.cli.flags import session_argument
from rookery.cli.session.send import send


@click.command()
@session_argument
def greet(session: str) -> None:
    """Leave a word in a session."""
    click.echo(send(session, {"do": "greet"}).update["text"])
'''

ROW = """    "greet": Command("greet"),
"""

HANDLER = """    def greet(self, command: Json, by: str) -> None:
        hello = {"sessionUpdate": "_notice", "level": "info", "text": "Hello."}
        self._session.append(Draft(hello, command["id"], by))

"""


def greets(scratch: Scratch) -> bool:
    scratch.write("cli/commands/start/greet.py", GREET)
    row = '        "greet": "Leave a word in a session.",\n'
    scratch.insert("cli/app.py", '        "queue": ', row)
    session = scratch.run("new", "--agent", "demo").strip()
    try:
        assert scratch.run("greet", session) == "Hello.\n"
        return "Hello." in scratch.run("show", session)
    finally:
        scratch.run("stop", session)


@pytest.mark.skipif(sys.platform != "linux", reason="the worker is ended by its home")
def test_a_worker_command_takes_four_files(scratch: Scratch) -> None:
    scratch.insert("core/commands.py", '    "restart": Command(', ROW)
    scratch.insert("worker/commands.py", "    def restart(", HANDLER)
    assert greets(scratch)
    assert len(scratch.touched) <= 4
