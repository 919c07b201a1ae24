"""A vendor is known by what it says it is and by the command that starts it."""

import pytest

from rookery.core.policy import modes
from rookery.core.vendors.detection import vendor_of
from rookery.core.vendors.profiles import Profile, profile_for, profile_of
from tests.core.making import Json, call, play, update
from tests.core.recordings import lines


@pytest.mark.parametrize(
    ("argv", "vendor"),
    [
        (["codex-acp"], "codex"),
        (["/opt/node/bin/codex-acp"], "codex"),
        (["npx", "-y", "@agentclientprotocol/claude-agent-acp@0.99"], "claude"),
        (["uvx", "--from", "mistral-vibe==3.0", "vibe-acp"], "vibe"),
        (["npx", "-y", "@moonshot-ai/kimi-code@2.1.0", "acp"], "kimi"),
        (["node", "/x/node_modules/@google/gemini-cli/dist/index.js", "--acp"], "gemini"),
        (["env", "A=1", "qwen", "--acp"], "qwen"),
        (["pi-acp"], "pi"),
        (["my-agent", "--model", "gemini"], "work"),
        (["python3", "my_agent.py", "gemini"], "work"),
        (["uv", "tool", "run", "--python", "3.12", "openhands", "acp"], "openhands"),
        (["python3", "-P", "-m", "rookery", "agent"], "rookery"),
        (["python3", "-P", "-m", "rookery", "play", "x.json"], "demo"),
        (["/usr/bin/rookery", "acp"], "work"),
    ],
)
def test_the_command_tells_the_vendor(argv: list[str], vendor: str) -> None:
    assert vendor_of("work", argv) == vendor


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("@agentclientprotocol/claude-agent-acp", "claude"),
        ("OpenCode", "opencode"),
        ("OpenHands CLI ACP Agent", "openhands"),
        ("@mistralai/mistral-vibe", "vibe"),
        ("somebody else", ""),
        ("rookery-agent", ""),
    ],
)
def test_an_agent_is_what_it_says_it_is_not_what_the_session_calls_it(
    name: str, vendor: str
) -> None:
    """And nobody becomes our own agent by saying so."""
    assert vendor_of("claude", ["wrapper"], {"name": name}) == vendor


@pytest.mark.parametrize("name", ["claude-agent-acp", "codex-acp", "gemini-cli", "opencode"])
def test_every_recorded_agent_is_known_by_its_own_word(name: str) -> None:
    answers = [line.message.get("result") for line in lines(f"{name}.jsonl", "recv")]
    info = next(each["agentInfo"] for each in answers if each and "agentInfo" in each)
    assert vendor_of("work", ["wrapper.sh"], info) == name.partition("-")[0]


def test_a_played_script_is_not_our_own_agent() -> None:
    """`--cmd "rookery play x.json"` is called rookery, after its program."""
    argv = ["rookery", "play", "x.json"]
    assert profile_of("rookery", argv).judged is False
    assert profile_of("rookery", argv).files is True
    assert profile_of("rookery", ["rookery", "acp"]) == Profile()
    assert profile_of("rookery", []).judged is True


def started(argv: list[str], info: Json | None = None) -> list[Json]:
    ready = [update("_agent", state="ready", name="work", sessionId="s", info=info)]
    return [
        update("_session", agent="work"),
        update("_agent", state="starting", name="work", argv=argv),
        *(ready if info else []),
    ]


def test_a_configured_agent_has_its_vendors_profile_from_the_first_start() -> None:
    document = play(*started(["crow-cli", "acp"]))
    assert (document.header.vendor, document.header.never_asks) == ("crow", True)
    assert "never asks" in modes.summary(document.header)
    meta = {"claudeCode": {"toolName": "Bash"}}
    tool = call("t", title="Tool", kind="other", _meta=meta)
    said = {"name": "@agentclientprotocol/claude-agent-acp"}
    *_, block = play(*started(["wrapper.sh"], said), tool).blocks.values()
    assert block["kind"] == "execute"


def test_a_switch_forgets_the_old_vendor() -> None:
    switched = update("_agent", state="switched", **{"from": "work", "to": "other"}, argv=["x"])
    document = play(*started(["codex-acp"], {"name": "codex-acp"}), switched)
    assert profile_for(document.header) == Profile()


@pytest.mark.parametrize("vendor", ["pi", "deepagents", "crow", "swival"])
def test_agents_that_never_ask_are_shown_as_such(vendor: str) -> None:
    header = play(*started(["w"], {"name": f"{vendor}-acp" if vendor != "crow" else "crow-cli"}))
    if vendor == "swival":
        header = play(*started(["swival", "--acp"]))
    assert header.header.never_asks is True
