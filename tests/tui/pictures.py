"""Pictures of the program, kept as files that were looked at: both sizes and two themes in one
run."""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.pilot import Pilot

from tests.tui.still import Still

SMALL, LARGE = (80, 24), (160, 50)
SIZES = (SMALL, LARGE)
THEMES = ("dark", "light")

type Act = Callable[[Pilot[str]], Awaitable[None]]


class Svg(SingleFileSnapshotExtension):
    """Each picture is a file that a browser shows."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT


def keys(*pressed: str) -> Act:
    """What one does with keys alone."""

    async def act(pilot: Pilot[str]) -> None:
        for key in pressed:
            await pilot.press(key)
            await pilot.pause()

    return act


async def compare(
    app: Still,
    kept: SnapshotAssertion,
    place: Path,
    act: Act | None = None,
    *,
    sizes: Iterable[tuple[int, int]] = SIZES,
    themes: Iterable[str] = THEMES,
    toasts: bool = False,
) -> None:
    """Hold the program to its kept pictures; those that changed are put into `place`."""
    kept = kept.use_extension(Svg)
    changed = []
    first, *_ = sizes
    async with app.run_test(size=first, notifications=toasts) as pilot:
        await pilot.pause()
        if act:
            await act(pilot)
            await pilot.pause()
        for size in sizes:
            if size != first:
                await pilot.resize_terminal(*size)
            for theme in themes:
                app.theme = f"rookery-{theme}"
                app.transcript.settle()
                await pilot.pause()
                name = f"{size[0]}x{size[1]}-{theme}"
                picture = app.export_screenshot(simplify=True)
                if kept(name=name) != picture:
                    changed.append(place / f"{name}.svg")
                    changed[-1].write_text(picture, encoding="utf-8")
    assert not changed, f"it looks different, see {', '.join(map(str, changed))}"
