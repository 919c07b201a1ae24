"""A new session from the page."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from rookery.agents import registry
from rookery.client.create import create_session
from tests.client.test_import import elsewhere, play
from tests.client.work_tree.trees import WHO, Tree
from tests.daemon.served import Served
from tests.npm_registry import serving as npm_packages
from tests.page.conftest import ASK, PATIENCE, PHONE, Site
from tests.page.test_access import complaints
from tests.rigs.player import player

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}


def test_a_prompt_and_enter_start_a_session_that_streams(site: Site) -> None:
    site.expected = ("409",)
    page = site.page("/new")
    prompt = page.get_by_label("First prompt")
    expect(prompt).to_be_focused()
    place = page.get_by_label("Directory")
    place.fill(str(site.directory / "no"))
    prompt.fill('{"play": [{"text": "It works.", "chunks": 3, "every": 0.05}]}')
    prompt.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is not a directory")
    expect(prompt).to_have_value('{"play": [{"text": "It works.", "chunks": 3, "every": 0.05}]}')
    (site.directory / "north").mkdir()
    place.fill(str(site.directory / "nor"))
    page.get_by_role("option", name="north").click(timeout=PATIENCE)
    expect(place).to_have_value(f"{site.directory}/north/")
    page.get_by_label("Agent", exact=True).select_option("demo")
    page.get_by_label("Approvals").select_option("risky")
    expect(page.get_by_text("Its models will be listed here after its first run.")).to_be_visible()
    prompt.press("Enter")
    page.wait_for_url("**/sessions/*")
    read = "(await ask('/api' + location.pathname + '/header')).json()"
    assert "'confirm': 'risky'" in str(page.evaluate(f"async () => {{ {ASK} return {read}; }}"))
    expect(page.locator("#transcript .answer").last).to_contain_text("It works.")
    expect(page.locator("#bar")).to_contain_text("idle")
    again = site.page("/new")
    expect(again.get_by_label("Directory")).to_have_value(str(site.directory / "north"))
    expect(again.get_by_label("Agent", exact=True)).to_have_value("demo")


def test_the_form_works_without_scripts(served: Served) -> None:
    given = {"cwd": "/tmp/<b>no", "agent": "demo", "prompt": "<script>x</script>"}
    answer = served.ask("POST", "/new", urlencode(given).encode(), **FORM)
    assert answer.status == 409
    assert b"is not a directory" in answer.body
    assert b"&lt;script&gt;x&lt;/script&gt;" in answer.body
    assert b"<script>x" not in answer.body
    good = urlencode({"cwd": "/tmp", "agent": "demo", "confirm": "plan"}).encode()
    made = served.ask("POST", "/new", good, **FORM)
    assert made.status == 303
    assert made.headers["location"].startswith("/sessions/")
    header = served.ask("GET", f"/api{made.headers['location']}/header").body
    assert b'"wanted":{"mode":"plan"}' in header.replace(b" ", b"")
    foreign = served.ask("POST", "/new", good, Origin="https://evil.example", **FORM)
    assert foreign.status == 403


def test_an_agent_that_cannot_start_is_not_preselected(served: Served) -> None:
    create_session(served.home, agent=registry.OWN, argv=[], cwd=tempfile.gettempdir())
    form = served.ask("GET", "/new", Accept="text/html").body.decode()
    assert "(needs: rookery setup)" in form, "it has no model"
    assert f'<option value="{registry.DEMO}" selected>' in form
    asked = served.ask("GET", f"/new?agent={registry.OWN}", Accept="text/html").body.decode()
    assert f'<option value="{registry.OWN}" selected>' in asked


def test_directories_are_completed(served: Served, site: Site) -> None:
    for name in ("shop", "Shed", ".hidden", "other"):
        (site.directory / name).mkdir()
    (site.directory / "ship.txt").touch()

    def found(prefix: str) -> list[str]:
        query = urlencode({"prefix": prefix})
        answer = served.ask("GET", f"/api/directories?{query}")
        assert answer.status == 200, answer.body
        return [str(each) for each in answer.json()["directories"]]

    place = str(site.directory)
    assert found(f"{place}/sh") == [f"{place}/shop/", f"{place}/Shed/"]
    assert found(f"{place}/.h") == [f"{place}/.hidden/"]
    assert f"{place}/.hidden/" not in found(f"{place}/")
    assert found("relative") == found("~nobody/") == found(f"{place}/\0") == []
    assert served.ask("GET", "/api/directories", token="").status == 401


@pytest.mark.long
def test_nothing_is_wider_than_a_phones_screen(site: Site) -> None:
    page = site.page("/new", viewport=PHONE, has_touch=True, is_mobile=True)
    page.get_by_text("More agents").tap()
    page.get_by_text("More: effort").tap()
    page.get_by_label("Where it works").select_option("own")
    expect(page.get_by_label("Starts from")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def configured(site: Site, **agents: list[str]) -> None:
    lines = (f"[agents.{name}]\ncommand = {json.dumps(argv)}\n" for name, argv in agents.items())
    Path(site.served.home, "config.toml").write_text("".join(lines))


OPTIONS = [
    {
        "id": name,
        "name": name,
        "category": category,
        "type": "select",
        "currentValue": values[0],
        "options": [{"value": value, "name": value.upper()} for value in values],
    }
    for name, category, values in (
        ("model", "model", ["large", "small<b>"]),
        ("effort", "thought_level", ["low", "high"]),
        ("mode", "mode", ["code", "ask"]),
    )
]


@pytest.mark.long
def test_model_effort_mode_files_and_branch_are_chosen_at_the_start(
    serving: Callable[..., Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    site = serving()
    script = tmp_path / "finch.json"
    script.write_text(json.dumps({"agent": {"name": "finch", "configOptions": OPTIONS}}))
    configured(site, finch=player(str(script)))
    tree = Tree(tmp_path / "tree", src__main__py="one\n")
    tree.git("branch", "older")
    tree.put({"src.main.py": "two\n"})
    tree.save()
    given = {"agent": "finch", "cwd": tree.cwd, "prompt": "hello"}
    first = site.served.ask("POST", "/api/sessions", given).json()["id"]
    page = site.page(f"/sessions/{first}")
    expect(page.locator("#bar")).to_contain_text("idle")

    page.goto(f"{site.served.address}/new")
    expect(page.get_by_label("Agent", exact=True)).to_have_value("finch")
    page.get_by_label("Model", exact=True).select_option(label="SMALL<B>")
    page.get_by_label("Where it works").select_option("own")
    page.get_by_label("Branch name").fill("Log in")
    expect(page.locator("#new-branches option[value=older]")).to_have_count(1)
    page.get_by_label("Starts from").fill("older")
    page.get_by_text("More: effort").click()
    page.get_by_label("Effort").select_option("high")
    page.get_by_label("Mode", exact=True).select_option("ask")
    page.locator("#picker").set_input_files({"name": "notes.txt", "mimeType": "", "buffer": b"n\n"})
    expect(page.locator(".attached")).to_contain_text("notes.txt")
    prompt = page.get_by_label("First prompt")
    prompt.fill("Look at @smain")
    page.get_by_role("option", name="src.main.py").click()
    expect(prompt).to_have_value("Look at @src.main.py ")
    assert complaints(page) == []
    prompt.press("Enter")
    page.wait_for_url("**/sessions/*")
    expect(page.locator("#bar")).to_contain_text("idle")
    session = page.url.rpartition("/")[2]
    header = site.served.ask("GET", f"/api/sessions/{session}/header").json()["header"]
    assert [header[key] for key in ("model", "effort", "mode")] == ["small<b>", "high", "ask"]
    assert header.worktree["branch"] == "rookery/Log-in"
    assert Path(header.cwd, "src.main.py").read_text() == "one\n"
    events = site.served.ask("GET", f"/api/sessions/{session}/events").body.decode()
    assert f"file://{header.cwd}/src.main.py" in events
    assert "attachment:notes.txt" in events


@pytest.mark.long
def test_an_agent_is_installed_where_it_is_missing(
    serving: Callable[..., Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with npm_packages(monkeypatch, tmp_path):
        site = serving()
        page = site.page("/new")
        page.get_by_text("More agents to install").click()
        row = page.locator(".installs li", has=page.locator('[data-agent="claude"]'))
        row.get_by_role("button", name="Install…").click()
        expect(row.locator(".said")).to_contain_text("npm install")
        assert not Path(site.served.home, "agents").exists(), "it asks first"
        assert complaints(page) == []
        row.get_by_role("button", name="Install", exact=True).click()
        expect(row.locator(".said")).to_contain_text("Installs @agentclientprotocol/")
        expect(page.get_by_label("Agent", exact=True)).to_have_value("claude")
        expect(page.locator("#toasts")).to_contain_text("is installed")
        assert Path(site.served.home, "agents/claude/bin").is_dir()
        page.locator(".installs li", has=page.locator('[data-agent="qwen"]')).get_by_role(
            "button", name="Install…"
        ).click()
        page.locator(".install").get_by_role("button", name="Install", exact=True).click()
        expect(page.locator(".install")).to_contain_text("Nothing was installed")
        expect(page.locator(".install").get_by_role("button", name="Try again")).to_be_visible()


@pytest.mark.long
def test_a_race_is_started_compared_merged_and_picked(
    serving: Callable[..., Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    site = serving()
    site.expected = ("409",)  # what would be dropped is shown first
    tree = Tree(tmp_path / "tree", a__txt="one\n", b__txt="one\n")
    agents = {}
    for name, file in (("finch", "a.txt"), ("robin", "b.txt"), ("wren", "b.txt")):
        script = tmp_path / f"{name}.json"
        steps = [{"write": file, "content": f"{name}\n"}, {"text": "Done."}]
        script.write_text(json.dumps({"otherwise": steps}))
        agents[name] = player(str(script))
    configured(site, **agents)
    page = site.page("/new")
    page.get_by_label("Directory").fill(tree.cwd)
    page.get_by_label("Agent", exact=True).select_option("finch")
    page.get_by_label("Approvals").select_option("all")
    page.get_by_text("More: effort").click()
    for name in ("robin", "wren"):
        page.locator(f'input[name=race][value="{name}"]').check()
    page.get_by_label("First prompt").fill("Go")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/races/*")
    rows = page.locator(".race tbody tr")
    expect(rows).to_have_count(3)
    assert complaints(page) == []
    expect(page.locator(".race").get_by_text("1 file, +1 −1")).to_have_count(3, timeout=PATIENCE)

    rows.filter(has_text="finch").get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 file, +1 −1, into main")
    assert complaints(page) == []
    message = dialog.get_by_label("Commit message")
    expect(message).to_have_value("Change a.txt")
    message.fill("Finch was here")
    dialog.get_by_label("How").select_option("squash")
    dialog.get_by_role("button", name="Merge").click()
    expect(page.locator("#toasts")).to_contain_text("Merged into main")
    assert (tree.read("a.txt"), tree.read("b.txt")) == (b"finch\n", b"one\n")
    assert tree.git("log", "-1", "--format=%s") == "Finch was here\n"
    expect(page.get_by_role("button", name="Pick")).to_have_count(2)

    tree.put({"b.txt": "mine\n"})
    rows.filter(has_text="robin").get_by_role("button", name="Merge").click()
    expect(page.locator("#toasts")).to_contain_text("You have uncommitted changes in: b.txt")
    tree.git("checkout", "b.txt")
    rows.filter(has_text="robin").get_by_role("button", name="Pick").click()
    dialog.get_by_role("button", name="Merge it, drop the rest").click()
    expect(page.get_by_role("button", name="Pick")).to_have_count(0)
    assert tree.read("b.txt") == b"robin\n"
    assert tree.git("worktree", "list").count("\n") == 1


@pytest.mark.long
def test_a_session_begun_elsewhere_is_imported(
    serving: Callable[..., Site], tmp_path: Path
) -> None:
    site = serving()
    words = player("demo", "--state", str(tmp_path / "theirs"))
    configured(site, mine=words)
    place = tmp_path / "shop"
    place.mkdir()
    elsewhere(words, place, play({"text": "a kingfisher"}))
    page = site.page("/new")
    page.get_by_label("Directory").fill(str(tmp_path))
    page.get_by_text("Continue a session begun elsewhere").click()
    chip = page.locator('[data-do=elsewhere][data-agent="mine"]')
    chip.click()
    listed = page.locator("#elsewhere")
    expect(listed).to_contain_text("No sessions in this directory.")
    page.get_by_label("Directory").fill(str(place))
    chip.click()
    listed.get_by_role("button", name="Import").click()
    page.wait_for_url("**/sessions/*")
    expect(page.locator("#transcript")).to_contain_text("a kingfisher")
    session = page.url.rpartition("/")[2]
    page.goto(f"{site.served.address}/new")
    page.get_by_label("Directory").fill(str(place))
    page.get_by_text("Continue a session begun elsewhere").click()
    chip.click()
    listed.get_by_role("button", name="Open").click()
    page.wait_for_url(f"**/sessions/{session}")
