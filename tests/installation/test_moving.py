"""From the earlier build, called `rookery`, to this one, with each installer; and beside another
project of that name, of which nothing is ever installed or removed."""

import shlex
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.installation.places import ROOT, UV, Account

EARLIER = "65bf1299"
"""The last commit whose distribution is called `rookery`."""
FOREIGN = "99"


@pytest.fixture
def account(tmp_path: Path) -> Account:
    """One whose package index offers the other project, too."""
    found = Account(tmp_path, str(Path(sys.executable).resolve()))
    offered = str(foreign_wheel(tmp_path / "offered").parent)
    found.environment |= {"UV_FIND_LINKS": offered, "PIP_FIND_LINKS": offered}
    return found


def foreign_wheel(place: Path) -> Path:
    """The other project: same name, same package, same command."""
    place.mkdir()
    wheel = place / f"rookery-{FOREIGN}-py3-none-any.whl"
    about = f"rookery-{FOREIGN}.dist-info"
    files = {
        "rookery/__init__.py": "def main():\n    print('a stranger')\n",
        f"{about}/METADATA": (
            f"Metadata-Version: 2.1\nName: rookery\nVersion: {FOREIGN}\nAuthor: Somebody Else\n"
            "Provides-Extra: agent\nProvides-Extra: tui\nProvides-Extra: web\n"
        ),
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\nrookery = rookery:main\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {**files, f"{about}/RECORD": record}.items():
            archive.writestr(name, text)
    return wheel


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the earlier build, from this clone's history."""
    place = tmp_path_factory.mktemp("earlier")
    packed = place / "tree.tar"
    found = subprocess.run(
        ["git", "archive", "--output", str(packed), EARLIER],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, f"this clone lacks {EARLIER}; it must be whole: {found.stderr}"
    with tarfile.open(packed) as archive:
        archive.extractall(place / "tree", filter="data")
    command = [UV, "build", "--quiet", "--wheel", "--out-dir", str(place), str(place / "tree")]
    subprocess.run(command, check=True)
    return next(place.glob("rookery-*.whl"))


def install_earlier(account: Account, way: str, wheel: Path) -> Path:
    """Returns the folder of the environments that this way makes."""
    path, home = account.environment["PATH"], account.home
    if way == "uv tool":
        account.run(f"{UV} tool install --quiet {wheel}")
        return home / ".local" / "share" / "uv" / "tools"
    place = home / "an environment"
    venv.create(place, with_pip=True)
    account.environment["PATH"] = f"{place / 'bin'}:{path}"
    if way == "pipx":
        account.run("python -m pip install --quiet pipx")
        account.run(f"pipx install --quiet {wheel}")
        return home / ".local" / "share" / "pipx" / "venvs"
    pip = f"{UV} pip install --python '{place}/bin/python'" if way == "uv pip" else "pip install"
    account.run(f"{pip} --quiet {wheel}")
    return place.parent


@pytest.mark.long
@pytest.mark.timeout(1200)  # an index may be slow
@pytest.mark.parametrize("way", ["uv tool", "pipx", "pip", "uv pip"])
def test_the_earlier_build_is_moved_by_the_program_that_installed_it(
    account: Account, earlier: Path, way: str
) -> None:
    folder = install_earlier(account, way, earlier)
    work = account.home
    account.run("rookery run --agent demo --stop --title birds 'Show me around'", cwd=work)
    said = account.run("make install EXTRAS=tui").stderr
    assert "Your sessions are kept" in said
    assert said.splitlines()[-1] == "Next: rookery"
    assert "birds" in account.run("rookery ps", cwd=work).stdout
    tool = way in ("uv tool", "pipx")
    assert not tool or [each.name for each in folder.iterdir() if each.is_dir()] == ["rookery-acp"]
    place = folder / ("rookery-acp" if tool else "an environment")
    found = account.distributions(place / "bin" / "python")
    assert "rookery-acp" in found
    assert "rookery" not in found
    # Nothing is left behind that would take the command away.
    told = account.run("rookery uninstall", cwd=work, codes=(0, 2)).stdout
    (remove,) = [line for line in told.splitlines() if "to remove it" in line]
    assert "rookery-acp" in remove
    # The line for an extra takes nothing from the index under the old name, either.
    line = account.run("rookery export --format html birds >/dev/null", cwd=work, codes=(0, 1))
    assert "install rookery" not in line.stderr
    account.run("make install EXTRAS=tui")  # again: brought up to date
    account.run("rookery --version", cwd=work)
    account.run("rookery uninstall --yes", cwd=work)


def test_the_other_project_is_left_alone(account: Account, tmp_path: Path) -> None:
    """Its command stands where ours would: that is said, and nothing is changed."""
    account.run(f"{UV} tool install --quiet rookery")
    assert account.run("rookery", cwd=account.home).stdout == "a stranger\n"
    done = account.run("make install EXTRAS=tui", codes=(2,))
    assert f"another project called rookery {FOREIGN}" in done.stderr
    assert "is another project's command, and was left alone" in done.stderr
    assert "-m venv" in done.stderr
    assert account.run("rookery", cwd=account.home).stdout == "a stranger\n"


def test_a_wrong_extra_is_refused_in_words(account: Account) -> None:
    done = account.run("make install EXTRAS=agent,nest", codes=(2,))
    assert "no such extra: nest. There are agent, tui, web, push." in done.stderr


@pytest.mark.long
def test_the_line_for_a_missing_extra_installs_it_and_nothing_foreign(account: Account) -> None:
    """With the index that offers the other project as version 99."""
    folder = account.home / "with a space"
    venv.create(folder, with_pip=True)
    account.environment["PATH"] = f"{folder / 'bin'}:{account.environment['PATH']}"
    account.run(f"pip install --quiet {shlex.quote(str(ROOT))}")
    words = account.run("rookery serve", cwd=account.home, codes=(1,)).stderr
    line = words.partition("To install it: ")[2].strip()
    account.run(line, cwd=account.home)
    found = account.distributions(folder / "bin" / "python")
    assert {"fastapi", "uvicorn", "rookery-acp"} <= found.keys()
    assert "rookery" not in found
