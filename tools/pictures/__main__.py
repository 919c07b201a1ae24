"""Pictures of Rookery with sessions that look like a day's work:

python -m tools.pictures                    the ones in docs/pictures
python -m tools.pictures FOLDER [SCREEN …] [--width N …] [--theme light|dark …]    of the web page
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.browsers import log_in
from tests.conftest import end_all
from tests.daemon.served import Served, serve
from tools.pictures.drawing import animation
from tools.pictures.recording import KEYS, SIZE, two_asks
from tools.pictures.scenes import ABOUT_TO_ASK, SCENES, Day, Scene

WIDTHS = {1440: 900, 1024: 768, 390: 844}
THEMES = ("light", "dark")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60_000
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
OF_THE_PAGE = {
    "session-light.png": ("session", "light", 1440),
    "fleet-phone.png": ("fleet", "dark", 390),
    "inbox-phone.png": ("inbox", "dark", 390),
}
"""Screen, theme and width."""
TWO_ASKS = "Two sessions ask while you read a third: F2 y F2 y answers both"
TERMINAL = "A session in the terminal interface asks before it runs a command"


@contextmanager
def day(scenes: Sequence[Scene] = SCENES) -> Iterator[tuple[Served, Day]]:
    """A daemon whose home has the sessions."""
    place = Path(tempfile.mkdtemp(prefix="rkp-", dir="/tmp"))
    before = dict(os.environ)
    os.environ |= {"HOME": str(place), "ROOKERY_HOME": str(place / ".rookery")}
    home = place / ".rookery"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("[agent]\nwarm = false\n")
    served = serve(home)
    try:
        made = Day(served, place, scenes)
        made.begin()
        yield served, made
    finally:
        served.stop()
        end_all(home)
        os.environ.clear()
        os.environ |= before
        shutil.rmtree(place, ignore_errors=True)


def screens(made: Day) -> dict[str, str]:
    """Where each screen is."""
    session = f"/sessions/{made.ids['login']}"
    return {
        "fleet": "/",
        "session": session,
        "inbox": "/inbox",
        "finished": f"/sessions/{made.ids['dark']}",
        "failed": f"/sessions/{made.ids['django']}",
        "question": f"/sessions/{made.ids['release']}",
        "new": "/new",
        "search": "/search?q=timeout",
        "usage": "/usage",
        "settings": "/settings",
        "models": "/settings/models",
        "model": "/settings/models/new",
        "servers": "/settings/servers",
        "agents": "/settings/agents",
        "rules": "/settings/rules",
        "rule": "/settings/rules/new",
        "limits": "/settings/limits",
        "notify": "/settings/notify",
        "devices": "/settings/devices",
    }


def window(browser: Browser, served: Served, width: int, theme: str) -> Page:
    phone = width < 700
    context = browser.new_context(
        viewport={"width": width, "height": WIDTHS.get(width, 900)},
        color_scheme="dark" if theme == "dark" else "light",
        has_touch=phone,
        is_mobile=phone,
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    log_in(context, served.home)
    return context.new_page()


def shoot(
    served: Served,
    where: dict[str, str],
    folder: Path,
    widths: Sequence[int],
    themes: Sequence[str],
) -> None:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        for width in widths:
            for theme in themes:
                page = window(browser, served, width, theme)
                for name, path in where.items():
                    answer = page.goto(served.address + path)
                    if answer is None or not answer.ok:
                        print(f"{name}: {answer.status if answer else 'no answer'}")
                        continue
                    page.wait_for_timeout(400)  # what arrives by the stream
                    page.screenshot(path=str(folder / f"{name}-{theme}-{width}.png"))
                page.context.close()
        browser.close()


def draw_docs() -> None:
    """Everything in docs/pictures: of the page, of the phone, of the terminal."""
    with day() as (served, made), tempfile.TemporaryDirectory() as folder:
        known = screens(made)
        for name, (screen, theme, width) in OF_THE_PAGE.items():
            shoot(served, {screen: known[screen]}, Path(folder), [width], [theme])
            shutil.copy(Path(folder) / f"{screen}-{theme}-{width}.png", PICTURES / name)
    with day(ABOUT_TO_ASK) as (_, made):
        place = os.environ["HOME"]
        frames = two_asks(made, Path(place))
    moment = [frame.keys for frame in frames].index(2) - 1
    moving = animation(frames, SIZE, label=TWO_ASKS, keys=KEYS, still=moment)
    last_ask = [frame.keys for frame in frames].index(4) - 1
    still = animation([frames[last_ask]], SIZE, label=TERMINAL)
    for name, picture in (("two-asks.svg", moving), ("terminal.svg", still)):
        assert place not in picture, f"{name} names a directory of this machine"
        (PICTURES / name).write_text(picture, encoding="utf-8")
        print(f"{name}: {len(picture) // 1000} kB")


def main() -> None:
    given = argparse.ArgumentParser(
        prog="python -m tools.pictures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    given.add_argument("folder", type=Path, nargs="?")
    given.add_argument("screens", nargs="*", metavar="SCREEN")
    given.add_argument("--width", type=int, action="append")
    given.add_argument("--theme", choices=THEMES, action="append")
    wanted = given.parse_args()
    if wanted.folder is None:
        draw_docs()
        return
    wanted.folder.mkdir(parents=True, exist_ok=True)
    with day() as (served, made):
        known = screens(made)
        if unknown := [name for name in wanted.screens if name not in known]:
            given.error(f"no screen {', '.join(unknown)}; there are: {', '.join(known)}")
        chosen = {name: known[name] for name in wanted.screens or known}
        shoot(served, chosen, wanted.folder, wanted.width or list(WIDTHS), wanted.theme or THEMES)


if __name__ == "__main__":
    main()
