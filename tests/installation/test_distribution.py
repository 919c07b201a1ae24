"""What is read from an environment: who installed which distribution, from where, with what; and
the lines that follow from it."""

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rookery.installation import commands
from rookery.installation.distribution import NAME, OLD_NAME, Installation, installed_in, running

ROOT = Path(__file__).resolve().parents[2]
OURS = "The Rookery authors"


class Environment:
    """Folders as installers leave them."""

    def __init__(self, place: Path) -> None:
        self.prefix = place
        self.packages = place / "lib" / "site-packages"
        self.packages.mkdir(parents=True)

    def has(
        self,
        name: str,
        *,
        author: str = OURS,
        installer: str = "pip",
        direct: object = None,
        version: str = "0.1.0",
    ) -> None:
        place = self.packages / f"{name.replace('-', '_')}-{version}.dist-info"
        place.mkdir()
        needs = ["textual; extra == 'tui'", "markdown-it-py; extra == 'tui'"]
        needs += ["mcp<2,>=1.27; extra == 'agent'"]
        head = [f"Name: {name}", f"Version: {version}", f"Author: {author}"]
        lines = ["Metadata-Version: 2.4", *head, *(f"Requires-Dist: {each}" for each in needs)]
        (place / "METADATA").write_text("\n".join(lines) + "\n")
        (place / "INSTALLER").write_text(installer + "\n")
        if direct is not None:
            (place / "direct_url.json").write_text(json.dumps(direct))

    def read(self) -> list[Installation]:
        python = str(self.prefix / "bin" / "python")
        return installed_in(python, str(self.prefix), [str(self.packages)])


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "my env")


def folder(path: Path, **more: object) -> dict[str, object]:
    return {"url": path.as_uri(), "dir_info": more}


def test_the_name_in_pyproject_is_the_one_that_is_looked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == NAME
    assert [each["name"] for each in project["authors"]] == [OURS]
    assert {"agent", "tui", "web", "push"} <= project["optional-dependencies"].keys()


def test_this_checkout_is_editable_and_has_every_extra() -> None:
    found = running()
    assert (found.name, found.source) == (NAME, ("editable", str(ROOT)))
    assert found.extras == ("agent", "tui", "web", "push")


def test_code_that_no_distribution_owns_is_run_from_its_source() -> None:
    script = "from rookery.installation.distribution import running; print(running().source.place)"
    said = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == str(ROOT)


@pytest.mark.parametrize(
    ("direct", "kind", "wanted"),
    [
        (None, "index", "rookery-acp[tui]"),
        ({"url": "https://h/r.whl", "archive_info": {}}, "url", f"{NAME}[tui] @ https://h/r.whl"),
        (
            {"url": "https://h/r.git", "vcs_info": {"vcs": "git", "requested_revision": "main"}},
            "git",
            f"{NAME}[tui] @ git+https://h/r.git@main",
        ),
        ({"url": "ssh://h/r", "vcs_info": {"vcs": "git"}}, "git", f"{NAME}[tui] @ git+ssh://h/r"),
        ("broken", "index", "rookery-acp[tui]"),
    ],
)
def test_an_extra_is_added_from_where_the_rest_came_from(
    environment: Environment, direct: object, kind: str, wanted: str
) -> None:
    environment.has(NAME, direct=direct)
    (found,) = environment.read()
    assert found.source.kind == kind
    line = shlex.split(commands.install_line(found, ["tui"]))
    assert line == [found.python, "-m", "pip", "install", wanted]


def test_a_path_with_spaces_is_quoted(environment: Environment, tmp_path: Path) -> None:
    checkout = tmp_path / "a checkout's"
    checkout.mkdir()
    environment.has(NAME, direct=folder(checkout))
    (found,) = environment.read()
    line = commands.install_line(found, ["web", "agent"])
    assert shlex.split(line)[-1] == f"{checkout}[agent,web]"
    assert shlex.split(line)[0] == str(tmp_path / "my env" / "bin" / "python")


def test_a_checkout_that_is_gone_is_not_named(environment: Environment, tmp_path: Path) -> None:
    environment.has(NAME, direct=folder(tmp_path / "gone"))
    line = commands.install_line(environment.read()[0], ["web"])
    assert line.endswith("-m pip install '.[web]'  # in a checkout of Rookery")


def test_extras_that_are_installed_are_kept(environment: Environment, tmp_path: Path) -> None:
    environment.has(NAME, direct=folder(tmp_path))
    for name in ("textual", "markdown-it-py"):
        environment.has(name)
    (found,) = environment.read()
    assert found.extras == ("tui",)
    assert commands.install_line(found, ["web"]).endswith(f"{tmp_path}[tui,web]'")


def test_a_tool_of_uv(environment: Environment, tmp_path: Path) -> None:
    environment.has(NAME, installer="uv", direct=folder(tmp_path, editable=True))
    receipt = (
        f'[tool]\nrequirements = [{{ name = "{NAME}", extras = ["agent"], editable = "." }}]\n'
    )
    (environment.prefix / "uv-receipt.toml").write_text(receipt)
    (found,) = environment.read()
    assert (found.installer, found.extras) == ("uv tool", ("agent",))
    line = commands.install_line(found, ["web"])
    assert "uv tool install --python " in line, "the Python that it has, not uv's own choice"
    assert line.endswith(f" --editable '{tmp_path}[agent,web]'")
    assert commands.uninstall_line(found).endswith(f"uv tool uninstall {NAME}")
    (again,) = commands.update(found)
    assert again[1:5] == ["tool", "install", "--reinstall-package", NAME]


def test_a_tool_of_pipx(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venvs" / NAME)
    environment.has(NAME, direct=folder(tmp_path))
    record = {"main_package": {"package_or_url": f"{tmp_path}[agent, tui]"}}
    (environment.prefix / "pipx_metadata.json").write_text(json.dumps(record))
    (found,) = environment.read()
    assert (found.installer, found.extras) == ("pipx", ("agent", "tui"))
    line = shlex.split(commands.install_line(found, ["web"]))
    assert line[:4] == ["pipx", "install", "--force", "--python"]
    assert line[-1] == f"{tmp_path}[agent,tui,web]"
    assert commands.uninstall_line(found) == f"pipx uninstall {NAME}"


@pytest.mark.parametrize(
    ("installer", "record", "removes"),
    [
        ("pip", "", "-m pip uninstall --yes rookery"),
        ("uv", "", "uv pip uninstall --python"),
        ("uv", "uv-receipt.toml", "uv tool uninstall rookery"),
        ("pip", "pipx_metadata.json", "pipx uninstall "),
    ],
)
def test_the_old_name_of_ours_is_removed_before_the_new_is_installed(
    environment: Environment, tmp_path: Path, installer: str, record: str, removes: str
) -> None:
    environment.has(OLD_NAME, installer=installer, direct=folder(tmp_path))
    if record:
        (environment.prefix / record).write_text("")
    (found,) = environment.read()
    assert found.is_old
    first, second = commands.install_line(found, ["tui"]).split(" && ")
    assert removes in first
    assert second.endswith(f"{tmp_path}[tui]'")


def test_the_other_project_of_that_name_is_known_as_foreign(environment: Environment) -> None:
    environment.has(OLD_NAME, author="Somebody Else", version="0.10.0")
    environment.has(NAME)
    ours, other = environment.read()
    assert (ours.name, ours.foreign, ours.is_old) == (NAME, False, False)
    assert (other.name, other.foreign, other.is_old) == (OLD_NAME, True, False)


def test_pip_reinstalls_a_wheel_of_the_same_version(
    environment: Environment, tmp_path: Path
) -> None:
    wheel = tmp_path / "rookery_acp-0.1.0-py3-none-any.whl"
    wheel.touch()
    environment.has(NAME, direct={"url": wheel.as_uri(), "archive_info": {}})
    _, again = commands.update(environment.read()[0])
    assert again[3:] == ["install", "--force-reinstall", "--no-deps", str(wheel)]
