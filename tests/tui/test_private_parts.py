"""Private parts of Textual that `tui/system` uses: none has a public name, and all are there."""

from collections.abc import Iterator

import pytest
from textual import app, constants, dom, driver, screen, widget
from textual.drivers import _writer_thread, linux_driver
from textual.widgets import TextArea

NO_PUBLIC_NAME: dict[object, str] = {
    app.App: "keymap driver batch_count",
    dom.DOMNode: "bindings merged_bindings",
    widget.Widget: "check_refresh set_dirty layout_required scroll_required",
    screen.Screen: "compositor layout_required update_timer",
    TextArea: "refresh_size",
    driver.Driver: "parser parser_class",
    _writer_thread.WriterThread: "queue is_idle",
    constants: "ANSI_SEQUENCES_KEYS",
}
"""If one is there, use it instead of the name with an underscore."""

OVERRIDDEN = {
    widget.Widget: "_check_refresh _set_dirty _scroll_to",
    TextArea: "_refresh_size",
    linux_driver: "XTermParser",
}
"""If one is gone, ours is never called."""


def pairs(table: dict[object, str]) -> Iterator[tuple[object, str]]:
    return ((owner, name) for owner, names in table.items() for name in names.split())


@pytest.mark.parametrize(("owner", "name"), list(pairs(NO_PUBLIC_NAME)))
def test_each_use_is_still_needed(owner: object, name: str) -> None:
    assert not hasattr(owner, name), f"{name} is public now: use it"


@pytest.mark.parametrize(("owner", "name"), list(pairs({**OVERRIDDEN})))
def test_what_we_override_is_there(owner: object, name: str) -> None:
    assert hasattr(owner, name), f"Textual does not call {name} any more"
