"""The browser, which the user switches on (`agent.browser`): what it needs, and where it keeps its
files. Its library takes seconds to import, so it is imported where a conversation has one."""

import importlib
import importlib.util
import os
from typing import Any

from rookery.home import paths

LIBRARY = "browser_use"
NO_LIBRARY = "the Python package browser-use is missing: install it beside Rookery"
NO_CHROMIUM = (
    "there is no Chromium or Chrome: install one "
    "(sudo apt install chromium, brew install --cask chromium, or uvx playwright install chromium)"
)
QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "BROWSER_USE_DISABLE_EXTENSIONS": "true",
    "BROWSER_USE_SETUP_LOGGING": "false",
    "BROWSER_USE_VERSION_CHECK": "false",
}
LEFT_OUT = "Continuing without a browser"


def problem() -> str:
    """Why there can be none, for the user; "": there can. Blocks."""
    if importlib.util.find_spec(LIBRARY) is None:
        return NO_LIBRARY
    _keep_to_itself()
    module: Any = importlib.import_module("openhands.tools.browser_use.impl")
    return "" if module.BrowserToolExecutor.check_chromium_available() else NO_CHROMIUM


def _keep_to_itself() -> None:
    """Its library would report to its makers, download extensions, write into the user's home and
    say on stderr what it does."""
    place = os.path.join(paths.home(), "sdk", "browser")
    for name, value in {**QUIET, "BROWSER_USE_CONFIG_DIR": place}.items():
        os.environ.setdefault(name, value)


def params(folder: str) -> dict[str, Any]:
    """For a conversation that is kept in a folder: what it visits goes with that."""
    return {"user_data_dir": os.path.join(folder, "browser")}
