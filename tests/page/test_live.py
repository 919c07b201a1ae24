"""The transcript under a stream, in a real browser: what moves, what loads, what is lost."""

import json
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from rookery.core.json import Json
from rookery.core.json.events import Draft
from rookery.home import paths
from rookery.log.lock import is_locked
from rookery.log.store import Writer
from tests.client.work_tree.trees import Tree
from tests.daemon.served import awaited, serve
from tests.export.sessions import chunk, prompt, session, turn
from tests.export.test_hostile_html import WORDS, everywhere
from tests.page.conftest import ASK, PATIENCE, PHONE, Site

SAME = """
async () => {
  ASK
  const bare = (node) => {
    const copy = node.cloneNode(true);
    for (const each of copy.querySelectorAll(".tools")) each.remove();
    for (const each of copy.querySelectorAll("*")) {
      for (const name of ["data-tick", "data-touched", "open"]) each.removeAttribute(name);
    }
    const units = [...copy.querySelectorAll(":scope > .block")];
    return units.map((each) => [each.id, each.innerHTML.replace(/\\s+/g, " ")]);
  };
  const text = await (await ask(location.pathname, { headers: { Accept: "text/html" } })).text();
  const there = new DOMParser().parseFromString(text, "text/html");
  const anew = bare(there.querySelector("#transcript"));
  const here = bare(document.querySelector("#transcript"));
  return anew.length > 0 && JSON.stringify(here.slice(-anew.length)) === JSON.stringify(anew);
}
""".replace("ASK", ASK)
"""Whether the end of the transcript is what the daemon would render now."""

expect.set_options(timeout=PATIENCE)
TOP = """
(id) => document.getElementById(id).getBoundingClientRect().top
  - document.querySelector("#scroll").getBoundingClientRect().top
"""
AT_END = """
() => {
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector("#scroll");
  return scrollHeight - scrollTop - clientHeight < 2;
}
"""

LEFT = """(() => {
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector("#scroll");
  return Math.floor(scrollHeight - scrollTop - clientHeight);
})()"""
"""Whole pixels to the end."""


STILL = """
() => new Promise((done) => {
  const scroller = document.querySelector("#scroll");
  const look = (before, times) => {
    const now = scroller.scrollTop;
    if (times > 20) done(true);
    else requestAnimationFrame(() => look(now, now === before ? times + 1 : 0));
  };
  look(-1, 0);
})
"""
"""The wheel's own motion is over."""


TO_END = """
() => {
  const scroller = document.querySelector("#scroll");
  scroller.scrollTop = scroller.scrollHeight;
  return !document.querySelector("#newer");
}
"""
"""Scrolls down until all that follows is loaded."""


def logged(site: Site, name: str, updates: Iterable[Json]) -> str:
    """A session that is a log, without a worker."""
    directory = Path(paths.session_dir(site.served.home, name))
    directory.mkdir(mode=0o700, parents=True)
    with Writer.open(str(directory), create=True) as log:
        log.append([Draft(each) for each in updates])
    return f"/sessions/{name}"


def play(*steps: Json) -> str:
    return json.dumps({"play": steps})


def said(page: Page, words: str) -> Locator:
    return page.locator("#transcript").get_by_text(words, exact=True)


def settled(page: Page) -> None:
    page.wait_for_function(SAME)


FENCE = "```python\nprint(1)\n```"
LONG = "\n\n".join(f"Paragraph {n} with *some* words and `code`.\n\n{FENCE}" for n in range(25))
TURNS: list[list[Json]] = [
    [{"thought": LONG}, {"text": f"{LONG}\n\nEnd {number}.", "chunks": 25}] for number in range(20)
]
"""Answers that are longer than the screen."""


@pytest.mark.parametrize("size", [0, 20_000], ids=["many", "large"])
def test_a_session_never_opens_empty_however_much_without_words_is_at_its_end(
    site: Site, size: int
) -> None:
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2, "_meta": {"x": "y" * size}}
    begin = [session(), prompt("Begin."), turn("running"), chunk("Done."), turn("idle")]
    page = site.page(logged(site, f"used{size}", [*begin, *[usage] * 150]))
    expect(said(page, "Done.")).to_be_in_viewport()
    expect(page.get_by_text("Nothing here yet")).to_have_count(0)


@pytest.mark.long
def test_it_follows_through_twenty_prompts_with_answers_longer_than_the_screen(site: Site) -> None:
    name = site.session({"turns": TURNS}, title="Follows")
    page = site.page(f"/sessions/{name}")
    for number in range(len(TURNS)):
        page.locator("#prompt").focus()
        page.keyboard.type("Go on, please.")
        page.keyboard.press("Enter")
        expect(said(page, f"End {number}.")).to_be_in_viewport()
        expect(page.locator("#bar .now")).not_to_contain_text("running")
        page.wait_for_function(f"() => {LEFT} === 0")


def test_only_the_reader_ends_the_following_and_sending_goes_back_to_the_end(site: Site) -> None:
    long = "\n\n".join(f"Paragraph {n} with *some* words in it." for n in range(60))
    name = site.session(title="Reads")
    site.say(name, play({"text": f"{long}\n\nFirst end."}))
    page = site.page(f"/sessions/{name}")
    expect(said(page, "First end.")).to_be_in_viewport()
    page.evaluate(
        "() => { document.querySelector('#scroll').scrollTop -= 300; }"
    )  # as a clamp does
    page.wait_for_function(STILL)
    site.say(name, play({"text": "Second end."}))
    expect(said(page, "Second end.")).to_be_in_viewport()

    page.locator("#scroll").focus()
    page.keyboard.press("PageUp")
    expect(said(page, "Second end.")).not_to_be_in_viewport()
    site.say(name, play({"text": f"{long}\n\nThird end."}))
    expect(page.locator("#below")).to_be_visible()
    expect(said(page, "Third end.")).not_to_be_in_viewport()

    page.locator("#prompt").focus()
    page.keyboard.insert_text(play({"text": "Fourth end."}))
    page.keyboard.press("Enter")
    expect(said(page, "Fourth end.")).to_be_in_viewport()
    page.wait_for_function(AT_END)


def test_a_stream_does_not_move_what_is_being_read(site: Site) -> None:
    long = "\n\n".join(f"Paragraph {n} with *some* words in it." for n in range(60))
    name = site.session(title="Streams")
    site.say(name, play({"text": f"{long}\n\nFirst end."}))
    page = site.page(f"/sessions/{name}")
    scroller, pill = page.locator("#scroll"), page.locator("#below")
    expect(said(page, "First end.")).to_be_in_viewport()

    site.say(name, play({"text": f"{long}\n\nSecond end.", "chunks": 40, "every": 0.005}))
    expect(said(page, "Second end.")).to_be_in_viewport()  # it follows
    expect(pill).to_be_hidden()

    scroller.hover()
    page.mouse.wheel(0, -700)
    expect(said(page, "Second end.")).not_to_be_in_viewport()
    anchor = page.evaluate("() => document.querySelector('#transcript > .block').id")
    page.wait_for_function(STILL)
    before = page.evaluate(TOP, anchor)
    reads = [{"tool": f"{n}.py", "kind": "read", "status": "completed"} for n in range(4)]
    command = {"command": "for n in 1 2 3 4 5 6; do printf '\\033[32mline %s\\033[0m\\n' $n; done"}
    site.say(
        name,
        play(
            {"thought": "Hm.\n\nI see.", "chunks": 4},
            *reads,
            {
                "text": f"- one\n- two\n\n```python\nx = 1\n```\n\n{long}",
                "chunks": 30,
                "every": 0.005,
            },
            command,
            {"text": "Third end."},
        ),
    )
    expect(said(page, "Third end.")).to_be_attached()
    expect(said(page, "Read 4 files")).to_be_attached()
    expect(page.locator(".lines .f-green").last).to_have_text("line 6")
    settled(page)
    assert abs(page.evaluate(TOP, anchor) - before) < 2
    expect(pill).to_be_visible()
    pill.click()
    expect(said(page, "Third end.")).to_be_in_viewport()
    expect(pill).to_be_hidden()
    page.wait_for_function(AT_END)


def test_a_reload_and_a_killed_daemon_in_mid_turn_lose_nothing(
    serving: Callable[..., Site],
) -> None:
    site = serving()
    site.expected = ("WebSocket", "ERR_CONNECTION", "Failed to load resource")
    name = site.session(title="Survives")
    work = Path(site.directory / "agent-1" / "work")

    def gate(number: int) -> Json:
        return {"command": f"until [ -e go{number} ]; do sleep 0.05; done; echo went {number}"}

    steps = ({"text": "Before."}, gate(1), {"text": "Between."}, gate(2), {"text": "Afterwards."})
    site.say(name, play(*steps))
    page = site.page(f"/sessions/{name}")
    expect(said(page, "Before.")).to_be_visible()
    page.reload()
    expect(said(page, "Before.")).to_be_visible()
    (work / "go1").touch()
    expect(said(page, "Between.")).to_be_visible()

    port = int(site.served.netloc.rpartition(":")[2])
    site.served.kill()
    (work / "go2").touch()
    expect(page.locator("#connection")).to_be_visible()
    site.served = serve(Path(site.served.home), port=port)
    expect(said(page, "Afterwards.")).to_be_visible()
    expect(page.locator("#connection")).to_be_hidden()
    settled(page)
    for words in ("Before.", "Between.", "Afterwards.", "went 1", "went 2"):
        expect(said(page, words)).to_have_count(1)


FIRST = "() => document.querySelector('#transcript > .block').id"


def load_all(page: Page) -> None:
    """Scroll to the very beginning."""
    while page.locator("#older").count():
        known = page.evaluate(FIRST)
        page.evaluate("() => { document.querySelector('#scroll').scrollTop = 0; }")
        page.wait_for_function(
            "(id) => document.querySelector('#transcript > .block').id !== id"
            " || !document.querySelector('#older')",
            arg=known,
        )


INERT = """
() => {
  const bad = ["SCRIPT", "STYLE", "IFRAME", "OBJECT", "EMBED", "LINK", "BASE"];
  const goes = ["href", "src", "action", "formaction"];
  return [...document.querySelectorAll("#bar *, #scroll *")].flatMap((node) => [
    ...(bad.includes(node.nodeName) ? [node.nodeName] : []),
    ...[...node.attributes].filter(({ name, value }) =>
      name.startsWith("on") || name === "style" ||
      (goes.includes(name) && !/^(\\/|#|https:\\/\\/example\\.org\\/)/.test(value))
    ).map(({ name, value }) => `${name}=${value}`),
  ]);
}
"""
"""What could run or load something, in all that was said."""


@pytest.mark.long
def test_hostile_words_are_inert_in_every_block(site: Site) -> None:
    updates = [each for words in WORDS for each in everywhere(words)]
    page = site.page(logged(site, "bad1", updates))
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    load_all(page)
    assert page.evaluate(INERT) == []
    page.evaluate(
        "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"
    )
    shown = page.locator("#transcript").inner_text()
    assert "<script>alert(1)</script>" in shown
    assert not set("\u202e\u202c\u2066\u2069\u200b\ufeff\x1b\x9b\x07") & set(shown)

    name = site.session(title="Live and hostile")
    page.goto(f"{site.served.address}/sessions/{name}")
    steps: list[Json] = []
    for number, words in enumerate(WORDS[:-1]):
        call = {"toolCallId": f"c{number}", "rawInput": {"command": words}}
        brought = [{"type": "content", "content": {"type": "text", "text": words}}]
        steps += [
            {"thought": words, "chunks": 3},
            {"text": f"{words}\n\n{words}", "chunks": 5},
            {"tool": words, "kind": "execute", "status": "completed", "content": brought, **call},
            {"plan": [words]},
        ]
    site.say(name, play(*steps, {"text": "\n\nThat was all."}))
    expect(said(page, "That was all.")).to_be_attached()
    settled(page)
    assert page.evaluate(INERT) == []


@pytest.mark.long
def test_older_turns_load_above_and_the_place_holds(site: Site) -> None:
    words = "\n\n".join(["Some words of an answer."] * 5)
    updates = [session()]
    for number in range(1, 121):
        updates += [prompt(f"Prompt {number}."), turn("running"), chunk(words)]
        updates += [turn("idle", reason="end_turn")]
    path = logged(site, "old1", updates)
    page = site.page(path)
    expect(said(page, "Prompt 120.")).to_be_in_viewport()
    first = page.evaluate("() => document.querySelector('#transcript > .block').id")
    page.evaluate("() => { document.querySelector('#scroll').scrollTop = 700; }")
    place = page.evaluate(TOP, first)
    page.locator("#older a").evaluate("(link) => link.click()")
    page.wait_for_function(
        "(id) => document.querySelector('#transcript > .block').id !== id", arg=first
    )
    assert abs(page.evaluate(TOP, first) - place) < 2
    load_all(page)
    expect(said(page, "Prompt 1.")).to_have_count(1)
    expect(page.locator("#older")).to_have_count(0)
    assert page.locator("#transcript > .block.prompt").count() == 120

    page.goto(f"{site.served.address}{path}?at=82")  # the place of a hit
    expect(page.locator(".block.marked")).to_be_in_viewport()
    expect(page.locator(".block.marked")).to_contain_text("Prompt 21.")
    marked = page.locator(".block.marked").get_attribute("id")
    expect(said(page, "Prompt 22.")).to_be_attached()  # what follows is in reach: it is loaded
    expect(page.locator(".block.marked")).to_be_in_viewport()
    page.wait_for_function(TO_END)
    expect(said(page, "Prompt 120.")).to_be_in_viewport()
    numbers = page.locator("#transcript > .block.prompt").all_inner_texts()
    assert numbers[-100:] == [f"Prompt {number}." for number in range(21, 121)]
    assert page.locator(".block.marked").get_attribute("id") == marked

    plain = site.page(f"{path}?at=82", java_script_enabled=False)
    plain.get_by_text("Jump to the end").click()
    expect(said(plain, "Prompt 120.")).to_be_visible()
    plain.get_by_text("Earlier").click()
    expect(said(plain, "Prompt 99.")).to_be_attached()


@pytest.mark.long
def test_a_notice_offers_the_action_that_helps(site: Site) -> None:
    turns = [[{"text": "Working."}, {"crash": 3}], [{"text": "Back again."}]]
    name = site.session({"turns": turns}, title="Crashes")
    site.say(name, "go")
    page = site.page(f"/sessions/{name}")
    page.locator("#transcript").get_by_role("button", name="Restart the agent").click()
    site.say(name, "go on")
    expect(said(page, "Back again.")).to_be_visible()
    settled(page)


@pytest.mark.long
def test_a_button_restarts_a_session_whose_worker_was_killed(site: Site) -> None:
    turns = [[{"text": "Working."}, {"until": "cancel"}], [{"text": "Back again."}]]
    name = site.session({"turns": turns}, title="Killed")
    site.say(name, "go")
    page = site.page(f"/sessions/{name}")
    expect(said(page, "Working.")).to_be_visible()
    record = paths.read_json(str(Path(paths.session_dir(site.served.home, name), paths.WORKER)))
    os.kill((record or {})["pid"], signal.SIGKILL)
    page.locator("#transcript").get_by_role("button", name="Restart the agent").click()
    awaited(lambda: is_locked(paths.session_dir(site.served.home, name)))
    settled(page)


@pytest.mark.long
def test_a_long_output_is_bounded_and_followed(site: Site) -> None:
    name = site.session(title="Prints")
    page = site.page(f"/sessions/{name}")
    site.say(name, play({"command": "seq 1 30000"}, {"text": "Printed."}))
    expect(said(page, "Printed.")).to_be_attached()
    settled(page)
    assert page.locator("#transcript .lines > span").count() <= 2_000
    expect(page.locator("#transcript .lines > span").last).to_have_text("30000")


@pytest.mark.long
def test_a_turn_of_many_quiet_calls_keeps_the_page_small(site: Site) -> None:
    """What was folded and went comes back with Earlier. Who opens the page in the middle of a long
    run sees it go on."""
    name = site.session(title="Reads a lot")
    page = site.page(f"/sessions/{name}")
    read = {"tool": "Read a.py", "kind": "read", "status": "completed"}
    many = {"repeat": 3_000, "steps": [read]}
    held = {"tool": "make all", "kind": "execute", "command": "sleep 1", "status": "completed"}
    site.say(name, play(many, {"text": "Half."}, many, {"text": "All."}, held))
    expect(said(page, "All.")).to_be_visible()
    assert page.locator("#transcript .block").count() <= 1_600
    first = page.locator("#transcript > .block").first
    expect(first).to_contain_text("Read 100 files")
    known = first.get_attribute("id")
    page.locator("#older a").click()
    expect(first).not_to_have_id(known or "")
    row = page.locator("#transcript > .row").first
    row.locator("summary").first.click()
    expect(row.get_by_text("Read a.py").first).to_be_visible()


def test_deleting_an_open_session_keeps_what_was_typed(site: Site) -> None:
    """What is shown and what was typed stays; nothing more can be sent."""
    session = site.session({"turns": [[{"text": "Here I was."}]]}, title="Short life")
    site.say(session, "Hello")
    page = site.page(f"/sessions/{session}")
    expect(said(page, "Here I was.")).to_be_visible()
    field = page.get_by_label("Prompt", exact=True)
    field.fill("half a prompt")
    assert site.served.ask("DELETE", f"/api/sessions/{session}").status == 200
    expect(page.get_by_role("alert")).to_contain_text("The session was deleted.")
    expect(page.locator("#bar .now")).to_be_hidden()
    field.press("Enter")
    expect(field).to_have_value("half a prompt")
    expect(said(page, "Here I was.")).to_be_visible()
    page.get_by_role("button", name="All sessions").click()
    expect(page.locator("#list")).to_be_visible()


@pytest.mark.long
def test_a_loading_panel_covers_a_phone_and_can_be_closed(site: Site) -> None:
    session = site.session()
    page = site.page(f"/sessions/{session}", viewport=PHONE, has_touch=True)
    page.route("**/changes?*", lambda route: None)
    page.route("**/changes", lambda route: None)
    page.locator("#bar [data-do=changes]").click()
    side = page.locator("#side")
    expect(side).to_contain_text("Loading…")
    box = side.bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 390)
    side.get_by_role("button", name="Close").click()
    expect(side).to_be_hidden()


def test_others_in_the_directory_are_a_chip_that_moves_the_session(
    site: Site, tmp_path: Path
) -> None:
    tree = Tree(tmp_path / "shared", a__txt="one\n")
    script = {"turns": [[{"text": "at work"}, {"until": "cancel"}]]}
    first, second = (site.session(script, cwd=str(tree.place)) for _ in range(2))
    site.say(first, "go")
    page = site.page(f"/sessions/{first}")
    chip = page.locator("#bar .others")
    expect(page.locator("#bar .now")).to_contain_text("running")
    expect(chip).to_be_hidden()
    site.say(second, "go")
    expect(chip).to_have_text("1 other here")
    chip.click()
    page.get_by_role("button", name="Cancel the turn and move").click()
    expect(page.locator("#bar .chips")).to_contain_text(f"rookery/{first}")
    expect(chip).to_have_count(0)
