"""The browser, which the user switches on (`agent.browser`): its requirements, and where its files
are. Its library takes seconds to import, so it is imported only for a conversation that has one."""

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
    """Return why the browser cannot be used, for the user; "" if it can. Blocks."""
    if importlib.util.find_spec(LIBRARY) is None:
        return NO_LIBRARY
    _keep_to_itself()
    module: Any = importlib.import_module("openhands.tools.browser_use.impl")
    return "" if module.BrowserToolExecutor.check_chromium_available() else NO_CHROMIUM


def _keep_to_itself() -> None:
    """Keep its library from reporting to its makers, downloading extensions, writing into the
    user's home and logging its work to stderr."""
    place = os.path.join(paths.home(), "sdk", "browser")
    for name, value in {**QUIET, "BROWSER_USE_CONFIG_DIR": place}.items():
        os.environ.setdefault(name, value)


def params(folder: str) -> dict[str, Any]:
    """Return the parameters for a conversation's folder, with which its profile is deleted."""
    return {"user_data_dir": os.path.join(folder, "browser")}
