"""The flaws of the ancestor, a CLI on the same SDK, and the tests that show each of them absent."""

import re
from pathlib import Path

import pytest

FLAWS = {
    "no streaming": "prompts: test_G5_words_come_as_they_are_written",
    "a cancel that waits for the command": "cancel: test_G6_while_a_command_runs",
    "a cancel that waits for the model": "cancel: test_G6_before_the_first_word",
    "a cancel that is answered end_turn": "cancel: test_G6_while_the_model_speaks",
    "a server that stands still meanwhile": "cancel: test_G6_others_are_served_meanwhile",
    "a loop that is held": "process: test_the_loop_is_never_late",
    "blank permissions with made-up ids": "permissions: test_G9_the_real_call_before_it_runs",
    "in_progress before the permission": "permissions: test_G9_the_real_call_before_it_runs",
    "instructions of another directory": "surroundings: test_G3_instructions_of_the_directory",
    "a load without the person's words": "sessions: test_G4_load_tells_all_of_it",
    "a new session for an unknown id": "sessions: test_G4_unknown_sessions",
    "no list": "sessions: test_G4_the_list",
    "no resume": "sessions: test_G4_resume_tells_nothing_and_goes_on",
    "no fork": "sessions: test_G4_a_fork_goes_its_own_way",
    "no close": "sessions: test_G4_close_ends_the_turn_and_the_shell",
    "edits without diffs": "prompts: test_G5_a_command_and_an_edit",
    "a task tracker whose calls never complete": "prompts: test_G8_a_plan_whose_call_completes",
    "errors of the model without a remedy": "failures: test_errors_have_a_kind_and_a_remedy",
    "retries in silence": "failures: test_retries_are_seen",
    "a process that outlives its stdin": "process: test_T14_it_ends_with_its_stdin",
    "shells and tmux sessions left behind": "process: test_T14_it_ends_with_its_stdin",
    "overrides of the environment ignored": "inherited: test_the_environment_over_nothing_saved",
    "a key that everybody can read": "secrets: test_the_file_of_the_key_is_its_owners_alone",
    "a key in what is kept": "secrets: test_a_provider_that_repeats_the_key",
    "markup in a command that breaks a run": "prompts: test_G5_markup_is_just_text",
    "the system prompt as a thought": "process: test_stdout_is_the_protocol_alone",
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_each_flaw_has_its_test(flaw: str) -> None:
    """Which every run of the suite runs: it is not among the long ones."""
    file, _, name = FLAWS[flaw].partition(": ")
    text = (Path(__file__).parent / f"test_{file}.py").read_text()
    found = re.search(rf"((?:^@.*\n)*)^(?:async )?def {name}\(", text, re.MULTILINE)
    assert found is not None, name
    assert "long" not in found[1]
