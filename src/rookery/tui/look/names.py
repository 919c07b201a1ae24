"""The style of each name that the drawer of blocks gives to a run (`render/lines`)."""

from rich.style import Style

from rookery.render.terminal import PLAIN, restyled
from rookery.tui.look.colours import legible, style_of
from rookery.tui.look.palette import Look

KEPT = 4_000
"""Styles at most: addresses and the colours of programs make new ones."""

OF_LOOK = (
    *("ink", "soft", "faint", "line", "accent", "needs", "heading", "code", "link", "key"),
    *("bold", "italic", "strike", "ground"),
)
"""Names of a look's own styles."""


class Named(dict[str, Style]):
    """The styles of one look, made when they are first used."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._known = {state: style for state, (_, style) in look.states.items()}
        self._known |= {f"token={kind}": style for kind, style in look.syntax.items()}
        self._known |= {name: getattr(look, name) for name in OF_LOOK}
        self._known |= {"output": look.soft, "underline": Style(underline=True)}
        self._known |= {"reverse": Style(reverse=True)}
        grounds = ("added", "added-word", "removed", "removed-word")
        self._known |= zip(grounds, look.grounds, strict=True)

    def __missing__(self, names: str) -> Style:
        if len(self) >= KEPT:
            self.clear()
        style = Style()
        for name in names.split():
            style += self._style_of(name)
        self[names] = style
        return style

    def _style_of(self, name: str) -> Style:
        if (known := self._known.get(name)) is not None:
            return known
        kind, _, value = name.partition("=")
        match kind:
            case "link":
                # It may be followed, so it has no character that ends the terminal's sequence.
                return Style(link=value, meta={"link": value})
            case "sgr":
                return legible(style_of(restyled(PLAIN, value)), self._look)
            case "colour":
                return Style(color=value)
            case "act":
                return Style.from_meta({"act": int(value)})
        return Style.from_meta({kind: value})
