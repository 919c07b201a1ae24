"""The flaws of the ancestor, a CLI on the same SDK, and the tests that show each of them absent."""

import re
from pathlib import Path

import pytest

FLAWS = {
    "no streaming": "prompts: words_stream_as_the_model_writes_them",
    "a cancel that waits for the command": "cancel: cancel_while_a_command_runs",
    "a cancel that waits for the model": "cancel: cancel_before_the_first_word",
    "a cancel that is answered end_turn": "cancel: cancel_while_the_model_speaks",
    "a server that stands still meanwhile": "cancel: other_sessions_are_served_during_a_command",
    "a loop that is held": "process: nothing_holds_the_loop",
    "permissions with made-up ids": "permissions: the_real_call_is_asked_about_before_it_runs",
    "in_progress before the permission": "permissions: the_real_call_is_asked_about_before_it_runs",
    "instructions from elsewhere": "surroundings: instructions_come_from_the_sessions_directory",
    "a load without the user's words": "sessions: load_replays_the_whole_conversation",
    "a new session for an unknown id": "sessions: unknown_sessions_are_refused",
    "no list": "sessions: sessions_are_listed_newest_first",
    "no resume": "sessions: resume_replays_nothing_and_continues",
    "no fork": "sessions: a_fork_goes_its_own_way",
    "no close": "sessions: close_ends_the_turn_and_the_shell",
    "edits without diffs": "prompts: a_command_and_an_edit_are_shown_with_output_and_diff",
    "a task tracker whose calls never complete": "prompts: a_plan_update_whose_call_completes",
    "errors of the model without a remedy": "failures: errors_have_a_kind_and_a_remedy",
    "retries in silence": "failures: retries_are_seen",
    "a process that outlives its stdin": "process: the_agent_ends_with_its_stdin",
    "shells and tmux sessions left behind": "process: the_agent_ends_with_its_stdin",
    "overrides of the environment ignored": "inherited: the_environment_over_nothing_saved",
    "a key that everybody can read": "secrets: the_file_of_the_key_is_its_owners_alone",
    "a key in what is kept": "secrets: a_provider_that_repeats_the_key",
    "markup in a command that breaks a run": "prompts: markup_in_a_command_is_just_text",
    "the system prompt as a thought": "process: stdout_is_the_protocol_alone",
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_each_flaw_has_its_test(flaw: str) -> None:
    """Which every run of the suite runs: it is not among the long ones."""
    file, _, name = FLAWS[flaw].partition(": ")
    text = (Path(__file__).parent / f"test_{file}.py").read_text()
    found = re.search(rf"((?:^@.*\n)*)^(?:async )?def test_{name}\(", text, re.MULTILINE)
    assert found is not None, name
    assert "long" not in found[1]
