"""`agent_settings.json`: kept, defaulted, migrated once, private, never half."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.core.json import files
from rookery.core.vendors.environment import LACKING
from rookery.models import profiles
from rookery.models.documents import SettingsError
from rookery.models.profiles import Condenser, Missing, Profile, Settings
from rookery.models.secrets import Secret

KEY = "sk-very-secret-1234"


def usable(settings: Settings, environment: dict[str, str], *, override: bool) -> bool:
    return isinstance(profiles.effective(settings, environment, override), Profile)


def file(home: Path) -> Path:
    return home / profiles.FILE


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def write(home: Path, value: Any) -> Path:
    file(home).write_text(value if isinstance(value, str) else json.dumps(value))
    return file(home)


def saved(**more: Any) -> Settings:
    profile = Profile("work", "anthropic/claude", Secret(KEY), **more)
    return Settings().with_profile(profile)


# ---------------------------------------------------------------- the file


def test_without_a_file_the_defaults(tmp_path: Path) -> None:
    assert profiles.load(str(tmp_path)) == Settings()
    assert os.listdir(tmp_path) == []


def test_saved_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        profiles.save(str(tmp_path / "new"), saved())
    finally:
        os.umask(before)
    assert mode(tmp_path / "new" / profiles.FILE) == 0o600
    assert profiles.load(str(tmp_path / "new")) == saved()


@pytest.mark.parametrize("loose", [0o644, 0o666, 0o640, 0o604])
def test_a_file_that_others_can_read_is_tightened(tmp_path: Path, loose: int) -> None:
    profiles.save(str(tmp_path), saved())
    file(tmp_path).chmod(loose)
    assert profiles.load(str(tmp_path)) == saved()
    assert mode(file(tmp_path)) == 0o600


def test_a_link_to_a_persons_own_place_stays_one(tmp_path: Path) -> None:
    own = tmp_path / "dotfiles" / "models.json"
    own.parent.mkdir()
    own.write_text("{}")
    file(tmp_path).symlink_to(own)
    profiles.change(str(tmp_path), lambda _: saved())
    assert file(tmp_path).is_symlink()
    assert KEY in own.read_text()
    assert mode(own) == 0o600


texts = st.text(st.characters(codec="utf-8"), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
KNOWN = {
    "version",
    "default",
    "profiles",
    "condenser",
    "critic",
    "llm",
    "model",
    "api_key",
    "base_url",
}
KNOWN |= {"timeout", "enabled", "share", "max_size", "keep_first", "profile"}
unknown = st.dictionaries(texts.filter(lambda key: key not in KNOWN), values, max_size=3)
trimmed = texts.map(str.strip)


@st.composite
def documents_of_settings(draw: st.DrawFn) -> dict[str, Any]:
    """Any file of today's shape, with fields that nobody knows in each place."""
    profile = st.fixed_dictionaries(
        {"model": trimmed.filter(bool)},
        optional={
            "api_key": st.none() | trimmed,
            "base_url": st.none() | trimmed,
            "timeout": st.none() | st.integers(1, 999),
        },
    )
    names = draw(st.lists(texts, max_size=3, unique=True))
    return {
        **draw(unknown),
        "profiles": {name: {**draw(unknown), **draw(profile)} for name in names},
        "default": draw(st.none() | st.sampled_from(names) if names else st.none()),
        "condenser": {**draw(unknown), "share": 60, "max_size": draw(st.integers(10, 500))},
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents_of_settings())
def test_nothing_is_lost_on_the_way_through(tmp_path: Path, found: dict[str, Any]) -> None:
    write(tmp_path, found)
    first = profiles.load(str(tmp_path))
    profiles.save(str(tmp_path), first)
    assert profiles.load(str(tmp_path)) == first
    again = json.loads(file(tmp_path).read_text())
    for key, value in found.items():
        if key not in KNOWN:
            assert again[key] == value
    for name, profile in found["profiles"].items():
        for key, value in profile.items():
            assert (again["profiles"][name][key] or None) == (value or None)
    assert again["condenser"].items() >= found["condenser"].items()


def test_an_edit_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    home = str(tmp_path)
    write(tmp_path, {"profiles": {"a": {"model": "x/y", "temperature": 0.5}}, "theme": "dark"})
    profiles.change(home, lambda now: now.with_profile(Profile("b", "z/w")))
    found = json.loads(file(tmp_path).read_text())
    assert found["theme"] == "dark"
    assert found["profiles"]["a"]["temperature"] == 0.5
    assert list(found["profiles"]) == ["a", "b"]
    assert profiles.load(home).profiles["a"].extras == {"temperature": 0.5}


# ---------------------------------------------------------------- broken files


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n  "profiles": {\n    "a": }\n}', ["line 3", "column 10"]),
        ("", ["line 1, column 1"]),
        ("[]", ["an object is wanted"]),
        ('{"profiles": []}', ["profiles"]),
        ('{"llm": {"model": 3}}', ["model"]),
        ('{\n"profiles": {"a": {"model": 3}}}', ["line 2", "profiles.a.model"]),
        ('{"profiles": {"a": {}}}', ["profiles.a", "model"]),
        ('{"profiles": {"a": {"model": "x/y", "timeout": "1"}}}', ["profiles.a.timeout"]),
        ('{"profiles": {"a": {"model": "x/y", "timeout": -1}}}', ["profiles.a.timeout"]),
        ('{"profiles": {"a": "x"}}', ["profiles.a"]),
        ('{"condenser": {"max_size": 3}}', ["condenser.max_size", "10"]),
        ('{"condenser": {"share": 99}}', ["condenser.share", "95"]),
        ('{"condenser": {"max_size": 10, "keep_first": 9}}', ["keep_first", "half"]),
        ('{"condenser": {"enabled": 1}}', ["condenser.enabled"]),
        ('{"critic": []}', ["critic must be an object"]),
        ('{"critic": {"enabled": "no"}}', ["critic.enabled", "true or false"]),
        ('{"critic": {"judge": 1}}', ["critic.judge", "saved model"]),
        ('{"version": 99}', ["newer Rookery"]),
        ('{"default": 1}', ["default"]),
        ('{"a": 1,\n"a": 2}', ["line 2", "twice"]),
        ("[" * 100_000, ["deep"]),
        ('{"a": ' + "9" * 5000 + "}", [profiles.FILE]),
    ],
)
def test_a_broken_file_is_named_and_left_alone(tmp_path: Path, text: str, words: list[str]) -> None:
    path = write(tmp_path, text)
    for attempt in (
        lambda: profiles.load(str(tmp_path)),
        lambda: profiles.change(str(tmp_path), lambda _: saved()),
    ):
        with pytest.raises(SettingsError) as caught:
            attempt()
        assert str(path) in str(caught.value)
        assert all(word in str(caught.value) for word in words), caught.value
    assert path.read_text() == text
    assert not (tmp_path / (profiles.FILE + profiles.BEFORE)).exists()


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    file(tmp_path).write_bytes(b'{\n"a": "\xff"}')
    with pytest.raises(SettingsError, match="line 2: not UTF-8"):
        profiles.load(str(tmp_path))


def test_a_mistake_shows_no_key(tmp_path: Path) -> None:
    write(tmp_path, {"profiles": {"a": {"api_key": KEY, "model": 3}}})
    with pytest.raises(SettingsError) as caught:
        profiles.load(str(tmp_path))
    assert KEY not in str(caught.value)


# ---------------------------------------------------------------- old shapes

OPENHANDS = {
    "llm": {
        "model": "anthropic/claude-x",
        "api_key": KEY,
        "base_url": None,
        "timeout": 300,
        "num_retries": 3,
        "service_id": "agent",
        "litellm_extra_body": {"metadata": {"session_id": "1"}},
    },
    "tools": [{"name": "terminal", "params": {}}],
    "mcp_config": {},
    "condenser": {
        "kind": "LLMSummarizingCondenser",
        "max_size": 120,
        "keep_first": 6,
        "llm": {"model": "anthropic/claude-x", "api_key": KEY},
    },
    "kind": "Agent",
}


def test_the_openhands_shape_is_migrated_once_and_saved(tmp_path: Path) -> None:
    path = write(tmp_path, OPENHANDS)
    path.chmod(0o644)
    found = profiles.load(str(tmp_path))
    extras = {"num_retries": 3}
    assert found.chosen == Profile("default", "anthropic/claude-x", Secret(KEY), "", 300, extras)
    assert found.condenser == Condenser(True, 75, 120, 6)
    now = json.loads(path.read_text())
    assert now["default"] == "default"
    assert "llm" not in now
    before = Path(f"{path}{profiles.BEFORE}")
    assert json.loads(before.read_text()) == OPENHANDS
    assert (mode(path), mode(before)) == (0o600, 0o600)
    bytes_now, stamp = path.read_bytes(), path.stat().st_mtime_ns
    assert profiles.load(str(tmp_path)) == found
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (bytes_now, stamp)


def test_a_model_at_the_top_is_migrated(tmp_path: Path) -> None:
    write(tmp_path, {"model": "x/y", "api_key": KEY, "theme": "dark"})
    found = profiles.load(str(tmp_path))
    assert found.chosen == Profile("default", "x/y", Secret(KEY))
    assert found.extras == {"theme": "dark"}


def test_a_masked_key_is_none(tmp_path: Path) -> None:
    write(tmp_path, {"llm": {"model": "anthropic/x", "api_key": "**********"}})
    found = profiles.load(str(tmp_path))
    assert found.chosen is not None
    assert not found.chosen.key


def test_an_old_shape_is_migrated_within_a_change(tmp_path: Path) -> None:
    write(tmp_path, OPENHANDS)
    now = profiles.change(str(tmp_path), lambda now: now.with_profile(Profile("b", "x/y")))
    assert list(now.profiles) == ["default", "b"]


# ---------------------------------------------------------------- many at once

ADD = """
import sys
from rookery.models import profiles
home, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for n in range(first, first + count):
    profiles.change(home, lambda now: now.with_profile(profiles.Profile(f"p{n}", "x/y")))
"""


def test_nobody_loses_what_another_wrote(tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", ADD, str(tmp_path), str(first), "10"])
        for first in (0, 10, 20)
    ]
    assert [each.wait(60) for each in running] == [0, 0, 0]
    found = profiles.load(str(tmp_path))
    assert set(found.profiles) == {f"p{number}" for number in range(30)}
    left = [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
    assert left == []


# ---------------------------------------------------------------- profiles


def test_the_first_profile_is_the_default_until_another_is_named() -> None:
    one, two = Profile("one", "a/b"), Profile("two", "c/d")
    now = Settings().with_profile(one).with_profile(two)
    assert now.default == "one"
    assert now.with_profile(two, default=True).default == "two"
    assert now.without("one").default == "two"
    assert now.without("one").without("two") == Settings()
    assert now._replace(default="gone").chosen == one


def test_the_settings_are_quick_to_load() -> None:
    """The command line reads them at each run: no SDK, no pydantic."""
    code = (
        "import sys, rookery.models.profiles, rookery.models.hook_files\n"
        "print([m for m in ('openhands', 'pydantic', 'litellm', 'asyncio', 'click')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------- which model is used


def env(**given: str) -> dict[str, str]:
    return {f"LLM_{name.upper()}": value for name, value in given.items()}


def model(found: Profile | Missing) -> Profile:
    assert isinstance(found, Profile), found
    return found


def missing(found: Profile | Missing) -> str:
    assert isinstance(found, Missing), found
    return found.sentence


def test_the_environment_counts_only_when_it_is_wanted() -> None:
    other = env(model="openai/gpt", api_key="k2", base_url="https://x/v1")
    assert model(profiles.effective(saved(), other, False)).model == "anthropic/claude"
    found = model(profiles.effective(saved(), other, True))
    assert (found.model, found.key.reveal(), found.base_url) == ("openai/gpt", "k2", "https://x/v1")


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"api_key": "k2"}, ("anthropic/claude", "k2", "https://old")),
        ({"model": "anthropic/new"}, ("anthropic/new", KEY, "https://old")),
        ({"base_url": "https://new"}, ("anthropic/claude", KEY, "https://new")),
        ({"api_key": "  "}, ("anthropic/claude", KEY, "https://old")),
    ],
)
def test_a_part_goes_over_what_is_saved(
    given_: dict[str, str], expected: tuple[str, str, str]
) -> None:
    found = model(profiles.effective(saved(base_url="https://old"), env(**given_), True))
    assert (found.model, found.key.reveal(), found.base_url) == expected


def test_overrides_are_never_saved(tmp_path: Path) -> None:
    profiles.save(str(tmp_path), saved())
    before = file(tmp_path).read_bytes()
    given_ = env(model="openai/gpt", api_key="k2-secret-secret")
    model(profiles.effective(profiles.load(str(tmp_path)), given_, True))
    profiles.change(str(tmp_path), lambda now: now)
    assert file(tmp_path).read_bytes() == before


def test_an_override_that_is_lost_is_missed_not_replaced() -> None:
    """Not by the saved model: another was asked for. Who names a profile means that one."""
    lost = env(base_url="u") | {LACKING: "LLM_MODEL LLM_API_KEY"}
    said = missing(profiles.effective(saved(), lost, True))
    assert "--override-with-envs and LLM_MODEL and LLM_API_KEY: they are never saved" in said
    assert "rookery stop SESSION" in said
    one = missing(profiles.effective(Settings(), {LACKING: "LLM_API_KEY"}, True))
    assert "LLM_API_KEY: it is never saved. Set it," in one
    model(profiles.effective(saved(), lost, False))


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({}, ["LLM_API_KEY and LLM_MODEL", "rookery setup"]),
        ({"model": "anthropic/x"}, ["LLM_API_KEY", "rookery setup"]),
        ({"api_key": "k"}, ["LLM_MODEL", "rookery setup"]),
    ],
)
def test_where_nothing_is_saved_both_are_needed(given_: dict[str, str], words: list[str]) -> None:
    said = missing(profiles.effective(Settings(), env(**given_), True))
    assert all(word in said for word in words), said


def test_where_nothing_is_saved_and_nothing_overrides() -> None:
    assert "rookery setup" in missing(profiles.effective(Settings(), {}, False))
    said = missing(profiles.effective(Settings(), env(model="x/y", api_key="k"), False))
    assert "--override-with-envs" in said
    assert not usable(Settings(), env(model="x/y", api_key="k"), override=False)
    assert usable(Settings(), env(model="x/y", api_key="k"), override=True)


def test_a_profile_without_a_key_names_the_command_and_the_variable() -> None:
    bare = Settings().with_profile(Profile("work", "anthropic/claude"))
    said = missing(profiles.effective(bare, {}, False))
    assert "rookery setup --name work" in said
    assert "ANTHROPIC_API_KEY" in said
    found = model(profiles.effective(bare, {"ANTHROPIC_API_KEY": "own"}, False))
    assert found.key.reveal() == "own"


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("ollama/llama", ""),
        ("ollama_chat/llama", ""),
        ("lm_studio/x", ""),
        ("openai/x", "http://localhost:8000/v1"),
        ("openai/x", "http://127.0.0.5:8000"),
        ("openai/x", "http://[::1]:8000/v1"),
        ("openai/x", "http://box.localhost/v1"),
        ("bedrock/x", ""),
    ],
)
def test_a_local_model_needs_no_key(name: str, url: str) -> None:
    here = Settings().with_profile(Profile("local", name, base_url=url))
    assert usable(here, {}, override=False)


@pytest.mark.parametrize(
    ("name", "url"),
    [("openai/x", "http://10.0.0.1/v1"), ("openai/x", "http://localhost.evil.com"), ("x/y", "")],
)
def test_a_model_elsewhere_needs_one(name: str, url: str) -> None:
    there = Settings().with_profile(Profile("there", name, base_url=url))
    assert not usable(there, {}, override=False)


def test_another_profile_by_its_name() -> None:
    both = saved().with_profile(Profile("local", "ollama/x"))
    assert model(profiles.effective(both, {}, False, "local")).model == "ollama/x"
    said = missing(profiles.effective(both, {}, False, "gone"))
    assert "work, local" in said


def test_a_document_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert files.parse(b'\xef\xbb\xbf{"a": 1}', "x") == {"a": 1}
