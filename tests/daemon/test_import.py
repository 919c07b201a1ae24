"""A session begun elsewhere is listed and imported once through the daemon."""

import json
from pathlib import Path

from rookery.client.daemon import logins
from rookery.client.daemon.logins import Login
from tests.cli.driving import rookery
from tests.client.test_import import elsewhere, play
from tests.daemon.served import Served
from tests.rigs.player import player


def test_a_session_begun_elsewhere_is_imported_through_the_daemon(
    served: Served, tmp_path: Path
) -> None:
    words = player("demo", "--state", str(tmp_path / "theirs"))
    text = f"[agents.mine]\ncommand = {json.dumps(words)}\n"
    Path(served.home, "config.toml").write_text(text)
    place = tmp_path / "shop"
    place.mkdir()
    theirs = elsewhere(words, place, play({"text": "a kingfisher"}))
    path = "/api/agents/mine/sessions"
    listed = served.ask("POST", f"{path}/list", {"cwd": str(place)}).json()["sessions"]
    assert [(each["id"], each["cwd"], each["here"]) for each in listed] == [
        (theirs, str(place), "")
    ]
    body = {key: listed[0][key] for key in ("id", "cwd", "title")}
    made = served.ask("POST", path, body).json()["id"]
    assert served.ask("POST", path, body).json()["id"] == made
    assert 'data-unloaded="1"' in served.ask("GET", f"/sessions/{made}").body.decode()
    started = served.ask("POST", f"/api/sessions/{made}/commands", {"do": "start", "id": "load"})
    assert started.status == 200, started.body
    document = served.ask("GET", f"/api/sessions/{made}/document").json()
    assert "a kingfisher" in json.dumps(document["blocks"])
    assert "data-unloaded" not in served.ask("GET", f"/sessions/{made}").body.decode()
    logins.save(mine := str(tmp_path / "mine"), Login(served.address, served.token))
    away = {"ROOKERY_HOME": mine, "ROOKERY_URL": served.address}
    (row,) = rookery("import", "--agent", "mine", "--list", "--json", str(place), **away).events
    assert (row["id"], row["here"]) == (theirs, made)
    again = rookery("import", "--agent", "mine", "--session", theirs, **away)
    assert (again.code, f"already imported: rookery open {made}" in again.err) == (0, True)
    other = elsewhere(words, place, play({"text": "an egret"}))
    new = rookery("import", "--agent", "mine", str(place), **away)
    assert (new.code, len(new.out.split())) == (0, 1), new.err
    assert other in json.dumps(served.ask("POST", f"{path}/list", {}).json())
    lost = served.ask("POST", path, body | {"id": "other", "cwd": str(tmp_path / "no")})
    assert (lost.status, lost.json()["error"]) == (409, "cannot_import")
    assert served.ask("POST", f"{path}/import", {"sessions": []}).json()["sessions"] == []
    found = served.ask("POST", "/api/v1/importable", {"agent": "mine"}).json()
    assert {(each["id"], each["state"]) for each in found["sessions"]} == {
        (theirs, "here"),
        (other, "here"),
    }
    third = elsewhere(words, place, play({"text": "a heron"}))
    said = served.ask("POST", "/api/v1/import", {"agent": "mine", "ids": [third, "nosuch"]}).json()
    assert said["missing"] == ["nosuch"]
    [row] = said["sessions"]
    assert (row["id"], row["state"], row["why"]) == (third, "new", "")
    [row] = served.ask("POST", f"{path}/import", {"sessions": [row]}).json()["sessions"]
    assert (row["state"], row["here"]) == ("here", said["sessions"][0]["here"])
    refused = served.ask("GET", f"{path}?cwd={place}")  # it would start the agent
    assert (refused.status, refused.json()["error"]) == (409, "starts_agent")
    nobody = served.ask("POST", "/api/agents/nobody/sessions/list", {})
    assert nobody.json()["error"] == "unknown_agent"
    assert 'data-agent="mine"' in served.ask("GET", "/new").body.decode()
