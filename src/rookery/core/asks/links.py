"""Addresses that an agent asks the user to open, normalised so that what is shown is what is
opened.

An address is http or https. Before it is logged it becomes plain ASCII: a host in another script
turns into Punycode, other letters into percent escapes. Anything that a browser might read
differently from us (backslashes, blanks, control characters) is refused."""

import re
from typing import NamedTuple

from rookery.core.ask import ask_of, asks_of
from rookery.core.header import Header
from rookery.core.json import Json, lenient, safe_text

KIND = "link"
"""The kind of the block that shows such an ask."""
MAX_ADDRESS_LENGTH = 16_000
MAX_ACCEPTED_LINKS = 20
"""How many accepted links are remembered, so that their completion is shown."""
DONE = "done in the browser"
WAITING = "waiting for the browser"
OPEN, ELSEWHERE, DECLINE = "Open in the browser", "I opened it elsewhere", "Decline"
ANSWERED = {"accept": "opened it", "decline": "declined it", "cancel": "cancelled it"}
"""The user's answer, as a verb phrase."""
PLAIN = "Not encrypted (http): others can read and change what you send."

_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f-\xa0\\]|[^\S ]")
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
_IPV6 = re.compile(r"\[[0-9a-f:.]{2,45}\]")
_PLACE = re.compile(r"(\[[^\]]*\]|[^:\[\]]+)(?::([0-9]{0,5}))?")
_KEPT = "%/:?#[]@!$&'()*+,;=-._~"
"""Characters of an address that are not escaped."""


class BadLink(Exception):
    """An address may not be shown to the user; the message says why."""


class Link(NamedTuple):
    url: str
    host: str
    warnings: tuple[str, ...] = ()
    disguise: str = ""
    """How it may look like another site's; one of the warnings."""


def read(address: object) -> Link:
    """Return the address in the form in which it is shown and opened. Raises BadLink."""
    if not isinstance(address, str) or not address:
        raise BadLink("the address is missing")
    if len(address) > MAX_ADDRESS_LENGTH:
        raise BadLink(f"the address is longer than {MAX_ADDRESS_LENGTH:,} characters")
    if _AMBIGUOUS.search(address):
        raise BadLink("the address contains blanks, backslashes or control characters")
    scheme, _, rest = address.partition(":")
    if scheme.lower() not in ("http", "https") or not rest.startswith("//"):
        raise BadLink(f"only http and https addresses are opened, not {scheme[:40]!r}")
    place, rest = _split(rest.removeprefix("//"))
    user, at, place = place.rpartition("@")
    matched = _PLACE.fullmatch(place)
    port = matched[2] if matched else ""
    if not matched or (port and int(port) > 65_535):
        raise BadLink("the address has no valid host name")
    host = _host(matched[1])
    place = f"{host}:{port}" if port else host
    url = f"{scheme.lower()}://{_escaped(user)}{at}{place}{_escaped(rest)}"
    warnings = _disguises(user, host, matched[1])
    plain = scheme.lower() == "http" and not is_loopback(host)
    return Link(url, place, (*warnings, *([PLAIN] if plain else [])), " ".join(warnings))


def _split(text: str) -> tuple[str, str]:
    """Split an address before its path, query or fragment."""
    end = next((at for at, letter in enumerate(text) if letter in "/?#"), len(text))
    return text[:end], text[end:]


def _escaped(text: str) -> str:
    return re.sub(f"[^A-Za-z0-9{re.escape(_KEPT)}]", _percent, text)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "replace"))


def _host(name: str) -> str:
    """Return the host name in ASCII. Browsers apply compatibility mapping before they encode it."""
    if not name.isascii():
        from unicodedata import normalize

        labels = normalize("NFKC", name).replace("\u3002", ".").lower().split(".")
        name = ".".join(each if each.isascii() else _punycode(each) for each in labels)
    name = name.lower()
    if len(name) > 253 or not (_HOST.fullmatch(name) or _IPV6.fullmatch(name)):
        raise BadLink("the address has no valid host name")
    return name


def _punycode(label: str) -> str:
    try:
        return f"xn--{label.encode('punycode').decode()}"
    except UnicodeError:
        raise BadLink("the address has no valid host name") from None


def _disguises(user: str, host: str, given: str) -> list[str]:
    warnings = []
    if user:
        warnings.append(f"The part before the @ is not the site. You would go to {host}.")
    if any(label.startswith("xn--") for label in host.split(".")):
        warnings.append(
            f"The site's name has letters of other scripts, which may look like another: "
            f"{safe_text.clean_line(given)}"
            if not given.isascii()
            else "The site's name has letters of other scripts (xn--), and may imitate another."
        )
    return warnings


def host_of(address: str) -> str:
    """Return the host of an address, or of a host given alone."""
    return _known(address).host


def warnings_of(address: str) -> tuple[str, ...]:
    """Return the warnings to show before an address is opened."""
    return _known(address).warnings


def _known(address: str) -> Link:
    """Read an address that was accepted before, or a host alone."""
    try:
        return read(address)
    except BadLink:
        return Link(address, address)


def is_loopback(host: str) -> bool:
    return host in ("localhost", "[::1]") or host.endswith(".localhost") or _is_127(host)


def _is_127(host: str) -> bool:
    return re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


# --- asks ----------------------------------------------------------------------------------------


def fields(params: Json) -> Json:
    """Return the fields of the `_ask` for an elicitation with the mode `url`. Raises BadLink."""
    link = read(params.get("url"))
    name = lenient.text(params, "elicitationId")[:500]
    # An earlier build's client shows a form without fields, which is accepted or declined.
    ask: Json = {"kind": "question", "message": lenient.text(params, "message")}
    ask |= {"schema": {"type": "object", "properties": {}}}
    item: Json = {"what": KIND, "text": link.url, "call": "", "kind": KIND}
    return ask | {"url": link.url, "elicitation": name, "does": [item]}


def after_answer(header: Header, name: str, update: Json) -> Json:
    """Return the header's fields after a link was answered: an accepted one may still be completed,
    by the id that its agent gave it."""
    ask = ask_of(header, name)
    accepted = lenient.mapping(update, "outcome").get("action") == "accept"
    if not ask or not ask.elicitation or not accepted or update.get("completed") is True:
        return {}
    kept = dict(list(header.links.items())[-MAX_ACCEPTED_LINKS:])
    return {"_links": {**kept, ask.elicitation: {"ask": name, "block": ask.block}}}


def after_completion(header: Header, name: str) -> Json:
    kept = header.links.items()
    return {"_links": {key: link for key, link in kept if link["ask"] != name}}


def refused(agent: str, params: object, why: str) -> str:
    """Return the notice that an agent's address was not offered for opening."""
    address = safe_text.clean_line(safe_text.visible(lenient.text(params, "url")[:200]))
    named = f" It was: {address}" if address else ""
    return f"{agent or 'The agent'} asked you to open an address, which was refused: {why}.{named}"


def completed(header: Header, elicitation: str) -> str:
    """Return the ask, open or accepted, that an `elicitation/complete` is about, or ""."""
    if not elicitation:
        return ""
    for name, ask in asks_of(header).items():
        if ask.is_link and ask.elicitation == elicitation and not ask.away:
            return name
    return lenient.text(lenient.mapping(header.links, elicitation), "ask")
