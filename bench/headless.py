"""Agents as programs that take a prompt and end with its answer, each with the scripted model. They
are installed as `tools.vendors` installs them; one that cannot be is absent from a measurement."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench.agents import ROOKERY
from bench.figures import progress
from bench.ten_tasks import TASKS, Edit, Run, Step, Task, Write
from rookery.agent.scripted.script import Call, Match, Script, Turn
from rookery.agent.scripted.server import Asked, ScriptedModel, serving
from rookery.client import fleet
from rookery.home import paths
from tools.vendors.install import CannotInstall, install
from tools.vendors.roster import VENDORS, surroundings
from tools.vendors.vendor import Environment, Vendor, call

SECONDS = 300.0
"""For one task."""


class Program(NamedTuple):
    name: str
    vendor: Vendor
    argv: tuple[str, ...]
    """The prompt comes last."""

    def calls(self, step: Step, place: str, times: str) -> list[Call]:
        """The step with this agent's tools; each call is an answer of the model's."""
        match step:
            case Run(command):
                return [self.vendor.run(timed(command, times))]
            case Write(path, text):
                command = f"cat >{path} <<'END'\n{text}END\n"
                return [self.vendor.run(timed(command, times))]
            case Edit(path, before, after):
                return self.vendor.edit(os.path.join(place, path), before, after)


def timed(command: str, times: str) -> str:
    """A command that notes when it began and ended, without another process."""
    return f"begun=$EPOCHREALTIME\n{command.rstrip()}\necho $begun $EPOCHREALTIME >>{times}\n"


def _crows(home: Path, url: str) -> Environment:
    """Its tools come from a server of its own, which an ACP client hands it, and `run` does not."""
    found = VENDORS["crow"].surroundings(home, url)
    with open(home / ".agents" / "crow" / "config.yaml", "a", encoding="utf-8") as file:
        file.write("mcpServers:\n  crow-mcp:\n    command: crow-cli\n    args: [mcp]\n")
    return found


_CODEX = VENDORS["codex"]._replace(run=lambda command: call("exec_command", cmd=command))
PROGRAMS = {
    "rookery": Program(
        "Rookery",
        VENDORS["rookery"],
        (*ROOKERY, "run", "--agent", "rookery"),
    ),
    "codex": Program(
        "Codex CLI",
        _CODEX,
        (
            "codex",
            "exec",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
        ),
    ),
    "pi": Program("Pi", VENDORS["pi"], ("pi", "--print")),
    "openhands": Program(
        "OpenHands CLI", VENDORS["openhands"], ("openhands", "--headless", "--task")
    ),
    "crow": Program("Crow", VENDORS["crow"]._replace(surroundings=_crows), ("crow-cli", "run")),
    "opencode": Program("opencode", VENDORS["opencode"], ("opencode", "run", "--auto")),
}


class Done(NamedTuple):
    """A task that was carried out."""

    exact: bool
    """Every file is as expected, and no other is there."""
    overheads: list[float]
    """Of each round trip but the last: from the last byte of an answer to the first of the next
    request, less the command's own time, in seconds."""
    asked: list[Asked]
    seconds: float


class Stand:
    """An agent in a home of its own, for as many tasks as one likes."""

    def __init__(self, program: Program, place: str) -> None:
        self.program = program
        self.place = place
        self._work = os.path.join(place, "work")
        self._environment: Environment = {}

    def prepare(self, programs: Sequence[Path], url: str) -> None:
        home = Path(self.place, "user")
        rooks = Path(self.place, "home")
        rooks.mkdir()
        self._environment = surroundings(
            self.program.vendor, programs, home, url.removesuffix("/v1")
        ) | {"SHELL": shutil.which("bash") or "/bin/bash", "ROOKERY_HOME": str(rooks)}

    def script(self, number: int, task: Task) -> Match:
        calls = [
            made
            for step in task.steps
            for made in self.program.calls(step, self.folder(number), self.times(number))
        ]
        turns = [Turn(calls=(each,)) for each in calls]
        return Match(self.prompt(number, task), (*turns, Turn(text="Done.")))

    def prompt(self, number: int, task: Task) -> str:
        return f"Task {number} for {self.program.name}: {task.prompt}"

    def folder(self, number: int) -> str:
        return os.path.join(self._work, f"task-{number}")

    def times(self, number: int) -> str:
        return os.path.join(self.place, f"times-{number}")

    def carry_out(self, number: int, task: Task, model: ScriptedModel) -> Done:
        folder = Path(self.folder(number))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        Path(self.times(number)).unlink(missing_ok=True)
        for name, text in task.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        since = time.monotonic_ns()
        prompt = self.prompt(number, task)
        with open(os.path.join(self.place, "output"), "ab") as output:
            subprocess.run(
                (*self._argv(), prompt),
                cwd=folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=SECONDS,
                check=False,
            )
        asked = [each for each in model.asked if each.begun >= since and each.body.get("tools")]
        return Done(
            _files(folder) == task.expected(),
            self._overheads(number, task, asked),
            asked,
            (asked[-1].received - asked[0].received) / 1e9 if asked else 0.0,
        )

    def version(self) -> str:
        """What it says itself; "": nothing that looks like one."""
        own = self._argv()[: len(ROOKERY) if self.program.vendor.name == "rookery" else 1]
        ran = subprocess.run(
            (*own, "--version"), env=self._environment, capture_output=True, text=True, check=False
        )
        found = re.search(r"\d+\.\d+[\w.]*", ran.stdout + ran.stderr)
        return found[0] if found else ""

    def _argv(self) -> tuple[str, ...]:
        program, *rest = self.program.argv
        return (shutil.which(program, path=self._environment["PATH"]) or program, *rest)

    def _overheads(self, number: int, task: Task, asked: list[Asked]) -> list[float]:
        try:
            lines = Path(self.times(number)).read_text(encoding="ascii").splitlines()
        except FileNotFoundError:
            return []
        own = iter([float(end) - float(begun) for begun, end in map(str.split, lines)])
        spent: list[float] = []
        for step in task.steps:
            calls = len(self.program.calls(step, "", ""))
            is_edit = isinstance(step, Edit)
            spent += [0.0 if is_edit else next(own, 0.0)] * calls
        gaps = [
            (after.begun - (before.done or after.begun)) / 1e9 for before, after in pairwise(asked)
        ]
        return [gap - command for gap, command in zip(gaps, spent, strict=False)]

    def end(self) -> None:
        home = os.path.join(self.place, "home")
        for session in paths.session_ids(home):
            fleet.kill(home, session)


def _files(folder: Path) -> dict[str, str]:
    return {
        str(each.relative_to(folder)): each.read_bytes().decode("utf-8", "replace")
        for each in folder.rglob("*")
        if each.is_file()
    }


@contextmanager
def stands(
    names: Sequence[str], on_absent: Callable[[str, str], None] = lambda *_: None
) -> Iterator[tuple[dict[str, Stand], ScriptedModel]]:
    """Those that could be installed, each in a home of its own, and the model they share."""
    place = tempfile.mkdtemp(prefix="rkb-")
    found: dict[str, Stand] = {}
    places: dict[str, list[Path]] = {}
    for name in names:
        program = PROGRAMS[name]
        try:
            places[name] = install(program.vendor)
        except CannotInstall as error:
            progress(f"{name} is absent: {error}")
            on_absent(name, str(error))
            continue
        os.mkdir(os.path.join(place, name))
        found[name] = Stand(program, os.path.join(place, name))
    match = [
        stand.script(number, task) for stand in found.values() for number, task in enumerate(TASKS)
    ]
    try:
        with serving(Script(match=tuple(match))) as model:
            for name, stand in found.items():
                stand.prepare(places[name], model.url)
            yield found, model
    finally:
        for stand in found.values():
            stand.end()
        shutil.rmtree(place, ignore_errors=True)
