"""`rookery agents install` and `remove`, with the real npm and pip; the packages are ours."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agents import install, programs, registry
from rookery.home import paths
from tests.cli.driving import Terminal, play, rookery
from tests.npm_registry import CLAUDE, PLAYER, serving


@pytest.fixture
def npm_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    with serving(monkeypatch, tmp_path):
        yield


def test_an_npm_agent_is_installed_here_found_used_and_removed(
    home: Path, npm_registry: None
) -> None:
    refused = rookery("agents", "install", "claude")
    assert refused.code == 2
    assert "Re-run with --yes" in refused.err
    assert not (home / "agents").exists(), "it asks first"
    done = rookery("agents", "install", "claude", "--yes")
    assert done.code == 0, done.err
    assert "rookery doctor claude" in done.err
    listed = {each["name"]: each for each in rookery("agents", "--json").events}
    assert listed["claude"]["program"] == str(home / "agents/claude/bin/claude-agent-acp")
    assert (listed["claude"]["version"], listed["claude"]["installedHere"]) == ("1.2.3", True)
    assert "(installed by Rookery)" in rookery("agents").out
    ran = rookery("run", "--agent", "claude", "--title", "It", play({"text": "Hello from npm"}))
    assert (ran.code, ran.out) == (0, "Hello from npm\n"), ran.err
    used = rookery("agents", "remove", "claude", "--yes")
    assert (used.code, "rookery stop" in used.err) == (1, True)
    rookery("stop", "It")
    assert rookery("agents", "rm", "claude", "--yes").code == 0
    assert not (home / "agents").exists()
    gone = rookery("run", "--agent", "claude", "x")
    assert (gone.code, "rookery agents install claude" in gone.err) == (1, True)


def test_installing_asks_in_a_terminal_and_a_failure_leaves_nothing(
    home: Path, npm_registry: None
) -> None:
    with Terminal("agents", "install", "claude") as terminal:
        terminal.read_until("Go ahead?")
        terminal.type("n\n")
        assert terminal.end().code == 130
    assert not (home / "agents").exists()
    failed = rookery("agents", "install", "qwen", "--yes")  # which the registry does not have
    assert failed.code == 1
    assert "Nothing was installed" in failed.err
    assert not (home / "agents/qwen").exists()


def wheel(folder: Path) -> None:
    """A package of PyPI's kind whose program is the demo agent."""
    name = "mistral_vibe-3.0.0"
    code = f"import os\n\ndef main():\n    os.execv({PLAYER[0]!r}, {PLAYER!r})\n"
    files = {
        "stub.py": code,
        f"{name}.dist-info/METADATA": "Metadata-Version: 2.1\nName: mistral-vibe\nVersion: 3.0.0\n",
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}.dist-info/entry_points.txt": "[console_scripts]\nvibe-acp = stub:main\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{name}.dist-info/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as packed:
        for path, text in (files | {f"{name}.dist-info/RECORD": record}).items():
            packed.writestr(path, text)


@pytest.mark.long
def test_a_pypi_agent_has_an_environment_of_its_own(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path)
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(tmp_path))
    done = rookery("agents", "install", "vibe", "--yes")
    assert done.code == 0, done.err
    assert (home / "agents/vibe/environment/pyvenv.cfg").exists()
    ran = rookery("run", "--agent", "vibe", play({"text": "Hello from PyPI"}))
    assert "Hello from PyPI" in ran.out, ran.err
    inventory = rookery("uninstall", "--json").events[0]
    assert "agents" in inventory["removes"]


@pytest.mark.parametrize(
    ("name", "source", "packages", "python"),
    [
        ("claude", "npm", (CLAUDE,), ""),
        ("pi", "npm", ("pi-acp", "@earendil-works/pi-coding-agent"), ""),
        ("swival", "PyPI", ("swival",), "3.13"),
        ("hermes", "PyPI", ("hermes-agent[acp,mcp]",), ""),
        ("deepagents", "PyPI", ("deepagents-code", "deepagents-acp"), ""),
    ],
)
def test_the_install_line_says_which_packages(
    name: str, source: str, packages: tuple[str, ...], python: str
) -> None:
    found = install.recipe(registry.AGENTS[name])
    assert found == (source, packages, registry.AGENTS[name].argv[0], python)


@pytest.mark.parametrize(
    ("name", "words"), [("goose", "https://"), ("demo", "is included"), ("rookery", "is included")]
)
def test_an_agent_without_a_package_says_where_it_comes_from(
    home: Path, name: str, words: str
) -> None:
    done = rookery("agents", "install", name, "--yes")
    assert (done.code, words in done.err) == (1, True)


def test_programs_are_looked_up_in_the_home_that_everything_uses(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (str(home), "~/elsewhere", ""):
        monkeypatch.setenv("ROOKERY_HOME", place)
        root = Path(paths.home(), programs.FOLDER)
        assert install.folder(paths.home(), "x") == str(root / "x")
    monkeypatch.setenv("ROOKERY_HOME", str(home))
    (home / "agents/x").mkdir(parents=True)
    assert list(programs.own_places()) == [str(home / "agents/x/bin")]
