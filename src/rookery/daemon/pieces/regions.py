"""What the session screen shows of a session's header, by the name of the region."""

from rookery.core.json import Json
from rookery.core.json.secrets import masked_json
from rookery.export.html.text import esc_line, tag


def regions(header: Json) -> dict[str, str]:
    header = masked_json(header)
    title = tag("h1", esc_line(str(header["title"] or "New session"), 200))
    place = tag("p", esc_line(str(header["cwd"]), 300), "place")
    return {"bar": tag("header", title + place, "bar")}
