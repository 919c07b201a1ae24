"""Clients that others' generators make of the daemon's OpenAPI document drive a whole session."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acp.packages import node_modules, python_with
from tests.clients.programs import FIXTURES, PATIENCE, Perch
from tests.daemon.served import Served, serve

pytestmark = pytest.mark.long

PYTHON = "openapi-python-client==0.29.1"
TYPESCRIPT = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3")
NODE = "@types/node@20.19.25"
OPTIONS = "--strict --module nodenext --target es2022 --lib es2022,dom,dom.asynciterable"

SEEN = {
    "once": True,
    "asked": True,
    "said": True,
    "reason": "end_turn",
    "outcome": "By a client",
    "refused": [422, "no_title", "usage"],
    "row": ["By a client", True, "demo"],
    "first": True,
    "operations": ["archive", "pin", "rename", "snooze"],
    "events": "_session",
    "exported": True,
    "hidden": True,
}


@pytest.fixture(scope="module")
def daemon(perch: Perch) -> Iterator[Served]:
    served = serve(perch.home)
    yield served
    served.stop()


@pytest.fixture(scope="module")
def document(daemon: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("document") / "openapi.json"
    place.write_bytes(daemon.ask("GET", "/api/openapi.json").body)
    return place


def run(*argv: str | Path, cwd: Path) -> str:
    line = [str(each) for each in argv]
    done = subprocess.run(
        line, cwd=cwd, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def of(daemon: Served, place: Path) -> tuple[str, ...]:
    return (daemon.address, daemon.token, str(place), "Birds?")


def test_a_python_client_made_of_the_document_drives_a_session(
    daemon: Served, document: Path, tmp_path: Path
) -> None:
    python = python_with(PYTHON)
    generate = (python, "-m", "openapi_python_client", "generate", "--path", document)
    made = run(
        *generate, "--meta", "none", "--output-path", tmp_path / "rookery_client", cwd=tmp_path
    )
    assert "WARNING" not in made.upper().replace("RUFF IS NOT IN PATH", "")
    program = shutil.copy(FIXTURES / "generated_api.py", tmp_path)
    seen: Any = json.loads(run(python, program, *of(daemon, tmp_path), cwd=tmp_path))
    assert seen == SEEN


def test_a_typescript_client_made_of_the_document_drives_a_session(
    daemon: Served, document: Path, tmp_path: Path
) -> None:
    modules = node_modules(*TYPESCRIPT, NODE)
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    programs = modules / ".bin"
    run(
        programs / "openapi-typescript",
        "--default-non-nullable=false",
        document,
        "-o",
        tmp_path / "schema.d.ts",
        cwd=tmp_path,
    )
    shutil.copy(FIXTURES / "generated_api.ts", tmp_path)
    run(programs / "tsc", *OPTIONS.split(), "generated_api.ts", cwd=tmp_path)
    seen: Any = json.loads(run("node", "generated_api.js", *of(daemon, tmp_path), cwd=tmp_path))
    assert seen == SEEN
