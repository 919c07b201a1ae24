"""Changes are undone, put back and committed through the daemon."""

from pathlib import Path
from typing import Any

import pytest

from tests.client.work_tree.trees import WHO, Tree
from tests.daemon.served import Served, serve


def test_a_hunk_is_undone_restored_and_committed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    tree = Tree(tmp_path / "tree", a__txt="one\ntwo\n")
    tree.put({"a.txt": "one\n2\n", "new.txt": "n\n"})
    served = serve(home)
    try:
        _through(served, tree)
    finally:
        served.stop()


def _through(served: Served, tree: Tree) -> None:
    session = served.create(cwd=tree.cwd)
    place = f"/api/sessions/{session}/changes"

    def ask(what: str, **body: Any) -> tuple[int, Any]:
        answer = served.ask("POST", f"{place}/{what}", body)
        return answer.status, answer.json()

    found = served.ask("GET", place).json()
    first, new = found["files"]
    assert (new["path"], new["hunks"][0]["lines"]) == ("new.txt", ["+n"])
    this = {"base": found["base"], "path": "a.txt", "digest": first["digest"]}
    status, undone = ask("undo", **this, hunk=first["hunks"][0]["id"])
    assert (status, undone["paths"], tree.read("a.txt")) == (200, ["a.txt"], b"one\ntwo\n")
    status, again = ask("undo", **this)
    assert (status, again["error"]) == (409, "unchanged")
    assert ask("put-back", id=undone["id"])[0] == 200
    assert tree.read("a.txt") == b"one\n2\n"
    tree.put({"a.txt": "agent\n"})
    status, refused = ask("undo", **this)
    assert (status, refused["error"]) == (409, "changed_since")
    assert refused["remedy"]
    files = [{"path": new["path"], "digest": new["digest"]}]
    hook = tree.place / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho hooked >&2\n")
    hook.chmod(0o755)
    status, refused = ask("commit", message="Add it", files=files)
    assert (status, refused["error"]) == (409, "new_hooks")
    assert "pre-commit is new" in refused["message"]
    assert "echo hooked" in refused["shown"]
    status, made = ask("commit", message="Add it", files=files, hooks=refused["fingerprint"])
    assert made["said"] == "hooked"
    assert (status, made["summary"]) == (200, "Add it")
    assert tree.status() == " M a.txt\n"
    assert ask("commit", message="x", files=[])[1]["error"] == "nothing_to_commit"


def test_what_files_of_secrets_are_set_to_is_in_no_answer(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in changed lines nor in those around them, nor where git names a function."""
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    lines = "".join(f"NAME_{n}=hush-{n}\n" for n in range(30))
    token = "sk-" + "heron" * 8
    code = f'def app(key="{token}"):\n' + "    x\n" * 30
    tree = Tree(tmp_path / "tree", __env=lines, app__py=code, keep__env=lines)
    later = lines.replace("NAME_9=hush-9\n", "++ SIGNS=hush\nNAME_9=hush-nine\n")
    tree.git("mv", "keep.env", "keep.txt")
    tree.put({".env": later, "keep.txt": later, "app.py": f"{code}    y\n"})
    tree.put({"secrets.yml": "password: hush"})
    tree.git("add", ".")
    served = serve(home)
    try:
        session = served.create(cwd=tree.cwd)
        place = f"/sessions/{session}/changes"
        patch = served.ask("GET", f"/api/sessions/{session}/diff").json()["patch"]
        assert "+NAME_9=•••" in patch
        assert "+password: •••\n\\ No newline at end of file" in patch
        answers = [
            patch.encode(),
            served.ask("GET", f"/api{place}").body,
            *(
                served.ask("GET", place + query, Accept="text/html").body
                for query in ("", "?file=.env", "?file=.env&whole=1", "?file=app.py")
            ),
        ]
        for answer in answers:
            assert b"app.py" in answer or b"NAME_9" in answer
            assert b"hush" not in answer
            assert token.encode() not in answer
        assert "Values are hidden" in answers[3].decode()
    finally:
        served.stop()
