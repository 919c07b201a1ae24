"""`rookery update`: what is offered, what is asked first, and what happens to what still runs."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from rookery.build import DIFFERS, build
from rookery.client import fleet
from rookery.client.daemon import local as daemon
from rookery.client.start import start_worker
from rookery.client.update import available
from rookery.client.update.available import Unavailable, look
from rookery.client.update.checkout import fast_forward
from rookery.daemon.options import Options
from rookery.daemon.process import lifecycle
from rookery.home import paths
from rookery.installation.distribution import AUTHOR, NAME, Installation, Source
from rookery.log.lock import Lock, becomes_free, is_locked
from rookery.processes import tree
from tests.cli.driving import made, rookery

OLDER = str(Path(__file__).parents[1] / "worker" / "older.py")


def wheel(place: Path, name: str = NAME, author: str = AUTHOR, version: str = "99.0.0") -> str:
    """What is read of a wheel, and nothing else."""
    path = place / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        about = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nAuthor: {author}\n"
        file.writestr(f"{name.replace('-', '_')}-{version}.dist-info/METADATA", about)
        file.writestr("rookery/build-stamp.txt", "aaaaaaaaaaaa.20990102030405\n")
    return str(path)


def test_it_says_what_it_would_do_and_asks_first(home: Path, tmp_path: Path) -> None:
    path = wheel(tmp_path)
    checked = rookery("update", path, "--check")
    assert checked.code == 0
    assert "Available  99.0.0 (aaaaaaaaaaaa, 2099-01-02), newer" in checked.out
    told = json.loads(rookery("update", path, "--check", "--json").out)
    assert (told["installed"], told["order"]) == (build(), "newer")
    assert f"{path}[agent,tui,web,push]" in told["commands"][-1]
    refused = rookery("update", path)
    assert refused.code == 2
    assert "--yes" in refused.err


@pytest.mark.parametrize(
    ("name", "author", "words"),
    [("rookery", "A stranger", "a wheel of rookery"), (NAME, "A stranger", "not of rookery-acp")],
)
def test_a_strangers_wheel_is_not_installed(
    home: Path, tmp_path: Path, name: str, author: str, words: str
) -> None:
    said = rookery("update", "--yes", wheel(tmp_path, name, author))
    assert said.code == 1
    assert words in said.err


def test_a_path_without_rookery_is_refused_in_words(home: Path, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone.whl", Path(__file__)):
        said = rookery("update", "--yes", str(path))
        assert said.code == 1
        assert str(path) in said.err
        assert "Traceback" not in said.err


def test_an_agent_does_not_update(home: Path, tmp_path: Path) -> None:
    session = made({"text": "hello"})
    said = rookery("update", "--yes", wheel(tmp_path), ROOKERY_MARK=f"{session}.1")
    assert said.code != 0
    assert "An agent cannot update Rookery" in said.err


# ---------------------------------------------------------------- checkouts


class Checkout:
    """A clone of a small repository, with its upstream."""

    def __init__(self, place: Path) -> None:
        self.place, self.origin = place / "clone", place / "origin"
        (self.origin / "src" / "rookery").mkdir(parents=True)
        (self.origin / "src" / "rookery" / "__init__.py").write_text('__version__ = "99.0.0"\n')
        (self.origin / "pyproject.toml").write_text(f'[project]\nname = "{NAME}"\n')
        self.git(self.origin, "init", "-q")
        self.commit(self.origin, "begin")
        self.git(place, "clone", "-q", str(self.origin), str(self.place))

    def git(self, place: Path, *words: str) -> None:
        user = ("-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *user, *words], cwd=place, check=True, capture_output=True)

    def commit(self, place: Path, subject: str) -> None:
        with (place / "file").open("a") as file:
            file.write(subject)
        self.git(place, "add", "-A")
        self.git(place, "commit", "-q", "-m", subject)

    def look(self) -> available.Offer:
        source = Source("editable", str(self.place))
        return look(Installation(NAME, "1", "pip", sys.executable, sys.prefix, source, ()))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_checkout_is_pulled_only_where_git_can_fast_forward(checkout: Checkout) -> None:
    assert not checkout.look().pull
    checkout.commit(checkout.origin, "a newer one")
    assert checkout.look().pull
    (checkout.place / "file").write_text("mine")
    with pytest.raises(Unavailable, match=r"1 commit\) and has changes that are not committed"):
        checkout.look()
    checkout.commit(checkout.place, "mine")
    with pytest.raises(Unavailable, match="have both moved on"):
        checkout.look()
    checkout.git(checkout.place, "switch", "-q", "-c", "alone")
    offer = checkout.look()
    assert not offer.pull
    assert "follows no upstream" in offer.note


def test_an_upstream_that_cannot_be_reached_is_told_with_gits_own_words(checkout: Checkout) -> None:
    shutil.rmtree(checkout.origin)
    with pytest.raises(Unavailable, match="does not appear to be a git repository"):
        checkout.look()
    shutil.rmtree(checkout.place)
    with pytest.raises(Unavailable, match="which is gone"):
        checkout.look()


def test_an_update_runs_nothing_that_the_checkout_or_the_directory_names(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, here = tmp_path / "notes", tmp_path / "here"
    notes.mkdir()
    run = f": > {notes}/ran"
    checkout.commit(checkout.origin, "a newer one")
    config = checkout.place / ".git" / "config"
    plain = config.read_text()
    lines = ["[protocol]", "allow = always"]
    for part, keys in ARMED.items():
        lines += [f"[{part}]", *(f"{key} = {json.dumps(run)}" for key in keys.split())]
    config.write_text("\n".join([plain, *lines, ""]))
    hooks = [checkout.place / ".git" / "hooks" / name for name in HOOKS]
    for path in [*hooks, *(here / name for name in ("git", "sh", "python", "uv", "pipx"))]:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{run}\n")
        path.chmod(0o755)
    (here / "pip.py").write_text(f"open({str(notes / 'pip')!r}, 'w')\n")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", ".")
    assert checkout.look().pull
    fast_forward(str(checkout.place))
    assert (checkout.place / "file").read_text() == "begina newer one"
    lines += ['[remote "origin"]', "vcs = x", f"url = ext::sh -c :>{notes}/ran", ""]
    config.write_text("\n".join([plain, *lines]))
    with suppress(Unavailable):
        checkout.look()
    found = Installation(NAME, "1", "pip", sys.executable, sys.prefix, Source("index"), ())
    with suppress(Unavailable):
        available.rehearse(found, Source("file", str(tmp_path / "none.whl")))
    assert list(notes.iterdir()) == []


ARMED = {
    "core": "fsmonitor sshCommand pager gitProxy alternateRefsCommand",
    'remote "origin"': "uploadpack receivepack",
    "credential": "helper",
    "alias": "fetch merge status rev-parse",
}
HOOKS = ("post-merge", "post-checkout", "post-index-change", "reference-transaction")


def test_an_address_of_git_is_asked_for_its_latest_commit(checkout: Checkout) -> None:
    def at(place: str) -> available.Offer:
        source = Source("git", place)
        return look(Installation(NAME, "1", "pip", sys.executable, sys.prefix, source, ()))

    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=checkout.origin, text=True)
    offer = at(f"git+file://{checkout.origin}")
    assert (offer.build.partition("+")[2], offer.order) == (head[:12], DIFFERS)
    with pytest.raises(Unavailable, match="a fixed commit"):
        at(f"git+file://{checkout.origin}@{head.strip()}")
    with pytest.raises(Unavailable, match="has no gone"):
        at(f"git+file://{checkout.origin}@gone")


# ---------------------------------------------------------------- what still runs


def older_worker(home: Path, session: str) -> str:
    """Replace a session's worker by one of an older build; its directory."""
    fleet.kill(str(home), session)
    start_worker(str(home), session, argv=[sys.executable, OLDER, "0.0.1+older"])
    return paths.session_dir(str(home), session)


def write_record(home: Path, **changes: object) -> None:
    path = str(home / daemon.RECORD)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    record = (paths.read_json(path) or {}) | changes
    paths.write_atomic(path, json.dumps(record).encode(), 0o600)


def test_afterwards_idle_workers_of_the_older_build_sleep(home: Path) -> None:
    directory = older_worker(home, made({"text": "hello"}))
    said = rookery("update", "--updated-from", "0.0.1+older", "--yes")
    assert (said.code, "1 idle session" in said.out) == (0, True)
    assert not is_locked(directory)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("0.0.1+older", "an older build: 0.0.1. To restart it: rookery serve --restart"),
        ("99.0.0+newer", "a newer build: 99.0.0. To update: rookery update"),
        ("0.1.0+unknown", "another build: 0.1.0. To restart it: rookery serve --restart"),
    ],
)
def test_a_list_says_whether_the_daemon_or_the_command_is_newer(
    home: Path, name: str, words: str
) -> None:
    own = {"pid": os.getpid(), "start": tree.start_time(os.getpid())}
    write_record(home, **own, build=name, background=True)
    assert words not in rookery("ps").err, "it runs no more"
    held = Lock.acquire(str(home / daemon.LOCK))
    assert words in rookery("ps").err
    write_record(home, build=build())
    assert "build" not in rookery("ps").err
    held.release()


@pytest.mark.long
def test_the_daemon_lets_older_workers_sleep_and_is_restarted_if_asked(home: Path) -> None:
    directory = older_worker(home, made({"text": "hello"}))
    first = lifecycle.start(str(home), Options(port=0))
    try:
        assert becomes_free(directory, 100.0), "it asks them by itself"
        write_record(home, build="0.0.1+older")
        assert "The daemon runs an older build" in rookery("serve", "--status").err
        assert "The daemon runs an older build" in rookery("doctor").out
        said = rookery("update", "--updated-from", "0.0.1+older", "--yes")
        assert "To restart it: rookery serve --restart" in said.err
        said = rookery("update", "--updated-from", "0.0.1+older", "--yes", "--restart-daemon")
        assert (said.code, "restarted" in said.out) == (0, True), said.err
        record = daemon.record(str(home))
        assert record is not None
        assert (record["build"], record["pid"] != first["pid"]) == (build(), True)
    finally:
        lifecycle.stop(str(home))
    assert not tree.alive(first["pid"], first["start"])


def test_a_process_that_runs_on_says_that_a_newer_build_is_installed() -> None:
    code = (
        "from rookery import build; from rookery.client.update.difference import since_start;"
        "print(repr(since_start())); build._known = '0.0.1+older'; print(since_start())"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    assert said[0] == "''"
    assert said[1].startswith("A newer build is installed: ")
