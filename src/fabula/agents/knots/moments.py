"""The moment of a talk: everything that one message to a character needs, gathered from the story and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.agents.knots.evaluation import Evaluator, evaluator
from fabula.agents.knots.grounding import chosen_lines
from fabula.agents.knots.names import KnotRequest, shown_name
from fabula.agents.knots.published import Published
from fabula.agents.knots.vocabulary import normal, spaced
from fabula.ink import Story
from fabula.story.contexts import InkAgentContext
from fabula.story.ink_stories import InkPlay, Talk


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Who is asked, what they are told, and what they may not tell."""

    context: InkAgentContext
    evaluator: Evaluator

    @property
    def character(self) -> str | None:
        return self.context.character


def gather_moment(
    published: Published,
    story: Story,
    request: KnotRequest,
    ink: InkPlay,
    lines: Sequence[str],
    goal: Sequence[str],
    said: str,
) -> Moment:
    """The moment of a message. Lines of the character's knot that tell of knots not visited are left out."""
    heard = [one.text for one in ink.history if one.kind != "said"]
    outer = published.spoilers.guard(visited=story.visited, also_open=[request.character], allowed=[*goal, *heard])
    own = [line for line in lines if not outer.leaks(line)]
    voice, knowledge = chosen_lines(own, said)
    context = InkAgentContext(
        character=shown_name(request.character) if request.character else None,
        voice=list(voice),
        knowledge=list(knowledge),
        story_so_far=ink.history,
        earlier=ink.earlier,
        talk=ink.talks.get(request.character, Talk()),
        goal=list(goal),
        player_input=said,
    )
    known = spaced(normal(text).strip() for text in [*own, *heard])
    return Moment(context=context, evaluator=evaluator(outer, [line for line in goal if normal(line) not in known]))
