"""Every cell of matrix.txt, against a real daemon and real workers; every operation has a row."""

import asyncio
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from rookery.cli.app import MODULES, rookery
from rookery.core.commands import COMMANDS
from rookery.daemon.app import build_api
from rookery.daemon.operations.api import method_of
from rookery.home import paths
from rookery.operations.catalogue.finding import every
from tests.daemon.test_routes import Address, found
from tests.e2e.house import GUARDS
from tests.safety import probe
from tests.safety.ways import NO_OPERATION, WAYS, Cli, Frame, Http
from tests.safety.world import ANSWER, COLUMNS, LOOK, NOBODY, READ_ONLY, STRANGER, Cell, World
from tests.worker.aviary import Aviary, Bird

pytestmark = pytest.mark.timeout(900)  # all try in one go, before the first test
MATRIX = Path(__file__).with_name("matrix.txt")
ABSENT = "-"
ADD = (
    "Write down who may do it in tests/safety/matrix.txt, by a decision in docs/decisions/, and "
    "how it is done in tests/safety/ways.py."
)


@cache
def matrix() -> dict[Cell, str]:
    lines = [line for line in MATRIX.read_text().splitlines() if line and line[0] != "#"]
    heads, *rows = (re.split(r"\s{2,}", line.rstrip()) for line in lines)
    assert tuple(heads[1:]) == COLUMNS
    cells = dict[Cell, str]()
    for row in rows:
        assert len(row) == len(heads), f"This row has too many or too few cells: {row}"
        for column, word in zip(COLUMNS, row[1:], strict=True):
            assert Cell(row[0], column) not in cells, f"There are two rows {row[0]!r}."
            cells[Cell(row[0], column)] = word
    return cells


@pytest.fixture(
    scope="module",
    params=[pytest.param("landlock", marks=[*GUARDS[0].marks, pytest.mark.long]), "lineage"],
)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """After all have tried."""
    root = tmp_path_factory.mktemp("safety")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROOKERY_HOME", str(root / "home"))
        patch.setenv("EDITOR", "true")
        aviary = Aviary(root)
        patch.chdir(aviary.work)
        try:
            world = World(aviary, request.param)
            let_all_try(world)
            yield world
        finally:
            known = {bird.id for bird in aviary.birds}
            sessions = set(os.listdir(paths.sessions(aviary.home)))
            aviary.birds += [Bird(aviary.home, each) for each in sessions - known]
            aviary.end()


def let_all_try(world: World) -> None:
    asyncio.run(world.begin())
    served = world.serve()
    try:
        world.fill["device"], _ = world.log_in("look")
        _, token = world.log_in("all")
        world.before = world.state()
        for role in (LOOK, ANSWER):
            name, own = world.log_in(role)
            world.try_all(role, own, itself=name)
        world.try_all(NOBODY, "", itself="x")
        world.fill["itself"] = world.fill["device"]
        if os.geteuid() == 0:
            world.let_stranger_try(token)
        asyncio.run(world.let_agent_try(token))
        world.after = world.state()
        served.stop()
        served = world.serve(read_only=True)
        world.try_all(READ_ONLY, token)
    finally:
        served.stop()


@pytest.mark.parametrize("column", COLUMNS)
def test_every_cell_of_the_matrix_holds(world: World, column: str) -> None:
    if column == "uid" and os.geteuid() != 0:
        pytest.skip(f"only root can be another user ({STRANGER})")
    came = dict[str, list[tuple[str, str]]]()
    for each in world.tries:
        if each.cell.column == column:
            came.setdefault(each.cell.row, []).append((each.way, each.came))
    differs = list[str]()
    for cell, word in matrix().items():
        if cell.column != column:
            continue
        if word != ABSENT and cell.row not in came:
            differs.append(f"{cell.row}: {word}, but nobody tried; say in ways.py how it is done")
        for way, said in came.get(cell.row, []):
            if said != word and not _is_behind_a_wall(column, word, said):
                differs.append(f"{cell.row}: {word}, but {said!r} came of {way}")
    assert not differs, "\n".join(differs)


def _is_behind_a_wall(column: str, word: str, said: str) -> bool:
    """What is refused may be out of reach besides: a control socket, for a confined agent."""
    return column in ("here", "daemon") and word == probe.AGENT and said == probe.UNREACHABLE


def test_what_was_refused_has_changed_nothing(world: World) -> None:
    assert world.after == world.before


# --- every operation has a row -------------------------------------------------------------------


def test_every_row_says_how_it_is_done() -> None:
    assert list(dict.fromkeys(cell.row for cell in matrix())) == list(WAYS)


def test_every_command_to_a_worker_has_a_row() -> None:
    done = {way.command["do"] for ways in WAYS.values() for way in ways if isinstance(way, Frame)}
    for name in (*COMMANDS, *(row.name for row in every() if row.is_sent and not row.traits.sends)):
        assert name in done, f"The command {name!r} has no row. {ADD}"


def test_every_route_of_the_daemon_has_a_row() -> None:
    done = {
        Address(way.method, way.route)
        for ways in WAYS.values()
        for way in ways
        if isinstance(way, Http)
    }
    known = set(found(build_api().routes, lambda path: path))
    for each in sorted(known - done):
        assert str(each) in NO_OPERATION, f"The route {each} has no row. {ADD}"
    assert done <= known


def test_every_operation_has_a_row_with_its_address() -> None:
    done = {
        (way.method, way.params.get("operation"))
        for ways in WAYS.values()
        for way in ways
        if isinstance(way, Http) and "{operation}" in way.route
    }
    for row in every():
        assert (method_of(row), row.name) in done, f"{row.name} has no row. {ADD}"


def test_every_command_of_the_command_line_has_a_row() -> None:
    lines = [way.line.split() for ways in WAYS.values() for way in ways if isinstance(way, Cli)]
    for name in commands():
        assert any(_is_of(name, line) for line in lines) != (name in NO_OPERATION), (
            f"`rookery {name}` has no row (or it has one, and is among NO_OPERATION as well). {ADD}"
        )


def commands() -> Iterator[str]:
    """All that do something, as they are typed."""

    def below(command: click.Command, words: list[str]) -> Iterator[str]:
        if isinstance(command, click.Group):
            for name, each in command.commands.items():
                yield from below(each, [*words, name])
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield " ".join(words)

    context = click.Context(rookery)
    for name in MODULES:
        command = rookery.get_command(context, name)
        assert command
        yield from below(command, [name])


def _is_of(name: str, line: list[str]) -> bool:
    words = [word for word in line if word[:1] not in "-{"]
    return words[: len(name.split())] == name.split()
