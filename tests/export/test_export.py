"""A session as Markdown, JSON lines and one HTML page."""

import json
import re
import tracemalloc
from io import BytesIO
from pathlib import Path

import pytest

from rookery import export
from rookery.core.json.events import Json
from rookery.core.json.redact import redact, redact_pieces
from rookery.core.json.secrets import MASK
from rookery.export.files import Exists, form_of, to_file, to_new_file
from rookery.export.html import markdown
from rookery.log.errors import LogError
from tests.export import samples
from tests.export.sessions import chunk, home_of, prompt, said, session, tool, turn

SECRETS = {
    "sk-ant-api03-abcdefghijklmnopqrstuvwx": "an API key",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789": "a token of GitHub",
    "AKIAIOSFODNN7EXAMPLE": "a key of AWS",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv": "a key of Google",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN": "a JSON web token",
    "xoxb-123456789012-abcdefghijkl": "a token of Slack",
}
IN_PLACE = {
    "https://user:hunter2222@example.org/x": "hunter2222",
    "Authorization: Bearer abcdef0123456789": "abcdef0123456789",
    "curl -H 'authorization: Basic dXNlcjpwYXNzd29yZA=='": "dXNlcjpwYXNzd29yZA==",
    "export OPENAI_API_KEY=abcdef0123": "abcdef0123",
    '{"client_secret": "abcdefghij"}': "abcdefghij",
    "https://example.org/?access_token=abcdefghijklmn&x=1": "abcdefghijklmn",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE-x\n-----END RSA PRIVATE KEY-----": "MIIE-x",
    "\x1b[31mghp_\x1b[0mabcdefghijklmnopqrstuvwxyz012345": "abcdefghijklmnopqrstuvwxyz",
}


def exported(home: str, form: str, turns: export.Turns | None = None) -> str:
    return b"".join(export.pieces(home, "a1b2c3", form, turns or export.Turns())).decode()


# --- secrets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_of_known_shapes_are_masked(secret: str) -> None:
    assert redact(f"it is {secret}.") in (f"it is {MASK}.", f"it is {MASK}")
    for cut in range(1, len(secret)):
        shown = "".join(redact_pieces(["it is ", secret[:cut], secret[cut:], " it"]))
        assert shown == f"it is {MASK} it"


@pytest.mark.parametrize(("text", "secret"), IN_PLACE.items())
def test_secrets_are_masked_by_where_they_stand(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert MASK in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "a risk-based-approach-of-some-length",
        "SECRET_KEY = os.environ['SECRET_KEY']",
        "https://${USER}:${PASSWORD}@example.org",
        "https://example.org:8080/path@v1",
        "MAX_TOKENS=100000",
        "the bearer of this letter",
        "skill_of_reading",
    ],
)
def test_text_that_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def leaky(secret: str) -> list[Json]:
    diff = {"type": "diff", "path": ".env", "oldText": "a\n", "newText": f"KEY = {secret}\n"}
    half = len(secret) // 2
    return [
        session(title=f"Use {secret}"),
        prompt(f"My key is {secret}."),
        turn("running"),
        chunk(f"I saw {secret[:half]}"),
        chunk(f"{secret[half:]} there.") | {"_meta": {secret: secret}},
        chunk(secret, "thought"),
        tool("e", "Edit .env", "edit", content=[diff]),
        tool(
            "x", "env", "execute", rawInput={"command": f"KEY={secret} env"}, content=said(secret)
        ),
        tool("o", "Call", "other", rawInput={"deep": [{"key": secret}]}, rawOutput=secret),
        {"sessionUpdate": "_terminal", "id": "t", "state": "started", "command": "env"},
        {"sessionUpdate": "_terminal", "id": "t", "state": "output", "text": secret[:half]},
        {"sessionUpdate": "_terminal", "id": "t", "state": "output", "text": secret[half:] + "\n"},
        {"sessionUpdate": "_notice", "level": "warn", "text": f"{secret} is wrong"},
        {"sessionUpdate": "unknown_kind", secret: secret},
    ]


@pytest.mark.parametrize("form", export.FORMATS)
@pytest.mark.parametrize("secret", SECRETS)
def test_no_format_reveals_a_secret(form: str, secret: str, tmp_path: Path) -> None:
    text = exported(home_of(tmp_path, *leaky(secret)), form)
    assert secret not in text
    assert secret[len(secret) // 2 :] not in text, "not even half of it"
    assert text.count(json.dumps(MASK)[1:-1] if form == "jsonl" else MASK) >= 8


# --- formats -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["md", "html"])
def test_everything_that_was_said_is_exported(form: str, tmp_path: Path) -> None:
    text = exported(home_of(tmp_path, *samples.updates()), form)
    plain = re.sub(r"<[^>]+>", "", text)
    for words in (
        "Fix flaky login test",
        "test_login fails about once in ten runs.",
        "The failure depends on load.",
        "Run the whole suite ten times",
        "The client asks for a token",
        "session.wait_until_ready()",
        "31 passed",
        "The disk is nearly full",
        "Context compacted",
        "The agent returned an error",
        "pytest -x tests/test_login.py --count 50",
    ):
        assert words in plain, words


def test_json_lines_are_the_events(tmp_path: Path) -> None:
    given = samples.updates()
    lines = exported(home_of(tmp_path, *given), "jsonl").splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["seq"] for event in events] == list(range(1, len(given) + 1))
    assert [event["update"] for event in events] == given


def test_selected_turns_can_be_exported(tmp_path: Path) -> None:
    turns = [each for n in range(1, 6) for each in (prompt(f"question {n}"), chunk(f"answer {n}"))]
    home = home_of(tmp_path, session(), *turns)
    for form in export.FORMATS:
        text = exported(home, form, export.Turns(2, 3))
        assert [n for n in range(1, 6) if f"answer {n}" in text] == [2, 3]
        assert "answer 5" in exported(home, form, export.Turns(5))


def test_an_exported_turn_shows_calls_that_a_later_turn_ended(tmp_path: Path) -> None:
    shell = {"sessionUpdate": "_terminal", "id": "t"}
    home = home_of(
        tmp_path,
        session(),
        prompt("start it"),
        {**shell, "state": "started", "command": "serve", "text": "one\n"},
        prompt("go on"),
        {**shell, "state": "output", "text": "two\n"},
        {**shell, "state": "ended", "exitCode": 3},
    )
    for form in ("md", "html"):
        assert "two" in exported(home, form)
    assert "exit 3" in exported(home, "html")


def test_an_export_keeps_one_turn_in_memory(tmp_path: Path) -> None:
    """Thirty turns and five times as many take the same memory, in each format."""
    words = "All work and no play makes a long transcript. " * 200

    def peak(turns: int, form: str, place: Path) -> int:
        asked = [prompt(f"go on {n}") for n in range(turns)]
        home = home_of(place, session(), *(each for p in asked for each in (p, chunk(words))))
        tracemalloc.start()
        try:
            size = sum(map(len, export.pieces(home, "a1b2c3", form)))
            assert size > turns * len(words)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    for form in export.FORMATS:
        peak(3, form, tmp_path / f"{form}-first")  # what is loaded once
        few, many = (peak(n, form, tmp_path / f"{form}{n}") for n in (30, 150))
        assert many < few + 600_000, form


def test_an_export_is_the_same_each_time(tmp_path: Path) -> None:
    home = home_of(tmp_path, *samples.updates())
    for form in export.FORMATS:
        out = BytesIO()
        export.write(home, "a1b2c3", form, out)
        assert out.getvalue() == exported(home, form).encode()


def test_images_are_embedded(tmp_path: Path) -> None:
    from rookery.log.store import Writer

    home = home_of(tmp_path, session(id="other"), session="other")
    with Writer.open(f"{home}/sessions/other") as log:
        name = log.put_blob(samples.IMAGE)
    home = home_of(tmp_path, *samples.updates(name), blobs=[samples.IMAGE])
    assert '<img src="data:image/png;base64,' in exported(home, "html")


# --- files -------------------------------------------------------------------------------------


def test_an_export_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    home = home_of(tmp_path, *samples.updates())
    place = tmp_path / "out"
    place.mkdir()
    path = str(place / "a.html")
    to_file(home, "a1b2c3", "html", path)
    assert Path(path).stat().st_mode & 0o777 == 0o600
    with pytest.raises(Exists):
        to_file(home, "a1b2c3", "md", path)
    assert Path(path).read_text().startswith("<!doctype html>")
    to_file(home, "a1b2c3", "md", path, force=True)
    assert Path(path).read_text().startswith("# Fix flaky login test")
    with pytest.raises(LogError):
        to_file(home, "no-such", "md", str(place / "b.md"))
    (place / "link.md").symlink_to(place / "elsewhere.md")
    with pytest.raises(Exists):
        to_file(home, "a1b2c3", "md", str(place / "link.md"))
    assert sorted(each.name for each in place.iterdir()) == ["a.html", "link.md"]


@pytest.mark.parametrize(
    ("text", "tags"),
    [("# A\n\n## B", ["h3", "h4"]), ("### A\n\n#### B\n\n# C", ["h3", "h4", "h3"])],
)
def test_the_first_heading_of_a_text_is_one_level_below_the_pages_own(
    text: str, tags: list[str]
) -> None:
    assert re.findall(r"<(h\d)", markdown.rendered(text)) == tags


def test_export_files_are_named_after_the_session(tmp_path: Path) -> None:
    home = home_of(tmp_path, session(title="../../etc/Über <b>: “x”\n"), prompt("hello"))
    written = to_new_file(home, "a1b2c3", "", str(tmp_path))
    assert written == str(tmp_path / "etc-über-b-x.md")
    assert to_new_file(home, "a1b2c3", "page.HTML", str(tmp_path)).endswith("/page.HTML")
    assert (tmp_path / "page.HTML").read_text().startswith("<!doctype html>")
    assert [form_of(name) for name in ("a.jsonl", "a.htm", "a.txt", "a")] == [
        "jsonl",
        "html",
        "",
        "",
    ]
