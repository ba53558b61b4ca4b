"""The story is what the commands print, and it is told the same every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import Overread
from tests.tools.tell_story import STORY, markdown, tell


@pytest.mark.slow
def test_the_story_is_what_the_commands_print(tmp_path: Path, overread_cli: Overread) -> None:
    steps = tell(tmp_path)
    assert [step.exit_code for step in steps if " gate " in step.command] == [1, 0, 0]
    assert overread_cli("doctor", cwd=tmp_path).stdout.rstrip().endswith("healthy")
    assert markdown(steps) == STORY.read_text(encoding="utf-8"), "tell it anew: python -m tests.tools.tell_story"
