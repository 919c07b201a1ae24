"""What the routes do, tried on a real daemon."""

import base64
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from rookery.client import fleet
from rookery.core.policy import modes
from rookery.daemon.idempotency import KeyReused, Keys
from tests.daemon.served import Answer, Served, awaited
from tests.export.sessions import png

PNG = png()
TOGETHER = 20


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git work tree with one commit and changes since."""
    place = tmp_path_factory.mktemp("tree")

    def git(*words: str) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(place), *who, *words], check=True, capture_output=True)

    git("init", "-q")
    (place / "app").mkdir()
    (place / "app" / "main.py").write_text("one\ntwo\n")
    (place / "old name.txt").write_text("a\nb\nc\nd\ne\nf\n")
    (place / ".gitignore").write_text("*.log\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    (place / "app" / "main.py").write_text("one\n2\nthree\n")
    git("mv", "old name.txt", "new name.txt")
    (place / "fresh.txt").write_text("new\nlines")
    (place / "blob.bin").write_bytes(b"\0\1\2")
    (place / "noise.log").write_text("ignored")
    (place / "link").symlink_to("/etc/passwd")
    os.mkfifo(place / "pipe")
    return place


def post(served: Served, session: str, noun: str, body: Any) -> Answer:
    return served.ask("POST", f"/api/sessions/{session}/{noun}", body)


# --- creating ------------------------------------------------------------------------------------


def test_equal_requests_at_once_create_one_session(served: Served) -> None:
    body = {"agent": "demo", "cwd": "/tmp", "title": "once"}
    token, together = served.token, threading.Barrier(TOGETHER)

    def create(_: int) -> Answer:
        together.wait()
        return served.ask("POST", "/api/sessions", body, token=token, Idempotency_Key="k1")

    with ThreadPoolExecutor(TOGETHER) as pool:
        answers = list(pool.map(create, range(TOGETHER)))
    assert {answer.status for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    titles = [head["title"] for head in fleet.heads(served.home)]
    assert titles.count("once") == 1


def test_the_first_prompt_of_equal_requests_is_sent_once(served: Served) -> None:
    body = {"agent": "demo", "cwd": "/tmp", "prompt": "hello"}
    made = [
        served.ask("POST", "/api/sessions", body, Idempotency_Key="k2").json()["id"]
        for _ in range(3)
    ]
    assert len(set(made)) == 1
    events = served.ask("GET", f"/api/sessions/{made[0]}/events").json()["events"]
    prompts = [each for each in events if each["update"]["sessionUpdate"] == "_prompt"]
    assert len(prompts) == 1


def test_a_key_that_came_with_another_request_is_refused(served: Served) -> None:
    body = {"agent": "demo", "cwd": "/tmp"}
    assert served.ask("POST", "/api/sessions", body, Idempotency_Key="k3").status == 201
    other = served.ask("POST", "/api/sessions", body | {"title": "x"}, Idempotency_Key="k3")
    assert (other.status, other.json()["error"]) == (409, "key_reused")


def test_a_request_that_failed_leaves_its_key_free(served: Served) -> None:
    body = {"agent": "demo", "cwd": "/nowhere"}
    for _ in range(2):
        answer = served.ask("POST", "/api/sessions", body, Idempotency_Key="k4")
        assert (answer.status, answer.json()["error"]) == (409, "no_directory")


def test_a_daemon_killed_in_between_still_creates_one_session(tmp_path: Path) -> None:
    """The name is on disk before anything is made, so that the same is made again."""
    names = iter(["first", "second"])
    made: list[str] = []
    script = (
        "import os, sys; from rookery.daemon.idempotency import Keys\n"
        "Keys(sys.argv[1]).once('key', 'request', lambda: 'first', lambda name: os._exit(9))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode == 9
    next(names)
    keys = Keys(str(tmp_path))
    for _ in range(2):
        assert keys.once("key", "request", lambda: next(names), made.append) == "first"
    assert made == ["first"]
    with pytest.raises(KeyReused):
        keys.once("key", "another", lambda: next(names), made.append)


# --- commands ------------------------------------------------------------------------------------


def test_a_session_is_renamed_pinned_snoozed_and_archived(served: Served) -> None:
    session = served.create()
    place = f"/api/sessions/{session}"
    change = {"title": "Release notes", "pinned": True, "snoozed": 4_000_000_000_000}
    changed = served.ask("PATCH", place, change | {"archived": True}).json()
    assert {key: changed[key] for key in change} == change
    assert changed["archived"]
    undone = {"pinned": False, "snoozed": 0, "archived": False}
    changed = served.ask("PATCH", place, undone).json()
    assert {key: changed[key] for key in undone} == undone
    assert served.ask("PATCH", place, {"snoozed": 12.0}).json()["snoozed"] == 12
    assert served.ask("PATCH", place, {"colour": "red"}).status == 422
    assert served.ask("PATCH", place, {"snoozed": 1.5}).status == 422
    assert served.ask("PATCH", place, {"pinned": 1}).status == 422
    assert served.ask("PATCH", place, {"title": " "}).status == 422


def test_only_a_whole_id_deletes(served: Served) -> None:
    session = served.create(title="not to be deleted")
    for name in ("not%20to%20be%20deleted", "deleted", session[:8]):
        answer = served.ask("DELETE", f"/api/sessions/{name}")
        assert (answer.status, answer.json()["error"]) == (409, "whole_id")
        assert served.ask("GET", f"/api/sessions/{name}").json()["id"] == session
        answer = served.ask("POST", f"/api/v1/sessions/{name}/remove", {})
        assert (answer.status, answer.json()["error"]) == (409, "whole_id")
    answer = served.ask("DELETE", f"/api/sessions/{session}")
    assert (answer.status, answer.json()["kept"]) == (200, [])
    assert served.ask("GET", f"/api/sessions/{session}").status == 404


def test_a_removal_that_comes_again_is_answered_as_the_first_was(served: Served) -> None:
    place = f"/api/v1/sessions/{served.create()}/remove"
    first, again = (served.ask("POST", place, {}, Idempotency_Key="once") for _ in range(2))
    assert first.status == 200
    assert again.json() == first.json()
    other = served.ask("POST", place, {}, Idempotency_Key="another")
    assert (other.status, other.json()["error"]) == (404, "unknown_session")
    gone = f"/api/v1/sessions/{served.create()}/remove"
    refused = served.ask("POST", gone, {"permanently": True})
    assert (refused.status, refused.json()["error"]) == (409, "preview")
    agreed = {"permanently": True, "fingerprint": refused.json()["fingerprint"]}
    assert served.ask("POST", gone, agreed).json()["until"] is None


def test_a_deleted_session_is_in_the_trash_and_nowhere_else_until_it_is_restored(
    served: Served,
) -> None:
    assert served.ask("DELETE", "/api/trash").status == 200
    session, other = served.create(title="to be missed"), served.create(title="not to be")
    until = served.ask("DELETE", f"/api/sessions/{session}").json()["until"]
    [row] = served.ask("GET", "/api/trash").json()["sessions"]
    assert (row["id"], row["title"], row["until"], row["branch"]) == (
        *(session, "to be missed", until, ""),
    )
    assert row["until"] - row["removed"] == 14 * 24 * 3600 * 1000
    listed = served.ask("GET", "/api/sessions?show=all").json()["sessions"]
    assert session not in [each["id"] for each in listed]
    answer = served.ask("POST", f"/api/trash/{session}/restore", {})
    assert (answer.status, answer.json()) == (200, {"id": session, "missing": ""})
    assert served.ask("GET", f"/api/sessions/{session}").json()["title"] == "to be missed"
    assert served.ask("GET", "/api/trash").json() == {"sessions": []}
    answer = served.ask("POST", f"/api/trash/{session}/restore", {})
    assert (answer.status, answer.json()["error"]) == (404, "not_in_trash")
    served.ask("DELETE", f"/api/sessions/{session}")
    answer = served.ask("DELETE", "/api/trash/missed")
    assert (answer.status, answer.json()["error"]) == (409, "whole_id")
    assert served.ask("DELETE", f"/api/trash/{session}").json() == {"kept": [], "until": None}
    answer = served.ask("DELETE", f"/api/sessions/{other}?permanently=true")
    assert answer.json() == {"kept": [], "until": None}
    assert served.ask("GET", "/api/trash").json() == {"sessions": []}
    for name in (session, other):
        served.ask("DELETE", f"/api/sessions/{served.create()}")
        assert served.ask("POST", f"/api/trash/{name}/restore", {}).status == 404
    assert len(served.ask("DELETE", "/api/trash").json()["deleted"]) == 2
    assert served.ask("GET", "/api/trash").json() == {"sessions": []}


@pytest.mark.parametrize("name", ["pin", "unpin", "archive", "unarchive", "cancel", "stop"])
def test_a_command_is_done_once_for_its_id(served: Served, name: str) -> None:
    session = served.create()
    command = {"do": name, "id": f"mine.{name}"}
    first = post(served, session, "commands", command)
    assert first.status == 200, first.body
    assert post(served, session, "commands", command).json() == first.json()


def test_an_unknown_command_is_refused_in_words(served: Served) -> None:
    session = served.create()
    answer = post(served, session, "commands", {"do": "dance"})
    assert answer.status == 422
    assert "dance" in answer.json()["message"]
    for wrong in ({"do": "delete"}, {"do": "cancel", "more": 1}, {}):
        assert post(served, session, "commands", wrong).status == 422


def test_an_ask_is_answered_by_what_the_answer_means(served: Served) -> None:
    session = served.create(prompt="hello")

    def asks() -> dict[str, Any]:
        header = served.ask("GET", f"/api/sessions/{session}/document").json()["header"]
        return dict(header["asks"])

    ((name, _),) = awaited(asks).items()
    given = {"ask": name, "option": "n", "id": "mine"}
    answer = post(served, session, "answer", given)
    assert (answer.status, answer.json()["kind"]) == (200, "_ask")
    assert answer.json()["update"]["outcome"]["optionId"].startswith("reject")
    assert post(served, session, "answer", given).json() == answer.json()


def test_an_ask_is_answered(served: Served) -> None:
    """The demo asks before it runs a command."""
    session = served.create(prompt="hello")

    def asks() -> dict[str, Any]:
        header = served.ask("GET", f"/api/sessions/{session}/document").json()["header"]
        return dict(header["asks"])

    ((name, ask),) = awaited(asks).items()
    options = {each["kind"]: each["optionId"] for each in ask["options"]}
    wrong = post(served, session, "answer", {"ask": name, "option": "maybe"})
    assert (wrong.status, wrong.json()["error"]) == (409, "unknown_option")
    given = {"ask": name, "option": options["reject_once"], "id": "mine"}
    answer = post(served, session, "answer", given)
    assert (answer.status, answer.json()["kind"]) == (200, "_ask")
    assert post(served, session, "answer", given).json() == answer.json()
    awaited(lambda: not asks())


def test_answering_an_unknown_ask_does_no_harm(served: Served) -> None:
    session = served.create()
    answer = post(served, session, "answer", {"ask": "nobody asked"})
    assert (answer.status, answer.json()["kind"]) == (200, "_done")


@pytest.mark.parametrize("form", ["md", "jsonl", "html"])
def test_a_session_is_exported_as_a_file(served: Served, form: str) -> None:
    session = served.create(title='A "title"/; ü')
    answer = served.ask("GET", f"/api/sessions/{session}/export?format={form}")
    assert answer.status == 200
    place = answer.headers["content-disposition"]
    assert place.startswith("attachment; filename*=UTF-8''a-title-")
    assert place.endswith(f".{form}")
    assert b"title" in answer.body


# --- attachments and blobs -----------------------------------------------------------------------


def attachment(name: str, data: bytes) -> dict[str, str]:
    return {"name": name, "data": base64.b64encode(data).decode()}


def test_files_of_a_prompt_are_kept_and_read_again(served: Served) -> None:
    session = served.create()
    files = [attachment("pic.txt", PNG), attachment("evil.html", b"<script>1</script>")]
    files.append(attachment("raw.bin", b"\0\1\2\3"))
    sent = post(served, session, "prompt", {"text": "look", "attachments": files})
    assert sent.status == 200, sent.body
    events = served.ask("GET", f"/api/sessions/{session}/events").json()["events"]
    (prompt,) = [each for each in events if each["update"]["sessionUpdate"] == "_prompt"]
    _, picture, page, raw = prompt["update"]["prompt"]
    assert (picture["type"], picture["mimeType"]) == ("image", "image/png")
    names = [picture["blob"], page["resource"]["kept"], raw["resource"]["kept"]]
    place = f"/api/sessions/{session}/blobs"
    shown = [served.ask("GET", f"{place}/{name}") for name in names]
    assert [answer.status for answer in shown] == [200, 200, 200]
    kinds = [answer.headers["content-type"].partition(";")[0] for answer in shown]
    assert kinds == ["image/png", "text/plain", "application/octet-stream"]
    assert shown[0].body == PNG
    assert shown[2].headers["content-disposition"] == "attachment"


@pytest.mark.parametrize("version", ["", "v1/"])
def test_attachments_are_bounded(served: Served, version: str) -> None:
    session = served.create()

    def status(body: Any) -> int:
        return served.ask("POST", f"/api/{version}sessions/{session}/prompt", body).status

    small, mebi = attachment("a", b"x"), 1024 * 1024
    large = attachment("a", b"x" * (10 * mebi + 1))
    most = attachment("a", b"x" * (10 * mebi))
    assert status({"text": "x", "attachments": [most]}) == 200
    assert status({"attachments": [small] * 9}) == 422
    assert status({"attachments": [large]}) == 413
    assert status({"attachments": [most, most, small]}) == 413
    wrongs = [{"name": name, "data": "eA=="} for name in ("../a", "a/b", "a\\b", "a\0b", "")]
    for wrong in ({"name": "a", "data": "?"}, *wrongs):
        assert status({"attachments": [wrong]}) == 422
    assert status({"attachments": [{**small, "more": 1}]}) == 422
    assert status({"blocks": [{"text": "no type"}]}) in (409, 422)
    assert post(served, session, "prompt", {"text": " "}).json()["error"] == "empty_prompt"


TRAVERSALS = (
    *("..", "../..", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", ".%00", "a%00b"),
    *("%ff", "/etc/passwd", "....//", "~root", "$HOME", "C:%5C", "." * 200),
)


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_in_a_request_leaves_its_folder(served: Served, path: str) -> None:
    session = served.create()
    for place in (
        f"/api/sessions/{path}",
        f"/api/sessions/{path}/events",
        f"/api/sessions/{path}/logs/worker",
        f"/api/sessions/{session}/logs/{path}",
        f"/api/sessions/{session}/blobs/{path}",
    ):
        answer = served.ask("GET", place)
        assert answer.status in (404, 422), (place, answer.status)
        assert b"root:" not in answer.body
    assert served.ask("DELETE", f"/api/sessions/{path}").status in (404, 405, 422)
    assert served.ask("DELETE", f"/api/devices/{path}").status in (404, 405, 422)


# --- the work tree -------------------------------------------------------------------------------


def test_files_are_found_without_what_git_ignores(served: Served, tree: Path) -> None:
    session = served.create(cwd=str(tree))
    place = f"/api/sessions/{session}/files"
    assert served.ask("GET", f"{place}?query=mainpy").json() == {"files": ["app/main.py"]}
    assert served.ask("GET", f"{place}?query=noise").json() == {"files": []}
    assert len(served.ask("GET", f"{place}?limit=2").json()["files"]) == 2
    assert served.ask("GET", f"{place}?limit=101").status == 422


def test_a_file_is_read_in_parts_and_nothing_else_is(served: Served, tree: Path) -> None:
    session = served.create(cwd=str(tree))
    place = f"/api/sessions/{session}/file"
    part = served.ask("GET", f"{place}?path=app/main.py").json()
    assert (part["path"], part["first"], part["rows"][0]) == ("app/main.py", 1, "one")
    for path, error in (("link", "outside"), ("/etc/passwd", "outside"), ("app", "not_a_file")):
        answer = served.ask("GET", f"{place}?path={path}")
        assert (answer.status, answer.json()["error"]) == (409, error)
    assert served.ask("GET", f"{place}?path=none").status == 404
    known = served.ask("GET", f"{place}s/known?paths=app/main.py%0Anone%0Alink").json()
    assert known == {"files": ["app/main.py"]}


def test_a_diff_has_changed_renamed_and_new_files(served: Served, tree: Path) -> None:
    session = served.create(cwd=str(tree))
    found = served.ask("GET", f"/api/sessions/{session}/diff").json()
    files = {each["path"]: each for each in found["files"]}
    states = {path: each["state"] for path, each in files.items()}
    assert states == {
        "app/main.py": "modified",
        "new name.txt": "renamed",
        "fresh.txt": "untracked",
        "blob.bin": "untracked",
        "link": "untracked",
    }
    assert (files["app/main.py"]["added"], files["app/main.py"]["removed"]) == (2, 1)
    assert files["new name.txt"]["before"] == "old name.txt"
    assert (files["fresh.txt"]["added"], files["blob.bin"]["added"]) == (2, None)
    assert "+three\n" in found["patch"]
    assert "+lines\n\\ No newline at end of file\n" in found["patch"]
    assert "+/etc/passwd\n" in found["patch"]  # where the link leads, not what is there
    assert "root:" not in found["patch"]
    assert not found["cut"]


def test_a_diff_of_a_folder_covers_only_that_folder(served: Served, tree: Path) -> None:
    session = served.create(cwd=str(tree / "app"))
    found = served.ask("GET", f"/api/sessions/{session}/diff").json()
    assert [each["path"] for each in found["files"]] == ["main.py"]


@pytest.mark.parametrize(
    ("base", "error"),
    [
        ("nowhere", "unknown_base"),
        ("--output=/tmp/x", "bad_base"),
        ("HEAD:app", "bad_base"),
        ("HEAD..HEAD", "unknown_base"),
        ("-p", "bad_base"),
    ],
)
def test_a_diffs_base_must_be_a_commit(served: Served, tree: Path, base: str, error: str) -> None:
    session = served.create(cwd=str(tree))
    answer = served.ask("GET", f"/api/sessions/{session}/diff?base={quote(base)}")
    assert (answer.status, answer.json()["error"]) == (409, error)


def test_a_directory_without_git_has_no_diff(served: Served, tmp_path: Path) -> None:
    session = served.create(cwd=str(tmp_path))
    answer = served.ask("GET", f"/api/sessions/{session}/diff")
    assert (answer.status, answer.json()["error"]) == (409, "no_git")
    (tmp_path / "a.txt").write_text("x")
    files = served.ask("GET", f"/api/sessions/{session}/files").json()["files"]
    assert files == ["a.txt"]
    gone = tmp_path / "gone"
    gone.mkdir()
    session = served.create(cwd=str(gone))
    gone.rmdir()
    answer = served.ask("GET", f"/api/sessions/{session}/files")
    assert (answer.status, answer.json()["error"]) == (409, "no_directory")


def test_a_diff_before_the_first_commit(served: Served, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "a.txt").write_text("x\n")
    session = served.create(cwd=str(tmp_path))
    found = served.ask("GET", f"/api/sessions/{session}/diff").json()
    assert (found["base"], [each["path"] for each in found["files"]]) == ("", ["a.txt"])


def test_looking_at_a_diff_runs_no_program_of_the_repository(
    served: Served, tmp_path: Path
) -> None:
    """What an agent writes into .git/config is not run by the daemon."""
    place, mark = tmp_path / "tree", tmp_path / "ran"
    place.mkdir()
    evil = f"touch {mark}; cat"
    settings = {
        "core.fsmonitor": evil,
        "diff.external": evil,
        "filter.evil.clean": evil,
        "filter.evil.smudge": evil,
        "filter.evil.process": evil,
        "filter.evil.required": "true",
        "diff.evil.textconv": evil,
        "diff.evil.command": evil,
        "core.pager": evil,
        "core.hooksPath": str(place / "hooks"),
    }
    (place / "hooks").mkdir()
    for hook in ("post-index-change", "pre-commit"):
        (place / "hooks" / hook).write_text(f"#!/bin/sh\n{evil}\n")
        (place / "hooks" / hook).chmod(0o755)
    git = ["git", "-C", str(place)]
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    (place / "a.txt").write_text("one\n")
    subprocess.run([*git, "add", "a.txt"], check=True)
    subprocess.run([*git, *who, "commit", "-qm", "x"], check=True)
    for key, value in settings.items():
        subprocess.run([*git, "config", key, value], check=True)
    (place / ".gitattributes").write_text("*.txt filter=evil diff=evil\n")
    (place / "a.txt").write_text("two\n")
    session = served.create(cwd=str(place))
    found = served.ask("GET", f"/api/sessions/{session}/diff").json()
    assert "+two\n" in found["patch"]
    assert "a.txt" in served.ask("GET", f"/api/sessions/{session}/files").json()["files"]
    assert not mark.exists()


# --- agents --------------------------------------------------------------------------------------


def test_the_list_of_agents_says_what_is_missing(served: Served) -> None:
    found = served.ask("GET", "/api/agents").json()
    agents = {each["name"]: each for each in found["agents"]}
    assert found["default"] == "demo"
    assert agents["demo"]["installed"]
    assert agents["claude"]["install"].startswith("npm install")
    assert json.dumps(agents["rookery"]["needs"]) == '"rookery setup"'


# --- all sessions --------------------------------------------------------------------------------


def test_search_finds_what_was_said(served: Served) -> None:
    session = served.create(prompt="the heron and the pelican")
    for words in ("heron", "pelic*", '"heron and the"', 'heron"', "heron OR (", "NEAR(heron"):
        found = served.ask("GET", f"/api/search?{urlencode({'q': words})}")
        assert found.status == 200, words
    hits = served.ask("GET", "/api/search?q=pelican&role=prompt").json()["hits"]
    assert [hit["session"] for hit in hits] == [session]
    (begin, end) = hits[0]["marks"][0]
    assert hits[0]["text"][begin:end] == "pelican"
    assert served.ask("GET", "/api/search?q=pelican&agent=claude").json()["hits"] == []
    assert served.ask("GET", "/api/search?q=").status == 422


@pytest.mark.parametrize("by", ["day", "agent", "model", "session"])
def test_usage_is_reported(served: Served, by: str) -> None:
    found = served.ask("GET", f"/api/usage?by={by}").json()
    assert found["by"] == by
    assert found["total"]["name"] == "total"


def test_quotas_are_told(served: Served) -> None:
    assert isinstance(served.ask("GET", "/api/limits").json()["limits"], list)


@pytest.mark.parametrize("confirm", modes.VALUES)
def test_a_session_is_created_with_its_approval_mode(served: Served, confirm: str) -> None:
    session = served.create(confirm=confirm)
    assert served.own("GET", f"/api/sessions/{session}").json()["confirm"] == confirm


def test_a_word_for_it_that_is_not_known_makes_no_session(served: Served) -> None:
    before = len(fleet.heads(served.home))
    body = {"agent": "demo", "cwd": "/tmp", "confirm": "never"}
    answer = served.ask("POST", "/api/sessions", body)
    assert (answer.status, answer.json()["error"]) == (422, "invalid")
    assert len(fleet.heads(served.home)) == before
