"""Golden transcripts: one folder per language feature, with a story, what is typed, and what is shown."""

from pathlib import Path

import pytest

from fabula.ink import Story, compile_ink, play_transcript

FOLDER = Path(__file__).parents[3] / "transcripts" / "ink"
FEATURES = sorted(folder.name for folder in FOLDER.iterdir())


def compiled(feature: str) -> str:
    folder = FOLDER / feature
    result = compile_ink(
        (folder / "story.ink").read_text("utf-8"),
        include=lambda name: (folder / name).read_text("utf-8"),
        file_name="story.ink",
    )
    assert result.story_json is not None, [str(problem) for problem in result.errors]
    return result.story_json


def test_there_is_a_transcript_for_every_feature() -> None:
    assert len(FEATURES) >= 100


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_plays_as_its_transcript(feature: str) -> None:
    shown: list[str] = []
    typed = (FOLDER / feature / "input.txt").read_text("utf-8").splitlines()
    play_transcript(Story(compiled(feature)), iter(typed), shown.append)
    assert "".join(shown) == (FOLDER / feature / "transcript.txt").read_text("utf-8")
