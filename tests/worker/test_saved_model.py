"""A model saved in Rookery is given to another vendor's agent, or the agent does not start."""

import json
from pathlib import Path

import pytest

from rookery.core.json.events import kind_of
from tests.worker.aviary import Aviary, Json

KEY = "sk-hush-4711"
TAKES: Json = {"agent": {"capabilities": {"providers": {}}}}
PROFILES = {
    "work": {"model": "anthropic/claude-9", "api_key": KEY, "base_url": "http://127.0.0.1:1"},
    "local": {"model": "ollama/llama"},
    "other": {"model": "openai/gpt-9", "api_key": KEY},
}


def saved(aviary: Aviary, name: str) -> None:
    file = Path(aviary.home, "agent_settings.json")
    file.write_text(json.dumps({"version": 1, "default": "work", "profiles": PROFILES}))
    file.chmod(0o600)
    Path(aviary.home, "config.toml").write_text(f'[agents.player]\nsaved_model = "{name}"\n')
    aviary.trust()


async def test_an_agent_gets_a_saved_model_before_its_session(aviary: Aviary) -> None:
    saved(aviary, "work")
    heard = aviary.root / "heard"
    argv = ["sh", "-c", 'tee -a "$0" | "$@"', str(heard), *aviary.player(TAKES)]
    bird = aviary.hatch(argv=argv)
    assert await bird.reason([{"text": "hello"}]) == "end_turn"
    told = [json.loads(line) for line in heard.read_text().splitlines()]
    assert [line["method"] for line in told][:4] == [
        *("initialize", "providers/list", "providers/set", "session/new")
    ]
    assert told[2]["params"] == {
        "providerId": "main",
        "apiType": "anthropic",
        "baseUrl": "http://127.0.0.1:1",
        "headers": {"x-api-key": KEY},
    }
    notices = [event.update for event in bird.events() if kind_of(event.update) == "_notice"]
    assert ["claude-9" in each["text"] for each in notices] == [True]  # it has no such model
    await bird.send("stop")
    await bird.gone(bird.worker)
    for file in bird.directory.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


@pytest.mark.parametrize(
    ("name", "script", "words"),
    [
        ("work", {}, "it takes no models from its client"),
        ("away", TAKES, "there is no such model"),
        ("local", TAKES, "neither an anthropic/ nor an openai/ model"),
        ("other", TAKES, "it takes no openai models"),
    ],
)
async def test_an_agent_that_cannot_use_the_saved_model_does_not_start(
    aviary: Aviary, name: str, script: Json, words: str
) -> None:
    saved(aviary, name)
    bird = aviary.hatch(script)
    turn = await bird.turn([{"text": "hello"}])
    assert turn[-1].update["reason"] == "failed"
    assert f"player cannot use the saved model '{name}'" in str(turn[-1].update)
    assert words in str(turn[-1].update)
