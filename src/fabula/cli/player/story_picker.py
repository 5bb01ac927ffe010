"""Picks the story to play when none was named."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.library.stories import StorySummary, list_stories
from fabula.actions.listing import Listing
from fabula.cli.player.lines import Lines, typed_number
from fabula.cli.player.sentences import shortened
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import InvalidRequest, NotFound


async def pick_story(house: House, writer: TerminalWriter, lines: Lines) -> str:
    """The id of the story that the player chooses by number or id."""
    stories = (await list_stories(house, OPERATOR, Listing())).stories
    if not stories:
        raise NotFound("There is no story yet. `fabula samples install` brings some; `fabula story new` makes one.")
    if len(stories) == 1:
        return stories[0].story_id
    writer.say("Which story?", "bold")
    for number, story in enumerate(stories, 1):
        writer.say(f"{number}. {story.display_name} ({story.story_id})", indent=2)
        writer.say(_first_sentence(story), "dim", indent=5)
    answer = await lines.next("Number: ")
    if answer is None:
        raise InvalidRequest("No story was chosen. Name one with --story.")
    return _chosen(stories, answer)


def _chosen(stories: list[StorySummary], answer: str) -> str:
    number = typed_number(answer)
    if number is not None and 1 <= number <= len(stories):
        return stories[number - 1].story_id
    if answer in {story.story_id for story in stories}:
        return answer
    raise InvalidRequest(f"'{answer}' is none of them. Answer with a number from 1 to {len(stories)}.")


def _first_sentence(story: StorySummary) -> str:
    return shortened(" ".join(story.introduction.split()).split(". ")[0])
