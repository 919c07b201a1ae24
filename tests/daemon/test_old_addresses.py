"""Addresses from before /api/v1: what cannot be meant is refused in words, and never a fault."""

from pathlib import Path
from typing import Any

import pytest

from tests.client.work_tree.trees import Tree
from tests.daemon.served import Served

CHANGES = "/api/sessions/{session}/changes"
V1 = "/api/v1/sessions/{session}"
DIGEST = "0" * 64


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{CHANGES}/commit", {"message": "m", "files": "kept.txt"}),
        (f"{CHANGES}/commit", {"message": "m", "files": [{"path": "kept.txt"}]}),
        (f"{CHANGES}/commit", {"message": "m", "files": [["kept.txt", DIGEST]]}),
        (f"{CHANGES}/commit", {"message": "m"}),
        (f"{CHANGES}/commit", {"message": "a\0b", "files": [{"path": "a", "digest": ""}]}),
        (f"{CHANGES}/commit", {"message": "\ud800", "files": [{"path": "\ud800", "digest": ""}]}),
        (f"{CHANGES}/undo", {"path": "kept.txt"}),
        (f"{CHANGES}/undo", {"path": "kept.txt", "digest": 7}),
        (f"{CHANGES}/undo", {"path": "\ud800", "digest": DIGEST}),
        (f"{CHANGES}/undo", {"path": "a\0b", "digest": DIGEST, "base": "\0"}),
        (f"{CHANGES}/undo", {"path": "a", "digest": DIGEST, "base": "\ud800"}),
        (f"{CHANGES}/put-back", {"id": 7}),
        (f"{CHANGES}/put-back", {"id": "../x", "more": True}),
        (f"{CHANGES}/put-back", {"id": "\ud800"}),
        (f"{V1}/commit-changes", {"message": "m", "files": [{"path": "a", "digest": ""}]}),
        (f"{V1}/commit-changes", {"message": "m", "files": {"a": 7}}),
        ("/api/v1/save-settings", {"form": "limits", "values": []}),
        ("/api/v1/try-settings", {"form": "models", "values": "x"}),
        ("/api/setup/held", {}),
        ("/api/setup/held", {"fingerprint": 7}),
    ],
)
def test_what_cannot_be_meant_is_refused(served: Served, path: str, body: dict[str, Any]) -> None:
    session = served.create()
    answer = served.ask("POST", path.format(session=session), body)
    assert answer.status in (404, 409, 422), answer.body
    assert answer.json()["message"]


@pytest.mark.parametrize("message", ["a\0b", "\ud800"])
def test_a_message_that_git_cannot_take_is_refused(
    served: Served, tmp_path: Path, message: str
) -> None:
    tree = Tree(tmp_path / "tree", a__txt="one\n")
    tree.put({"a.txt": "two\n"})
    session = served.create(cwd=tree.cwd)
    place = f"/api/sessions/{session}/changes"
    [file] = served.ask("GET", place).json()["files"]
    body = {"message": message, "files": [{"path": "a.txt", "digest": file["digest"]}]}
    answer = served.ask("POST", f"{place}/commit", body)
    assert answer.status in (409, 422), answer.body
    for base in ("\ud800", "a\0b"):
        body = {"path": "a.txt", "digest": file["digest"], "base": base}
        answer = served.ask("POST", f"{place}/undo", body)
        assert answer.status in (409, 422), answer.body
    nothing = served.ask("POST", f"{place}/commit", {"message": " ", "files": []})
    assert (nothing.status, nothing.json()["error"]) == (409, "no_message")
