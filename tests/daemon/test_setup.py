"""The terminal's forms over HTTP: read, saved, refused at their field; secrets go in only, and what
loosens the guard of asks is confirmed first."""

from pathlib import Path
from typing import Any

from rookery.home import config
from tests.daemon.served import Served

FORMS = "/api/setup/forms"
LISTS = "/api/setup/lists"


def save(served: Served, form: str, values: dict[str, Any], **more: Any) -> Any:
    answer = served.ask("PATCH", f"{FORMS}/{form}", {"values": values, **more})
    assert answer.status == 200, answer.body
    return answer.json()


def deed(served: Served, listed: str, name: str, do: str, **more: Any) -> Any:
    answer = served.ask("POST", f"{LISTS}/{listed}?name={name}", {"do": do, **more})
    assert answer.status == 200, answer.body
    return answer.json()


def test_settings_are_read_and_saved_by_field(served: Served) -> None:
    drawn = served.ask("GET", f"{FORMS}/limits").json()
    assert drawn["form"]["properties"]["worker.cancel_grace"]["hint"] == "10"
    refused = save(served, "limits", {"worker.cancel_grace": "10000", "worker.stop_grace": "3"})
    assert not refused["done"]
    assert "0.1 to 600" in refused["wrong"]["worker.cancel_grace"]
    assert config.load(served.home).policy.stop_grace == 2.0
    assert save(served, "limits", {"worker.cancel_grace": "12"})["done"]
    assert save(served, "limits", {"worker.stop_grace": "3"})["done"]
    policy = config.load(served.home).policy
    assert (policy.cancel_grace, policy.stop_grace) == (12.0, 3.0)
    assert save(served, "limits", {"worker.cancel_grace": ""})["done"]
    assert config.load(served.home).policy.cancel_grace == 10.0


def test_loosening_changes_are_confirmed_first(served: Served) -> None:
    asked = save(served, "worker", {"session.confirm": "all"})
    assert asked["loosens"] == ["Approvals changes from “Ask always” to “Approve all”."]
    assert config.load(served.home).confirm == "every"
    assert save(served, "worker", {"session.confirm": "all"}, confirm=True)["done"]
    assert config.load(served.home).confirm == "all"
    assert save(served, "worker", {"session.confirm": "every"})["done"]


def test_secrets_are_written_and_never_read(served: Served) -> None:
    values = {"provider": "anthropic", "model": "m", "key": "sk-never-shown", "name": "quiet"}
    wrong = save(served, "models", {**values, "base_url": "nowhere"}, untested=True)["wrong"]
    assert "nowhere" in wrong["base_url"]
    assert save(served, "models", values, untested=True)["done"]
    assert save(served, "notify", {"notify.webhook_secret": "never-shown"})["done"]
    read = [served.ask("GET", f"{FORMS}/models?name=quiet"), served.ask("GET", f"{LISTS}/models")]
    read += [served.ask("GET", f"{FORMS}/notify"), served.ask("GET", "/settings/notify")]
    read += [served.ask("GET", "/settings/models/edit?name=quiet")]
    for answer in read:
        assert answer.status == 200
        assert b"never-shown" not in answer.body
    assert save(served, "notify", {"notify.webhook_secret": ""})["done"]
    assert config.load(served.home).notify.webhook_secret == "never-shown"
    assert save(served, "notify", {"notify.webhook_secret": None})["done"]
    assert config.load(served.home).notify.webhook_secret == ""
    assert deed(served, "models", "quiet", "remove")["done"]
    assert served.ask("GET", f"{FORMS}/models?name=quiet").status == 404


def test_servers_rules_and_agents_are_managed(served: Served) -> None:
    server = {"name": "notes", "kind": "stdio", "command": "true"}
    assert "is new" in save(served, "servers", server)["loosens"][0]
    assert save(served, "servers", server, confirm=True)["name"] == "notes"
    assert deed(served, "servers", "notes", "off")["done"]
    assert deed(served, "servers", "notes", "on")["loosens"]
    assert deed(served, "servers", "notes", "remove")["done"]
    assert served.ask("POST", f"{LISTS}/servers?name=notes", {"do": "remove"}).status == 404
    assert save(served, "rules", {"do": "deny", "path": "**/.env", "name": "no"})["done"]
    assert deed(served, "rules", "no", "remove")["loosens"]
    ask = {"do": "ask", "path": "/etc/**", "first": True}
    assert save(served, "rules", ask, confirm=True)["done"]
    [first, second] = served.ask("GET", f"{LISTS}/rules").json()["rows"]
    again = f"rules?name={first['name']}"
    drawn = served.ask("GET", f"{FORMS}/{again}").json()
    assert drawn["values"] == {"do": "ask", "path": "/etc/**", "destructive": False}
    assert save(served, again, {"do": "allow"})["loosens"]
    assert save(served, again, {"path": "/etc/*.conf"}, confirm=True)["done"]
    assert served.ask("GET", f"{FORMS}/{again}").status == 404  # another rule by now
    assert deed(served, "rules", second["name"], "up", confirm=True)["done"]
    assert [rule.do for rule in config.load(served.home).rules] == ["deny", "ask"]
    assert deed(served, "rules", "2", "remove", confirm=True)["done"]
    assert deed(served, "rules", "no", "remove", confirm=True)["done"]
    own = {"name": "mine", "kind": "command", "command": "true", "confined": True}
    assert save(served, "agents", own, confirm=True)["done"]
    rows = served.ask("GET", f"{LISTS}/agents").json()["rows"]
    assert "mine" in [row["name"] for row in rows]
    assert deed(served, "agents", "mine", "remove")["done"]


def test_a_broken_file_is_reported_and_left_alone(served: Served) -> None:
    place = Path(served.home) / "config.toml"
    before = place.read_text() if place.exists() else ""
    place.write_text("[worker\n")
    try:
        answer = served.ask("PATCH", f"{FORMS}/limits", {"values": {"worker.stop_grace": 1}})
        assert (answer.status, answer.json()["error"]) == (409, "bad_settings")
        assert served.ask("GET", "/settings/limits").status == 200
        assert served.ask("GET", "/settings").status == 200
        assert place.read_text() == "[worker\n"
    finally:
        place.write_text(before)
