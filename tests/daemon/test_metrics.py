"""What whoever operates a daemon asks it: is it well, and how does it fare."""

import asyncio
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import connect

from rookery.daemon.access.devices import Devices
from rookery.daemon.access.guesses import Guesses
from rookery.daemon.api import about
from rookery.daemon.errors import Problem
from rookery.daemon.fleet import Fleet
from rookery.daemon.hub import Hub
from rookery.daemon.idempotency import Results
from rookery.daemon.metrics import exposition
from rookery.daemon.options import Options
from rookery.daemon.state import State
from tests.daemon.served import Answer, Served, awaited
from tests.rigs.broken import asking

TITLE = "A secret title"


def families(answer: Answer) -> dict[str, dict[tuple[str, str], float]]:
    """As Prometheus' own client reads it: each family's samples, by name and first label."""
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        family.name: {
            (sample.name.removeprefix(family.name), next(iter(sample.labels.values()), "")): float(
                sample.value
            )
            for sample in family.samples
        }
        for family in text_string_to_metric_families(answer.body.decode())
    }


def test_prometheus_own_parser_reads_the_metrics(home: Path, daemon: Served) -> None:
    directory = asking(home, TITLE)
    began = time.time()
    awaited(lambda: daemon.ask("GET", "/api/about").json()["sessions"])
    daemon.ask("GET", "/nowhere")
    answer = daemon.ask("GET", "/metrics")
    found = families(answer)
    assert found["rookery_sessions"]["", "needs-you"] == 1
    assert sum(found["rookery_sessions"].values()) == 1
    assert found["rookery_asks_open"]["", ""] == 1
    assert 0 < found["rookery_asks_oldest_age_seconds"]["", ""] < time.time() - began + 3600
    assert found["rookery_http_responses"]["_total", "404"] == 1
    delays = found["rookery_http_response_delay_seconds"]
    assert delays["_count", ""] == delays["_bucket", "+Inf"] >= 2
    assert found["process_resident_memory_bytes"]["", ""] > 1024 * 1024
    assert found["rookery_look_seconds"]["_count", ""] >= 1
    for private in (TITLE, str(home), str(directory), directory.name, "demo"):
        assert private not in answer.body.decode()


async def test_streams_and_their_delays_are_measured(daemon: Served) -> None:
    session = daemon.create(prompt="Hello")
    headers = {"Authorization": f"Bearer {daemon.token}"}
    async with connect(f"ws://{daemon.netloc}/api/stream", additional_headers=headers) as link:
        await link.send(json.dumps({"subscribe": {"topic": session, "form": "events"}}))
        async with asyncio.timeout(60):
            while "_ask" not in await link.recv():  # the demo agent asks in its turn
                pass
        found = families(await asyncio.to_thread(daemon.ask, "GET", "/metrics"))
    assert found["rookery_streams"]["", ""] == 1
    assert found["rookery_sessions_followed"]["", ""] == 1
    assert found["rookery_sessions_awake"]["", ""] == 1
    assert found["rookery_stream_delay_seconds"]["_count", ""] >= 1
    assert found["rookery_sessions_resident_memory_bytes"]["", ""] > 1024 * 1024
    await asyncio.to_thread(daemon.own, "POST", f"/api/sessions/{session}/kill", {})


def test_a_scrape_reads_no_log(home: Path) -> None:
    directory = asking(home, TITLE)
    fleet = Fleet(str(home))
    fleet.look()
    shutil.rmtree(directory)
    assert 'rookery_sessions{state="needs-you"} 1' in [*exposition.sessions(fleet.heads)]


def test_metrics_need_a_login_and_health_needs_nothing(serving: Callable[..., Served]) -> None:
    served = serving(behind_proxy=True, allowed_hosts=("box.example.org",))
    assert served.own("GET", "/metrics").status == 200
    for path, status in (("/metrics", 421), ("/healthz", 200)):
        assert served.ask("GET", path, token="").status == status, "by its address"
    named = {"Host": "box.example.org"}
    assert served.ask("GET", "/metrics", token="", **named).status == 401
    healthy = served.ask("GET", "/healthz", token="", **named)
    assert (healthy.status, healthy.body) == (200, b"ok\n")
    assert served.ask("HEAD", "/healthz", token="").status == 200


async def test_a_daemon_that_cannot_look_at_its_sessions_is_not_well(home: Path) -> None:
    fleet = Fleet(str(home))
    hub = Hub(str(home), fleet, lambda *_: pytest.fail("no page is asked for"))
    devices, results = Devices(str(home)), Results(str(home))
    state = State(str(home), Options(), devices, Guesses(), fleet, hub, 0, results)
    hub.looked -= about.STALE_SECONDS + 1
    (home / "sessions").write_text("no directory")
    with pytest.raises(NotADirectoryError):
        await hub.look()
    with pytest.raises(Problem) as problem:
        await about.read_health(state)
    assert problem.value.status == 503
    (home / "sessions").unlink()
    await hub.look()
    assert (await about.read_health(state)).status_code == 200


HSTS = "strict-transport-security"


def test_https_is_pinned_only_where_it_was_asked_for_and_never_for_localhost(
    serving: Callable[..., Served],
) -> None:
    proxied = {"behind_proxy": True, "allowed_hosts": ("box.example.org", "localhost")}
    served = serving(**proxied)
    assert HSTS not in served.ask("GET", "/login", token="", Host="box.example.org").headers
    served.stop()
    served = serving(hsts=True, **proxied)
    named = served.ask("GET", "/login", token="", Host="box.example.org:8443")
    assert named.headers[HSTS] == "max-age=31536000"
    for here in ("localhost", "app.localhost:3000", "127.0.0.1:7433", "[::1]:7433"):
        assert HSTS not in served.ask("GET", "/login", token="", Host=here).headers
