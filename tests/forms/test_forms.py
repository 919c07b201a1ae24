"""One definition of every form: what is shown, what is refused, what is saved, what is kept secret,
and what loosens the guard of asks."""

import json
import re
from pathlib import Path

import pytest

from rookery.client.config import rules as files
from rookery.core.asks.forms import NEEDED, choices, is_secret
from rookery.forms import agents, catalog, lists, models, rules, servers
from rookery.forms.form import about, complaint, hinted, is_shown, spelled, typed
from rookery.forms.sections import FORMS
from rookery.forms.settings import CondenserForm, CriticForm, SettingsForm
from rookery.home import config, mcp
from rookery.models import profiles
from rookery.models.secrets import Secret
from rookery.processes.lineage import MARK, home_tag


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path)


def settings_form(home: str, place: str) -> SettingsForm:
    return SettingsForm(FORMS[place], config.load(home))


class TestFields:
    def test_text_as_the_schemas_type(self) -> None:
        assert typed({"type": "integer"}, "12") == 12
        assert typed({"type": "number"}, "0.5") == 0.5
        assert typed({"type": "number"}, "soon") == "soon"
        assert typed({"type": "array"}, "a, ,b") == ["a", "b"]
        assert typed({"type": "string"}, "") is None
        assert typed({"type": "boolean"}, "Yes") is True
        assert spelled(30.0) == "30"
        assert spelled(["a", "b"]) == "a, b"

    def test_words(self) -> None:
        field = {"type": "integer", "title": "Size", "minimum": 1, "maximum": 9}
        assert about(field) == "A whole number, 1 to 9"
        assert about({**field, "ranged": True, "description": "1 to 9"}) == "1 to 9"
        assert complaint("size", field, NEEDED) == "Required"
        assert complaint("size", field, ": no.") == "Size: no."
        assert complaint("size", {}, "is odd") == "size is odd"

    def test_fields_that_belong_to_another(self) -> None:
        field = servers.SCHEMA["properties"]["url"]
        assert is_shown(field, {"kind": "http"})
        assert not is_shown(field, {"kind": "stdio"})
        model = models.ModelForm(profiles.Settings()).fields["model"]
        assert "claude" in (hinted(model, {"provider": "anthropic"}) or "")
        assert hinted(model, {}) is None


class TestSettings:
    def test_only_what_changed_is_written(self, home: str) -> None:
        (Path(home) / "config.toml").write_text("# mine\n[worker]\nstop_grace = 3 # kept\n")
        form = settings_form(home, "limits")
        answers = {**form.values, "worker.cancel_grace": 5}
        assert form.check(answers) == {}
        saved = form.save(home, answers)
        assert saved.ok
        assert saved.changes == ("worker.cancel_grace",)
        text = (Path(home) / "config.toml").read_text()
        assert "# mine" in text
        assert "stop_grace = 3 # kept" in text
        assert "cancel_grace = 5" in text

    def test_a_number_out_of_range_is_named(self, home: str) -> None:
        form = settings_form(home, "limits")
        assert "0.1 to 600" in form.check({"worker.cancel_grace": 10_000})["worker.cancel_grace"]
        assert "number" in form.check({"worker.cancel_grace": "soon"})["worker.cancel_grace"]

    @pytest.mark.parametrize("place", [name for name in FORMS if FORMS[name].settings])
    def test_other_settings_are_named_by_their_titles(self, home: str, place: str) -> None:
        form = settings_form(home, place)
        keys = {key.rpartition(".")[2] for key in form.fields if "_" in key}
        for field in form.fields.values():
            words = f"{field['title']} {field['description']}"
            said = re.sub("'[^']*'", "", words)  # but for commands
            assert not keys & set(re.findall(r"\w+", said)), words
            assert "`" not in words, words

    def test_loosened_is_said_before(self, home: str) -> None:
        form = settings_form(home, "worker")
        loosens = form.loosens(home, {**form.values, "session.confirm": "all"})
        assert loosens == ["Approvals changes from “Ask always” to “Approve all”."]
        assert form.loosens(home, form.values) == []

    def test_a_secret_is_never_shown_and_stays(self, home: str) -> None:
        (Path(home) / "config.toml").write_text('[notify]\nwebhook_secret = "hush"\n')
        form = settings_form(home, "notify")
        assert "hush" not in json.dumps([form.values, form.schema])
        assert form.fields["notify.webhook_secret"]["hint"] == "unchanged"
        assert is_secret(form.fields["notify.webhook_secret"])
        assert form.save(home, {**form.values, "notify.most": 20}).changes == ("notify.most",)
        assert config.load(home).notify.webhook_secret == "hush"
        assert form.save(home, {**form.values, "notify.webhook_secret": None}).ok
        assert config.load(home).notify.webhook_secret == ""

    def test_critic_and_condenser(self, home: str) -> None:
        saved = profiles.load(home)
        critic = CriticForm(config.load(home), saved)
        done = critic.save(home, {**critic.values, "judge": "off", "critic.refine": True})
        assert done.changes == ("judge", "critic.refine")
        assert not profiles.load(home).critic.enabled
        condenser = CondenserForm(saved)
        wrong = condenser.check({**condenser.values, "max_size": 10, "keep_first": 5})
        assert "half" in wrong["keep_first"]
        assert condenser.save(home, {**condenser.values, "max_size": 40}).ok
        assert profiles.load(home).condenser.max_size == 40


class TestModels:
    def test_an_error_has_its_field(self, home: str) -> None:
        form = models.ModelForm(profiles.Settings())
        assert form.check({"provider": "anthropic"}) == {"model": NEEDED}
        outcome = form.keep(home, {"provider": "anthropic", "model": "m", "base_url": "nowhere"})
        assert not outcome.ok
        assert "base_url" in outcome.wrong

    def test_a_key_goes_in_and_not_out(self, home: str) -> None:
        answers = {"provider": "anthropic", "model": "m", "key": "sk-hidden", "name": "work"}
        assert models.ModelForm(profiles.Settings()).keep(home, answers).ok
        saved = profiles.load(home)
        form = models.ModelForm(saved, "work")
        assert "sk-hidden" not in json.dumps([form.values, form.schema])
        rows = lists.model_rows(saved)
        assert rows[0].tag == "default"
        assert "sk-hidden" not in str(rows)
        assert form.keep(home, {**form.values, "model": "n"}).ok
        assert profiles.load(home).profiles["work"].key == Secret("sk-hidden")

    def test_a_fallback_is_chosen_from_the_saved_models(self, home: str) -> None:
        """The field is there once there is another model; one that is gone is said to be."""
        blank = {"provider": "anthropic", "model": "m", "key": "sk-hidden"}
        assert "fallback" not in models.ModelForm(profiles.Settings()).fields
        assert models.ModelForm(profiles.Settings()).keep(home, blank | {"name": "one"}).ok
        new = models.ModelForm(profiles.load(home))
        offered = [(each.value, each.name) for each in choices(new.fields["fallback"])]
        assert offered == [("none", "none"), ("one", "one")]
        assert new.check(blank | {"fallback": "lost"}) == {"fallback": "must be one of none, one"}
        assert new.keep(home, {**new.values, **blank, "name": "two", "fallback": "one"}).ok
        form = models.ModelForm(profiles.load(home), "two")
        assert form.values["fallback"] == "one"
        assert form.keep(home, {**form.values, "fallback": "none"}).ok
        assert profiles.load(home).profiles["two"].fallback == ""
        gone = profiles.Settings({"a": profiles.Profile("a", "x/y", fallback="lost")}, "a")
        assert choices(models.ModelForm(gone, "a").fields["fallback"])[1].name == "lost (not saved)"


class TestServers:
    def test_saved_renamed_and_veiled(self, home: str) -> None:
        form = servers.ServerForm()
        answers = {"name": "notes", "kind": "stdio", "command": "npx 'a b'", "pairs": "KEY=hidden"}
        assert form.check(answers) == {}
        assert form.loosens(home, answers)[0].startswith("The MCP server notes is new")
        assert form.save(home, answers).name == "notes"
        known = servers.ServerForm(mcp.find(home, "notes"))
        assert "hidden" not in json.dumps(known.values)
        assert known.values["command"] == "npx 'a b'"
        assert known.save(home, {**known.values, "name": "paper"}).ok
        [server] = mcp.load(home)
        assert server.name == "paper"
        assert server.entry["env"] == {"KEY": "hidden"}

    def test_what_is_wrong_is_named(self) -> None:
        form = servers.ServerForm()
        base = {"name": "x", "kind": "stdio"}
        assert form.check(base) == {"command": NEEDED}
        assert "quote" in form.check({**base, "command": "a 'b"})["command"]
        assert "NAME=VALUE" in form.check({**base, "command": "a", "pairs": "b"})["pairs"]


RULES = """\
[[policy.rules]]
name = "git"
do = "allow"
command = ["git status *", "git log *", 'say "x"']
agent = "claude"
kind = ["execute", "read"]
destructive = true

[[policy.rules]]
do = "deny"
path = "C:\\\\it's here"
exact = ["make 'all'", "make"]
reason = "no"

[[policy.rules]]
do = "ask"
exact = "cat <<E\\nx\\nE"
tool = " odd "
"""


class TestRules:
    def test_added_and_removed(self, home: str) -> None:
        form = rules.RuleForm()
        answers = {"do": "allow", "command": "\"git status *\" 'git log *'", "kind": ["execute"]}
        assert form.check(answers) == {}
        assert len(form.loosens(home, answers)) == 1
        assert form.save(home, answers).ok
        [rule] = config.load(home).rules
        assert rule.command == ("git status *", "git log *")
        deny = {"do": "deny", "path": "**/.env", "name": "secrets", "reason": "no", "first": True}
        assert form.loosens(home, deny) == []
        assert form.save(home, deny).ok
        assert [each.do for each in config.load(home).rules] == ["deny", "allow"]
        assert form.save(home, deny).wrong == {"name": "is another rule's"}
        assert rules.loosened_by(home, "secrets", None)
        assert rules.removed(home, "secrets").ok
        assert "already" in rules.removed(home, "secrets").message

    def test_a_rule_needs_grounds(self) -> None:
        assert "needs at least one" in rules.RuleForm().check({"do": "allow"})["command"]
        assert "quote" in rules.RuleForm().check({"do": "ask", "command": "'a"})["command"]

    def test_a_rule_is_opened_and_changed(self, home: str) -> None:
        """Every ground comes back as it was; what is no single line stays without being shown."""
        (Path(home) / "config.toml").write_text(RULES)
        before = config.load(home).rules
        for rule in before:
            form = rules.RuleForm(home, files.key_of(rule))
            assert form.check(form.values) == {}
            assert form.loosens(home, form.values) == []
            assert form.save(home, form.values).ok
        assert config.load(home).rules == before
        form = rules.RuleForm(home, "git")
        assert form.values["command"] == '"git status *" "git log *" "say \\"x\\""'
        assert "first" not in form.fields
        wider = {**form.values, "command": "git *", "name": "mine"}
        assert form.loosens(home, wider) != []
        assert form.save(home, wider).name == "mine"
        assert config.load(home).rules[0].command == ("git *",)
        assert form.save(home, wider).message == rules.GONE
        taken = rules.RuleForm(home, "2")
        assert taken.save(home, {**taken.values, "name": "mine"}).wrong

    def test_the_order_of_rules_can_be_changed(self, home: str) -> None:
        (Path(home) / "config.toml").write_text(RULES)
        assert rules.loosened_by(home, "2", -1) == ["The order of the rules changed."]
        told = rules.moved(home, "2", -1)
        assert (told.ok, told.name) == (True, files.key_of(config.load(home).rules[0]))
        assert [rule.do for rule in config.load(home).rules] == ["deny", "allow", "ask"]
        assert not rules.moved(home, "gone", 1).ok
        assert isinstance(catalog.opened(home, "rules", "gone"), str)

    def test_an_agents_process_cannot_change_a_rule(
        self, home: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (Path(home) / "config.toml").write_text(RULES)
        form = rules.RuleForm(home, "git")
        monkeypatch.setenv(MARK, f"{home_tag(home)}.x")
        tried = [
            form.save(home, {**form.values, "command": "*"}),
            rules.RuleForm().save(home, {"do": "allow", "command": "*"}),
            rules.moved(home, "2", -1),
            rules.removed(home, "2"),
        ]
        refused = [("An agent cannot" in each.message, each.ok) for each in tried]
        assert refused == [(True, False)] * 4
        assert (Path(home) / "config.toml").read_text() == RULES


class TestAgents:
    def test_added_changed_and_removed(self, home: str) -> None:
        (Path(home) / "config.toml").write_text('# mine\ndefault_agent = "demo"\n')
        form = agents.AgentForm(home)
        answers = {**form.values, "name": "mine", "command": "my-agent --acp"}
        assert form.check(answers) == {}
        assert form.loosens(home, answers) == ["mine runs my-agent --acp."]
        assert form.save(home, answers).ok
        assert config.load(home).agents["mine"] == ["my-agent", "--acp"]
        known = agents.AgentForm(home, "mine")
        free = {**known.values, "confined": False}
        assert known.loosens(home, free) == ["mine's commands run unconfined."]
        assert known.save(home, free).ok
        assert config.load(home).unconfined == {"mine"}
        row = next(each for each in lists.agents(home, home) if each.own)
        assert lists.agent_row(row).more == "not installed"
        assert agents.removed(home, "mine").ok
        assert "mine" not in config.load(home).agents
        assert "# mine" in (Path(home) / "config.toml").read_text()

    def test_what_is_wrong_is_named(self, home: str) -> None:
        form = agents.AgentForm(home)
        assert "known" in form.check({**form.values, "name": "demo", "command": "x"})["name"]
        assert "letters" in form.check({**form.values, "name": "a b", "command": "x"})["name"]
        assert form.check({"name": "a", "kind": "url"}) == {"url": NEEDED}
        assert "address" in form.check({"name": "a", "kind": "url", "url": "ftp://x"})["url"]
