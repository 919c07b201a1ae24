"""The kind `container`."""

from rookery.sandbox.plan import Place, Sandbox, SandboxError, Wish


class Container(Sandbox):
    def __init__(self, wish: Wish, place: Place) -> None:
        super().__init__(wish, place)
        raise SandboxError("This build has no sandbox of the kind container. Use bwrap.")
