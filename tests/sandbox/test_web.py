"""`web_fetch` and `web_search` of our own agent in a sandbox whose network is a list: through the
sandbox's proxy, to listed hosts only, also where the agent is forked from a process that knows no
proxy."""

import json
import os
import shutil
from pathlib import Path

import pytest

from rookery.agent.scripted.server import serving
from rookery.client import warm_agent
from tests.agent.conftest import ARGV, SCRIPT, write_settings
from tests.agent.test_web import serving as serving_pages
from tests.sandbox.test_warm_inside import forks_of, warm_up
from tests.worker.aviary import Aviary, text_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]
KEY = "sk-brave-0123456789abcdef"
THERE = "127.0.0.2"
"""An address of this machine's that the sandbox's NO_PROXY does not name."""


async def test_listed_pages_are_read_and_the_others_say_how_to_allow_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    (tmp_path / "person").mkdir()
    environment = {**os.environ, "HOME": str(tmp_path / "person")}
    environment["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    aviary = Aviary(tmp_path)
    with serving(SCRIPT) as model, serving_pages(THERE) as site:
        write_settings(Path(aviary.home), model)
        listed = {"network": "listed", "allow": f"{THERE}:{site.server_port}"}
        provider = {"search": "brave", "search_key": KEY}
        provider |= {"search_url": f"http://{THERE}:{site.server_port}", "allow": f"{THERE}:*"}
        lines, web = (
            [f"{key} = {json.dumps(value)}" for key, value in section.items()]
            for section in (listed, provider)
        )
        Path(aviary.home, "config.toml").write_text(
            "\n".join(["[sandbox]", *lines, "[web]", *web, ""])
        )
        aviary.trust()
        bird = aviary.hatch(
            argv=list(ARGV),
            agent="rookery",
            confirm="all",
            sandbox="bwrap",
            environment=environment,
        )
        urls = [
            f"http://{THERE}:{site.server_port}/page",
            f"http://{THERE}:{site.server_port + 1}/page",
            "http://unlisted.example/",
        ]
        steps = [{"call": {"name": "web_fetch", "arguments": {"url": url}}} for url in urls]
        words = {"search_query": "birds"}
        steps.append({"call": {"name": "web_search", "arguments": words}})
        try:
            warm = warm_up(aviary.home, environment)
            events = await bird.turn([*steps, {"text": "Done."}])
            assert "Done." in text_of(events), [event.update for event in events[-4:]]
            assert len(forks_of(warm)) == 1
        finally:
            warm_agent.end(aviary.home)
            aviary.end()
    results = [
        message["content"] if isinstance(message["content"], str) else str(message["content"])
        for message in model.asked[-1].body["messages"]
        if message["role"] == "tool"
    ]
    assert "Hello [there]" in results[0]
    for refused in results[1:3]:
        assert "The proxy does not connect to" in refused
        assert "rookery config set sandbox.allow" in refused
    assert "https://example.com/" in results[3]
    read, searched = site.asked
    assert read[1] == "/page"
    assert searched[1] == "/res/v1/web/search?count=10&q=birds"
    assert searched[2]["X-Subscription-Token"] == KEY
    assert KEY not in str(model.asked[-1].body)
