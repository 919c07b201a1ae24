"""Default names for devices: browsers are named from their request headers."""

import re
from collections.abc import Mapping

from rookery.core.json.senders import clean_name

BROWSER = "Mozilla/"
"""So begins what every browser says of itself; builds before this one took it for the name."""
PRODUCTS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "Vivaldi": "Vivaldi",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chromium": "Chromium",
    "HeadlessChrome": "Chromium",
    "Chrome": "Chrome",
    "Safari": "Safari",
}
"""The first that is there: browsers also name those that they are like."""
SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "CrOS": "ChromeOS",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "Linux": "Linux",
}
BRAND = re.compile(r'"([^"]{1,40})";v=')
OWN_NAMES = {"Google Chrome": "Chrome", "Microsoft Edge": "Edge"}


def readable(agent: str) -> str:
    """Return a readable name such as `Firefox on Linux`; the name of anything but a browser is only
    cleaned."""
    if not agent.startswith(BROWSER):
        return clean_name(agent)
    product = next((name for word, name in PRODUCTS.items() if f"{word}/" in agent), "Browser")
    system = next((name for word, name in SYSTEMS.items() if word in agent), "")
    return f"{product} on {system}" if system else product


def of_browser(headers: Mapping[str, str]) -> str:
    """Return a name for the browser that sent a login request. Chromium-based browsers give their
    brand in a header other than User-Agent."""
    name = readable(headers.get("user-agent", "")[:1000])
    brands = [
        each for each in BRAND.findall(headers.get("sec-ch-ua", "")[:1000]) if "Brand" not in each
    ]
    if not brands:
        return name
    brand = next((each for each in brands if each != "Chromium"), brands[0])
    _, on, system = name.partition(" on ")
    return clean_name(OWN_NAMES.get(brand, brand) + on + system)
