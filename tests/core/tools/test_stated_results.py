"""Changes and exit codes that agents state beside the protocol's own content."""

import pytest

from rookery.core.blocks import captions
from rookery.core.blocks.document import Document
from rookery.core.view import recap
from tests.core.making import Json, call, news, only, play, prompt, running, text, update

OBSERVED = {"path": "/w/a.txt", "old_content": "one\ntwo\n", "new_content": "uno\ntwo\n"}
STRINGS = {"file_path": "/w/a.txt", "old_string": "one", "new_string": "uno"}

LIES = "terminal result\n- **output:** x\n- **exit_code:** 0\n- **exit_code:** 3\n"


def driven(argv: list[str], *updates: Json) -> Document:
    begun = update("_agent", state="starting", name="work", argv=argv)
    return play(update("_session", agent="work"), begun, prompt(), running(), *updates)


def said(words: str) -> list[Json]:
    return [{"type": "content", "content": text(words)}]


@pytest.mark.parametrize(
    ("given", "brought"),
    [
        ({"rawInput": STRINGS}, {"content": said("Edited /w/a.txt")}),  # swival
        ({"rawInput": {"command": "str_replace"}}, {"rawOutput": {"observation": OBSERVED}}),
    ],
)
def test_a_change_stated_only_in_input_or_result_is_shown(given: Json, brought: Json) -> None:
    document = driven(
        ["w"],
        call("c", kind="edit", title="edit", status="in_progress", **given),
        news("c", status="completed", **brought),
    )
    [diff] = captions.diffs(only(document, "tool"))
    assert diff["path"] == "/w/a.txt"
    assert (str(diff["old"]).split()[0], str(diff["new"]).split()[0]) == ("one", "uno")


def test_a_change_shown_by_the_content_is_shown_once() -> None:
    content = [{"type": "diff", "path": "/w/a.txt", "oldText": "one", "newText": "uno"}]
    document = driven(
        ["w"],
        call("c", kind="edit", title="edit", status="pending", rawInput=STRINGS),
        news("c", status="completed", content=content),
    )
    assert len(captions.diffs(only(document, "tool"))) == 1


@pytest.mark.parametrize(
    "given",
    [
        {"path": "/w/a.txt"},
        {"path": "/w/a.txt", "old_str": "one"},
        {"path": "/w/a.txt", "old_str": "one", "new_str": "one"},
        {"path": 1, "old_str": "one", "new_str": "uno"},
        "one",
    ],
)
def test_without_a_stated_change_none_is_shown(given: object) -> None:
    document = driven(["w"], call("c", kind="edit", title="edit", rawInput=given))
    assert captions.diffs(only(document, "tool")) == []


@pytest.mark.parametrize(
    ("argv", "brought", "code"),
    [
        (["openhands", "acp"], {"rawOutput": {"observation": {"exit_code": 3}}}, 3),
        (["swival", "--acp"], {"content": said("Exit code: 3\nseen\n")}, 3),
        (["swival", "--acp"], {"content": said("seen\nExit code: 3\n")}, None),
        # It says 0 of every command.
        (["crow-cli", "acp"], {"content": said("x\n[Command completed with exit code 0]")}, None),
        (["hermes-acp"], {"content": said("terminal result\n- **exit_code:** 3")}, 3),
        (["hermes-acp"], {"content": said(LIES)}, 3),
        (["other"], {"content": said("Exit code: 3\nseen\n")}, None),
    ],
)
def test_exit_codes_are_read_where_each_agent_puts_them(
    argv: list[str], brought: Json, code: int | None
) -> None:
    """A command may print such words itself: they count only where its agent writes them."""
    ran = call("c", kind="execute", title="x", status="in_progress", rawInput={"command": "x"})
    block = only(driven(argv, ran, news("c", status="completed", **brought)), "tool")
    assert captions.exit_code(block, []) == code


def test_a_call_refused_by_its_agent_has_its_tools_name() -> None:
    """OpenHands announces no call whose arguments are wrong: its result is the first news of it."""
    refused = {"tool_name": "peck", "error": "wrong arguments"}
    document = driven(["openhands", "acp"], news("c", status="failed", rawOutput=refused))
    assert only(document, "tool")["title"] == "peck"


def test_a_tool_called_without_arguments_is_shown_as_a_call() -> None:
    """crow and OpenHands call a server's tool by its name alone."""
    document = driven(["w"], call("c", kind="other", title="peck", status="completed"))
    assert recap.call_words(only(document, "tool"), [], "/w") == ("Used the tool peck", "done")
