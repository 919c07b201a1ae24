"""The kinds of sandboxes. Each is imported by the sessions that need it."""

from rookery.core.settings.sandbox import BWRAP, CONTAINER, KINDS, NONE
from rookery.sandbox.bwrap import Bwrap
from rookery.sandbox.container import Container
from rookery.sandbox.plan import Place, Sandbox, SandboxError, Wish


def prepare(wish: Wish, place: Place) -> Sandbox:
    """Make the sandbox of the kind that the settings name. Raises SandboxError."""
    if wish.kind == BWRAP:
        return Bwrap(wish, place)
    if wish.kind == CONTAINER:
        return Container(wish, place)
    if wish.kind != NONE:
        raise SandboxError(f"This build knows no sandbox {wish.kind!r}: {', '.join(KINDS)}.")
    return Sandbox(wish, place)
