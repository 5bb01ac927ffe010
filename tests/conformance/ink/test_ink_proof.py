"""Every counted case of the public ink-proof suite, compiled and played by us, against its transcript."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.shared import INK_PROOF, needs_ink_proof

from fabula.ink import Story, compile_ink, play_transcript


def counted_cases() -> list[str]:
    if not INK_PROOF.is_dir():
        return []
    names = sorted(case.name for case in INK_PROOF.iterdir() if (case / "metadata.json").is_file())
    return [
        name for name in names if not json.loads((INK_PROOF / name / "metadata.json").read_text("utf-8")).get("hide")
    ]


def compiled(name: str) -> str:
    folder = INK_PROOF / name
    result = compile_ink(
        (folder / "story.ink").read_text("utf-8-sig"),
        include=lambda file: (folder / file).read_text("utf-8-sig") if (folder / file).is_file() else None,
    )
    assert result.story_json is not None, result.errors
    return result.story_json


def inputs(name: str) -> Iterator[str]:
    return iter((INK_PROOF / name / "input.txt").read_text("utf-8").splitlines())


def expected(name: str) -> str:
    return (INK_PROOF / name / "transcript.txt").read_text("utf-8").rstrip()


def transcript(story: Story, typed: Iterator[str]) -> str:
    out: list[str] = []
    play_transcript(story, typed, out.append)
    return "".join(out).rstrip()


@needs_ink_proof
def test_the_suite_is_there() -> None:
    assert len(counted_cases()) > 100


@pytest.mark.parametrize("name", counted_cases())
def test_a_case_plays_as_its_transcript(name: str) -> None:
    assert transcript(Story(compiled(name)), inputs(name)) == expected(name)


@pytest.mark.parametrize("name", counted_cases())
def test_a_case_plays_the_same_from_json_that_was_written_again(name: str) -> None:
    again = json.dumps(json.loads(compiled(name)), indent=1)
    assert transcript(Story(again), inputs(name)) == expected(name)


@pytest.mark.parametrize("name", counted_cases())
def test_a_case_plays_the_same_when_saved_and_loaded_after_every_line(name: str) -> None:
    story_json = compiled(name)
    story = Story(story_json)
    lines: list[str] = []
    typed = inputs(name)
    while True:
        while story.can_continue:
            lines.append(story.continue_())
            if story.current_tags:
                lines.append(f"# tags: {', '.join(story.current_tags)}\n")
            saved = story.state_json()
            story = Story(story_json, seed=99)
            story.load_state(saved)
            assert story.state_json() == saved
        if not story.current_choices:
            break
        lines.append("\n" + "".join(f"{choice.index + 1}: {choice.text}\n" for choice in story.current_choices) + "?> ")
        number = next(typed, None)
        if number is None:
            break
        story.choose(int(number) - 1)
    assert "".join(lines).rstrip() == expected(name)
