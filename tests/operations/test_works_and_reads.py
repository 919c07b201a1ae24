"""A work with a preview and progress, and a read: each one file, carried out by whoever has the
home, and the same on the command line, over HTTP and on another machine."""

import json
from pathlib import Path

import pytest

from tests.daemon.served import Served
from tests.operations.test_one_file import link, served, session  # noqa: F401 - fixtures
from tests.rigs.scratch import Scratch

POETRY = '''"""Poems: operations of a test."""

import os
from typing import Annotated, TypedDict

from rookery.operations.calling.carrying import preview_of
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, read, work

Lines = Annotated[int, Arg("How many lines it has.", minimum=1, maximum=9)]


class Poem(TypedDict):
    """A poem that was written."""

    summary: str
    file: Annotated[str, "Where it is."]
    lines: int


class Poems(TypedDict):
    poems: list[str]
    longest: int | None


def path_of(at: At) -> str:
    return os.path.join(at.home, f"poem-{at.session or 'all'}")


def shown(at: At, lines: int = 2) -> Preview | None:
    if not os.path.exists(path_of(at)):
        return None
    with open(path_of(at)) as file:
        old = len(file.readlines())
    return preview_of(f"{old} lines are written over with {lines}.")


@work("Write a poem", on="session", preview=shown, person="write poems", examples=("3f2a",))
def poem(at: At, lines: Lines = 2) -> Poem:
    """Write a poem about a session."""
    with open(path_of(at), "w") as file:
        for number in range(lines):
            at.report(f"Line {number + 1} of {lines}")
            file.write("tweet\\n")
    return {"summary": f"Wrote {lines} lines.", "file": path_of(at), "lines": lines}


@read("Poems", on="rookery", examples=("",))
def poems(at: At, least: Lines = 1) -> Poems:
    """List the poems."""
    known = {}
    for name in sorted(os.listdir(at.home)):
        if name.startswith("poem-"):
            with open(os.path.join(at.home, name)) as file:
                known[name] = len(file.readlines())
    kept = [name for name, lines in known.items() if lines >= least]
    return {"poems": kept, "longest": max(known.values(), default=None)}
'''


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path)
    made.write("operations/poetry.py", POETRY)
    return made


def test_a_work_is_previewed_agreed_to_and_reported_on_the_command_line(
    scratch: Scratch,
    session: str,  # noqa: F811 - the fixture
) -> None:
    assert "Write a poem about a session." in scratch.run("help", "all")
    assert "--dry-run" in scratch.run("poem", "--help")
    assert "This needs no confirmation." in scratch.run("poem", session, "--dry-run")
    assert json.loads(scratch.run("poems", "--json"))["poems"] == []
    done = json.loads(scratch.run("poem", session, "--json"))
    assert (done["summary"], done["lines"]) == ("Wrote 2 lines.", 2)
    question = scratch.run("poem", session, "--lines", "3", status=2)
    assert "2 lines are written over with 3." in question
    assert "pass --yes" in question
    dry = json.loads(scratch.run("poem", session, "--lines", "3", "--dry-run", "--json"))
    assert dry["shown"] == "2 lines are written over with 3."
    assert "2 lines are written" in scratch.run("poem", session, "--lines", "3", "--dry-run")
    assert json.loads(scratch.run("poems", "--json"))["longest"] == 2
    scratch.run("poem", session, "--lines", "3", "--yes")
    assert "Longest: 3" in scratch.run("poems")
    assert scratch.run("poems", "--least", "4").splitlines()[0] == "Poems: –"
    assert "is not in the range" in scratch.run("poems", "--least", "10", status=2)


def test_a_work_and_a_read_have_addresses_schemas_and_roles(
    scratch: Scratch,
    session: str,  # noqa: F811
    served: Served,  # noqa: F811
) -> None:
    document = served.ask("GET", "/api/openapi.json").json()
    said = document["paths"]["/api/v1/sessions/{session}/poem"]["post"]
    content = said["responses"]["200"]["content"]
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/Poem"}
    assert "text/event-stream" in content
    assert document["components"]["schemas"]["Poem"]["properties"]["file"] == {
        "title": "File",
        "type": "string",
        "description": "Where it is.",
    }
    place = f"/api/v1/sessions/{session}/poem"
    first = served.ask("POST", place, {"lines": 4})
    assert first.json()["lines"] == 4
    refused = served.ask("POST", place, {"lines": 5})
    assert (refused.status, refused.json()["error"]) == (409, "preview")
    agreed = {"lines": 5, "fingerprint": refused.json()["fingerprint"]}
    assert served.ask("POST", place, agreed).json()["summary"] == "Wrote 5 lines."
    again = served.ask("POST", place, agreed)
    assert (again.status, again.json()["error"]) == (409, "changed")
    assert again.json()["shown"] == "5 lines are written over with 5."
    assert served.ask("POST", place, {"lines": 10}).status == 422
    assert served.ask("GET", "/api/v1/poems?least=2").json()["longest"] == 5
    words = served.ask("GET", "/api/v1/poems?least=2", Accept="text/plain")
    assert words.headers["content-type"].startswith("text/plain")
    assert b"Longest: 5" in words.body
    assert served.ask("GET", "/api/v1/poems?least=much").status == 422
    assert served.ask("GET", place).status == 404
    looks = Served(scratch.home, served.record)
    looks._token = looks.log_in(code=link(served, "look").partition("code=")[2]).json()["token"]
    assert looks.ask("POST", place, {"lines": 1}).status == 403
    assert looks.ask("GET", "/api/v1/poems").json()["longest"] == 5
    assert looks.ask("GET", "/api/v1/operations").status == 200


def test_a_work_on_another_machine_shows_its_preview_and_its_progress_here(
    scratch: Scratch,
    session: str,  # noqa: F811
    served: Served,  # noqa: F811
    tmp_path: Path,
) -> None:
    other = {"ROOKERY_HOME": str(tmp_path / "other"), "ROOKERY_URL": served.address}
    scratch.run("login", served.address, text=link(served), **other)
    done = json.loads(scratch.run("poem", session, "--lines", "3", "--json", **other))
    assert done["file"] == str(scratch.home / f"poem-{session}")
    question = scratch.run("poem", session, "--lines", "9", status=2, **other)
    assert "3 lines are written over with 9." in question
    heard = scratch.run("poem", session, "--lines", "9", "--yes", err=True, **other)
    assert "Line 1 of 9" in heard
    assert heard.rstrip().endswith("Wrote 9 lines.")
    assert json.loads(scratch.run("poems", "--json", **other))["longest"] == 9
