"""The kind `container`: what is inside, how it ends, and what is said where it cannot be. With real
podman, on an image made of this machine's own Python."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rookery.core.settings.sandbox import Sandbox
from rookery.processes import home_tag, tree
from rookery.sandbox.container import Container
from rookery.sandbox.plan import Bind, Place, SandboxError
from tests.sandbox import images
from tests.sandbox.prison import PRISONER
from tests.worker.aviary import Aviary, Bird, text_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aviary]:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    aviary = Aviary(tmp_path)
    shutil.copytree(PRISONER, aviary.work / "agent", ignore=shutil.ignore_patterns("__py*"))
    yield aviary
    aviary.end()


def hatch(aviary: Aviary, argv: list[str] | None = None, **settings: Any) -> Bird:
    wanted = {"network": "off", "engine": " ".join(images.ENGINE), "args": images.LIMITS}
    lines = [f"{key} = {json.dumps(value)}" for key, value in (wanted | settings).items()]
    Path(aviary.home, "config.toml").write_text("\n".join(["[sandbox]", *lines]) + "\n")
    aviary.trust()
    own = command(settings.get("workspace") or aviary.work)
    return aviary.hatch(argv=argv or own, agent="demo", sandbox="container")


def command(work: Path | str) -> list[str]:
    """Of the prisoner, which names the player: so it is offered files and terminals."""
    return [os.path.realpath(sys.executable), "-I", "-S", f"{work}/agent", "rookery.acp.player"]


def real() -> str:
    """The image, where a container can run at all."""
    if fault := images.fault():
        pytest.skip(fault)
    return images.image()


def containers(bird: Bird) -> list[str]:
    """Those of the session that the engine knows, running or not."""
    listed = images.engine("ps", "--all", "--format={{.Names}}", f"--filter=name={bird.id}")
    return listed.stdout.decode().split()


async def calls(bird: Bird, *made: tuple[str, object]) -> list[Any]:
    events = await bird.turn(json.dumps({"ways": [], "calls": made}))
    assert events[-1].update["reason"] == "end_turn", [event.update for event in events[-4:]]
    return [json.loads(answer) for answer in json.loads(text_of(events)).values()]


async def test_an_agent_and_its_terminals_run_in_one_container(harbour: Aviary) -> None:
    """What they write in the session's directory is the user's. At the end the agent is asked
    first, and nothing is left."""
    asked = "trap 'echo asked > asked' TERM; \"$@\"; true"  # the trap, when the agent has ended
    bird = hatch(harbour, ["/bin/sh", "-c", asked, "sh", *command(harbour.work)], image=real())
    line = "echo $HOSTNAME $HOME; echo made > made; echo $$ > /tmp/first; pwd"
    first, again = await calls(
        bird,
        ("run", ["/bin/sh", "-c", line]),
        ("run", ["/bin/sh", "-c", "read pid < /tmp/first; test $pid && echo same; exit 3"]),
    )
    assert first[1]["result"]["output"].endswith(f"{harbour.work}\n")
    assert again[1]["result"]["output"] == "same\n"
    assert again[0]["result"]["exitCode"] == 3
    made = harbour.work / "made"
    assert made.read_text() == "made\n"
    assert made.stat().st_uid == os.getuid()
    assert len(containers(bird)) == 1
    worker = bird.worker
    await bird.send("stop")
    await bird.gone(worker)
    assert containers(bird) == []
    assert (harbour.work / "asked").exists()


@pytest.mark.long
async def test_paths_of_the_container_are_those_of_the_session(harbour: Aviary) -> None:
    """Only what is mounted is mapped, and the root check comes after that."""
    bird = hatch(harbour, image=real(), workspace="/workspace")
    (harbour.root / "secret").write_text("secret")
    (harbour.work / "link").symlink_to(harbour.root / "secret")
    written, read, out, linked, ran = await calls(
        bird,
        ("fs/write_text_file", {"path": "/workspace/new/a", "content": "of the host"}),
        ("fs/read_text_file", {"path": "/workspace/new/a"}),
        ("fs/read_text_file", {"path": "/workspace/../secret"}),
        ("fs/read_text_file", {"path": "/workspace/link"}),
        ("run", ["/bin/sh", "-c", "pwd; read line < new/a; echo $line"]),
    )
    assert written["result"] == {}
    assert read["result"] == {"content": "of the host"}
    assert (harbour.work / "new" / "a").read_text() == "of the host"
    assert "outside" in out["error"]["message"]
    assert "outside" in linked["error"]["message"]
    assert ran[1]["result"]["output"].startswith("/workspace\n")


@pytest.mark.long
async def test_a_killed_worker_leaves_no_container(harbour: Aviary) -> None:
    bird = hatch(harbour, image=real())
    await calls(bird)
    inside = [row.pid for row in tree.descendants(bird.worker.pid)]
    worker, warden = bird.worker, bird.warden
    tree.kill([worker])
    await bird.gone(worker, warden)
    assert not [pid for pid in inside if tree.start_time(pid)]
    async with asyncio.timeout(60):
        while images.engine("ps", "--quiet", f"--filter=name={bird.id}").stdout:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    await calls(bird)  # and the next worker takes away what is left of it
    assert len(containers(bird)) == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"engine": "no-such-engine", "image": "x"},
            "needs no-such-engine, which is not installed",
        ),
    ],
)
async def test_a_missing_engine_is_reported(
    harbour: Aviary, settings: dict[str, str], words: str
) -> None:
    """And nothing runs without a sandbox instead."""
    bird = hatch(harbour, **settings)
    assert words in json.dumps([event.update for event in await bird.turn("hello")])


@pytest.mark.long
@pytest.mark.parametrize(
    ("image", "argv", "words"),
    [
        ("", ["no-such-agent"], "cannot run no-such-agent: it is not in the image"),
        ("localhost/no-such:1", None, "has no image localhost/no-such:1"),
    ],
)
async def test_a_missing_program_or_image_is_reported(
    harbour: Aviary, image: str, argv: list[str] | None, words: str
) -> None:
    known = real()
    bird = hatch(harbour, argv, image=image or known)
    assert words in json.dumps([event.update for event in await bird.turn("hello")])
    assert containers(bird) == []


def place(tmp_path: Path, *binds: Bind) -> Place:
    (tmp_path / "work").mkdir(exist_ok=True)
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    roots, user = [str(tmp_path / "work")], str(tmp_path / "user")
    return Place(roots, user, [str(tmp_path / "home")], str(scratch), "name.1", binds)


def test_the_engine_gets_nothing_that_an_agent_could_choose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its program nor its environment; and no value is an argument, which others see."""
    engine = tmp_path / "bin" / "podman"
    engine.parent.mkdir()
    engine.write_text("")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'work'}:{engine.parent}")
    made = Container(Sandbox(kind="container", image="i"), place(tmp_path))
    (tmp_path / "work" / "podman").symlink_to(engine)
    given = {"PATH": "/mine", "KEY": "secret", "LD_PRELOAD": "/evil.so", "HOME": "/other"}
    first = made.spawn(["agent"], given, str(tmp_path / "work"))
    later = made.spawn(["--privileged"], given | {"PATH": "/changed"}, str(tmp_path / "work"))
    for spawn in (first, later):
        assert "secret" not in " ".join(spawn.argv)
        assert not {"KEY", "LD_PRELOAD"} & set(spawn.environment)
    assert later.argv[0] == str(engine)
    assert later.argv[-2:] == [f"rookery-{home_tag(str(tmp_path / 'home'))}-name", "--privileged"]
    files = [word.partition("=")[2] for word in later.argv if word.startswith("--env-file=")]
    assert set(Path(files[0]).read_text().split()) == {"KEY=secret", "PATH=/changed"}
    assert Path(files[0]).stat().st_mode & 0o777 == 0o600


def test_names_that_cannot_be_mounted_are_refused(tmp_path: Path) -> None:
    odd = Bind(str(tmp_path), "/with,comma")
    with pytest.raises(SandboxError, match="comma"):
        Container(Sandbox(kind="container", engine="true", image="i"), place(tmp_path, odd))
