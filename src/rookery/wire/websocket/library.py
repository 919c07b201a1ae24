"""Finding and loading the library `websockets`, which is slow to import: only for an address.

A worker starts without site-packages, so its starter hands over the folder, and only an address
puts that on the search path, at the end: nothing there hides another module."""

import sys
from importlib.machinery import PathFinder
from os.path import dirname
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rookery.wire.websocket import protocol

OPTION = "websockets"


def option() -> list[str]:
    """Return the arguments that tell a Python without site-packages where the library is."""
    spec = PathFinder.find_spec("websockets")
    return ["-X", f"{OPTION}={dirname(dirname(spec.origin))}"] if spec and spec.origin else []


def load() -> "type[protocol.Client]":
    """Return the protocol's client side. Raises ImportError."""
    folder = sys._xoptions.get(OPTION)
    if isinstance(folder, str) and folder not in sys.path:
        sys.path.append(folder)
    from rookery.wire.websocket.protocol import Client

    return Client
