"""Real installations of the build before, under the old name, moved by `rookery update` and then
updated to a rebuilt wheel of the same version: with pip, pipx and uv."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from rookery.client import fleet
from rookery.home import paths
from rookery.processes import tree
from tests.worker.aviary import kill_workers

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
BEFORE = "65bf1299f0c2"
"""The last build that was called `rookery`, and had no `update`."""


def run(*words: str, more: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    done = subprocess.run(
        words,
        env={**os.environ, **(more or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def built(tree_: Path, out: Path) -> str:
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out), cwd=tree_)
    [wheel] = out.glob("*.whl")
    return str(wheel)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of the build before, of this one, and of this one with a change."""
    place = tmp_path_factory.mktemp("wheels")
    before = place / "before"
    before.mkdir()
    packed = subprocess.run(
        ["git", "archive", BEFORE], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    subprocess.run(["tar", "x", "-C", str(before)], input=packed, check=True)
    changed = place / "changed"
    for name in ("src", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        source, target = ROOT / name, changed / name
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    (changed / "src" / "rookery" / "changed.py").write_text("")
    return {
        "before": built(before, place / "1"),
        "now": built(ROOT, place / "2"),
        "changed": built(changed, place / "3"),
    }


class Place:
    """One installer, with folders of its own."""

    def __init__(self, installer: str, place: Path) -> None:
        self.installer, self.place = installer, place
        self.home = str(place / "home")
        self.bin = place / "bin"
        uv = str(Path(shutil.which("uv") or ROOT / ".uv" / "bin" / "uv").parent)
        self.more = {
            "HOME": str(place),
            "ROOKERY_HOME": self.home,
            "UV_TOOL_DIR": str(place / "tools"),
            "UV_TOOL_BIN_DIR": str(self.bin),
            "PIPX_HOME": str(place / "pipx"),
            "PIPX_BIN_DIR": str(self.bin),
            "PIPX_DEFAULT_PYTHON": sys.executable,
            "PATH": f"{self.bin}:{place / 'own' / 'bin'}:{uv}:{os.environ['PATH']}",
        }
        run(sys.executable, "-m", "venv", str(place / "own"))
        if installer == "pip":
            self.bin = place / "own" / "bin"
        elif installer == "pipx":
            run(str(place / "own" / "bin" / "pip"), "install", "--quiet", "pipx")

    def install(self, wheel: str) -> None:
        match self.installer:
            case "uv":
                line = ["uv", "tool", "install", "--force", "--python", sys.executable, wheel]
            case "pipx":
                line = ["pipx", "install", wheel]
            case _:
                line = [str(self.bin / "pip"), "install", "--quiet", wheel]
        run(*line, more=self.more)

    def rookery(self, *words: str) -> str:
        return run(str(self.bin / "rookery"), *words, more=self.more, cwd=self.place)

    def names(self) -> set[str]:
        """The distributions of either name, wherever this installer put them."""
        everywhere = self.place.rglob("rookery*-0.1.0.dist-info")
        found = [path for path in everywhere if ".cache" not in path.parts]
        return {path.name.removesuffix("-0.1.0.dist-info").replace("_", "-") for path in found}

    def build(self, session: str) -> str:
        record = paths.read_json(f"{paths.session_dir(self.home, session)}/{paths.WORKER}") or {}
        return str(record["build"])

    def newest(self) -> str:
        """The command of the build that was installed last, wherever its name leads."""
        names = {"uv": "tools/rookery-acp/bin", "pipx": "pipx/venvs/rookery-acp/bin"}
        return str(self.place / names.get(self.installer, "own/bin") / "rookery")


@pytest.mark.parametrize("installer", ["uv", "pip", "pipx"])
def test_an_installation_of_the_build_before_is_moved_and_then_updated(
    installer: str, tmp_path: Path, wheels: dict[str, str]
) -> None:
    place = Place(installer, tmp_path / "place")
    place.install(wheels["before"])
    agent = f"{sys.executable} -P -m rookery play demo"  # of no environment that is replaced
    for title in ("resting", "asking"):
        place.rookery("new", "--cmd", agent, "--title", title)
    heads = {head["title"]: head["id"] for head in fleet.heads(place.home)}
    resting, asking = heads["resting"], heads["asking"]
    try:
        place.rookery("prompt", "--wait", resting, '{"play": [{"text": "hello"}]}')
        ask = {"play": [{"ask": "Really?", "allowed": [{"text": "thank you"}]}]}
        place.rookery("prompt", asking, json.dumps(ask))
        place.install(wheels["now"])
        assert place.names() == {"rookery", "rookery-acp"}
        run(place.newest(), "update", "--yes", more=place.more)
        assert place.names() == {"rookery-acp"}
        awake = {head["id"]: head["awake"] for head in fleet.heads(place.home)}
        assert awake == {resting: False, asking: True}
        assert place.build(asking) == "0.1.0", "in mid-turn it goes on"
        place.rookery("answer", asking, "allow")
        place.rookery("prompt", "--wait", resting, '{"play": [{"text": "again"}]}')
        assert "again" in place.rookery("show", resting)
        before = place.build(resting)
        assert json.loads(place.rookery("update", wheels["changed"], "--check", "--json"))
        place.rookery("update", "--yes", wheels["changed"])
        place.rookery("prompt", "--wait", resting, '{"play": [{"text": "once more"}]}')
        assert place.build(resting) != before, "the same version, and another build"
        assert "thank you" in place.rookery("show", asking)
    finally:
        sessions = Path(place.home) / "sessions"
        records = [paths.read_json(str(each / paths.WORKER)) or {} for each in sessions.iterdir()]
        kill_workers(sessions.iterdir())
        known = [tree.Process(each["pid"], each["start"]) for each in records if each]
        tree.wait_gone(known, 10.0)
