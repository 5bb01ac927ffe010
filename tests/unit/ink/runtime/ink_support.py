"""Small helps for tests of the Ink runtime."""

from __future__ import annotations

from functools import lru_cache

from fabula.ink import Story, compile_ink


@lru_cache(maxsize=256)
def compiled(source: str) -> str:
    result = compile_ink(source)
    assert result.story_json is not None, result.errors
    return result.story_json


def start(source: str, *, seed: int = 0) -> Story:
    return Story(compiled(source), seed=seed)


def texts(story: Story) -> list[str]:
    return [choice.text for choice in story.current_choices]


def play(story: Story, *choices: str) -> str:
    """Continues, takes the named choices one by one, and returns everything that was said."""
    said = story.continue_maximally()
    for text in choices:
        story.choose(texts(story).index(text))
        said += story.continue_maximally()
    return said
