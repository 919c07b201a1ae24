"""Addresses that an agent asks the user to open: what is shown is what is opened."""

import pytest

from rookery.core.ask import Ask
from rookery.core.asks import asks, kept_asks, links
from rookery.core.asks.identity import digest
from rookery.core.blocks import asks as looks
from rookery.core.header import EMPTY, Header
from rookery.core.json import Draft, Event, Json
from rookery.core.policy import unattended
from rookery.core.view.doing import wants
from rookery.core.view.reduce import fold
from rookery.worker.asks import closings

URL = "https://auth.example.com/authorize?client_id=1&state=x"


def asked(url: object = URL, **more: object) -> Ask:
    params = {"mode": "url", "message": "Log in", "url": url, "elicitationId": "e1", **more}
    ask = asks.asked("a1", "n1", "elicitation/create", params)
    assert ask is not None
    return ask


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vscode://open"),
        *("JavaScript://%0aalert(1)", "//example.com/x", "example.com", "", None, 7),
        *("https://", "https:///x", "https://good.example\\@evil.example/", "https://a b.example"),
        *("https://exa\nmple.com", "https://example.com/\x1b[2J", "https://example.com\u2028/"),
        *("https://example.com:99999/", "https://-bad-.example/", "https://[::1", "https://a..b/"),
        "https://\uff0fevil.example/",
        "https://example.com/" + "x" * links.MAX_ADDRESS_LENGTH,
    ],
)
def test_what_is_no_plain_web_address_is_refused(address: object) -> None:
    with pytest.raises(links.BadLink):
        links.read(address)


@pytest.mark.parametrize(
    ("address", "url", "host"),
    [
        (URL, URL, "auth.example.com"),
        ("HTTPS://Auth.Example.COM:8443/P", "https://auth.example.com:8443/P", None),
        ("http://127.0.0.1:33418/cb?a=%2F", "http://127.0.0.1:33418/cb?a=%2F", "127.0.0.1:33418"),
        ("http://[::1]:80/x#y", "http://[::1]:80/x#y", "[::1]:80"),
        ("https://\u0430pple.com/", "https://xn--pple-43d.com/", "xn--pple-43d.com"),
        ("https://b\u00fccher.example/\u00e4?\u00f6=\u202e", None, "xn--bcher-kva.example"),
        ("https://user:pw@evil.example/", "https://user:pw@evil.example/", "evil.example"),
    ],
)
def test_an_address_becomes_ascii_before_it_is_shown(
    address: str, url: str | None, host: str | None
) -> None:
    link = links.read(address)
    assert link.url.isascii()
    assert link.url.isprintable()
    assert url is None or link.url == url
    assert host is None or link.host == host
    assert links.read(link.url).url == link.url


@pytest.mark.parametrize(
    ("address", "warning"),
    [
        ("https://bank.example@evil.example/", "You would go to evil.example."),
        ("https://\u0430pple.com/", "letters of other scripts"),
        ("https://xn--pple-43d.com/", "letters of other scripts"),
        ("https://good.example\u2044.evil.example", "letters of other scripts"),
        ("http://example.com/", "Not encrypted"),
    ],
)
def test_tricks_are_named(address: str, warning: str) -> None:
    [words] = links.read(address).warnings
    assert warning in words
    pieces = looks.pieces(looks.block_of(asked(address), EMPTY), "bird")
    assert any(warning in piece.text for piece in pieces if piece.look == "note")


def test_a_warning_shows_what_a_host_hides() -> None:
    [words] = links.read("https://ex\u202eample.com/").warnings
    assert "ex<202E>ample.com" in words


@pytest.mark.parametrize(
    "address", [URL, "http://localhost:1/x", "http://127.1.2.3/", "http://[::1]/"]
)
def test_a_plain_address_has_no_warning(address: str) -> None:
    assert links.read(address).warnings == ()


def test_the_card_says_where_it_leads_and_shows_the_whole_address() -> None:
    block = looks.block_of(asked(), EMPTY)
    assert looks.question(block, "bird") == "bird wants to send you to auth.example.com"
    texts = [piece.text for piece in looks.pieces(block, "bird", short=False)]
    assert texts == [URL, "bird's description: Log in"]
    assert looks.as_text(block) == URL
    assert wants(asked(), "/") == "wants to send you to auth.example.com"


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_an_answer_carries_no_content(action: str) -> None:
    command = {"id": "c", "nonce": "n1", "action": action, "content": {}}
    answer = asks.answered(asked(), command, "cli:1")
    assert isinstance(answer, asks.Answer)
    assert answer.reply == {"action": action}


def test_the_same_words_with_another_address_are_another_ask() -> None:
    """An answer that was kept for one of them must not be given to the other."""
    assert digest(asked()) == digest(asked())
    assert digest(asked()) != digest(asked(URL + "2"))


@pytest.mark.parametrize("approve", [unattended.ALL, unattended.RISKY, unattended.REJECT])
def test_nobody_but_a_person_accepts_it(approve: str) -> None:
    answer = unattended.answered(unattended.Order(approve, destructive=True), asked())
    assert answer.reply == {"action": "decline"}


def events(*updates: Json) -> list[Event]:
    begun = [{"sessionUpdate": "_turn", "state": "running", "turn": 1}]
    listed = enumerate([*begun, *updates], 1)
    return [Event(seq, seq, None, "cli:1", update) for seq, update in listed]


def shown(*updates: Json) -> str:
    from rookery.core.blocks import captions

    blocks = fold(None, events(asked().update, *updates)).blocks.values()
    [block] = [each for each in blocks if each["role"] == "ask"]
    return captions.outcome(block, "cli")


ACCEPTED = asks.closed("a1", {"action": "accept"}, name="opened it")
COMPLETED: Json = {"sessionUpdate": "_ask", "id": "a1", "state": "completed"}
IDLE: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": 1, "reason": "end_turn"}
GONE: Json = {"sessionUpdate": "_agent", "state": "exited"}


def test_what_becomes_of_a_link() -> None:
    declined = asks.closed("a1", {"action": "decline"}, name="declined it")
    assert shown(declined) == "You declined it"
    assert shown(ACCEPTED) == "You opened it · waiting for the browser"
    assert shown(ACCEPTED, COMPLETED) == "You opened it · done in the browser"
    assert shown(ACCEPTED, COMPLETED, IDLE) == "You opened it · done in the browser"
    assert shown(ACCEPTED, IDLE) == "You opened it"
    assert shown(ACCEPTED, GONE) == "You opened it"
    assert shown(asks.completed(asked()).draft.update) == "Done in the browser"


def test_a_completion_finds_its_ask_open_or_accepted_and_nothing_else() -> None:
    header = fold(None, events(asked().update)).header
    assert links.completed(header, "e1") == "a1"
    assert links.completed(header, "e2") == links.completed(header, "") == ""
    assert links.completed(fold(None, events(asked().update, ACCEPTED)).header, "e1") == "a1"
    assert (
        links.completed(fold(None, events(asked().update, ACCEPTED, COMPLETED)).header, "e1") == ""
    )


def test_a_header_of_an_earlier_build_has_no_links() -> None:
    header = Header({key: value for key, value in EMPTY.raw.items() if key != "_links"})
    document = fold(header, events(asked().update, ACCEPTED, COMPLETED))
    assert document.header.asks == {}


def test_a_draft_of_a_completion_has_no_author() -> None:
    draft = asks.completed(asked()).draft
    assert (draft.by, draft.cause) == (None, None)
    assert isinstance(draft, Draft)


def test_it_outlasts_the_turn_in_which_it_was_asked() -> None:
    """An agent logs in to its servers while it answers a prompt."""
    header = fold(None, events(asked().update, IDLE)).header
    assert kept_asks.live(header).keys() == {"a1"}
    assert closings(header, "end_turn", kept=True) == []
    assert len(closings(header, kept_asks.CANCELLED, kept=True)) == 1
    assert fold(None, events(asked().update, GONE)).header.asks["a1"]["away"]
    document = fold(None, events(asked().update, IDLE, GONE))
    assert document.header.asks == {}
    [block] = [each for each in document.blocks.values() if each["role"] == "ask"]
    assert (block["status"], block["text"], block["actions"]) == (
        "cancelled",
        "The agent ended",
        [],
    )
