"""Sentences are broken between words."""

import pytest

from rookery.cli.output.wrap import wrapped


@pytest.mark.parametrize("width", range(20, 60))
def test_a_command_at_the_end_of_a_note_can_be_copied(width: int) -> None:
    note = "The agent has no memory of earlier turns. For a recap: rookery recap 647bc6ef0c"
    lines = wrapped(note, width).split("\n")
    assert lines[-1].endswith("rookery recap 647bc6ef0c")
    assert " ".join(lines) == note
