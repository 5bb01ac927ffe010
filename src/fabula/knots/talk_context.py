"""The context of a talk: everything that one message to a character needs, gathered from the story and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from fabula.ink import Analysis, InkError, Story
from fabula.ink.analysis import SpanKind
from fabula.knots.character_lines import chosen_lines
from fabula.knots.evaluation import Evaluator, evaluator
from fabula.knots.names import KnotRequest, shown_name
from fabula.knots.published import Published
from fabula.knots.story_steps import OPENING_STEPS, Ration, line_of, passage, tried
from fabula.knots.talk_memory import in_short, known_history
from fabula.language.vocabulary import normal, spaced
from fabula.story.contexts import InkAgentContext, RecalledLine
from fabula.story.ink_stories import InkPlay, Talk

GOAL_LINES = 8
GOAL_STEPS = 200_000


@dataclass(frozen=True, kw_only=True)
class TalkContext:
    """Who is asked, what they are told, and what they may not tell."""

    context: InkAgentContext
    evaluator: Evaluator

    @property
    def character(self) -> str | None:
        return self.context.character


def gather_talk_context(
    published: Published,
    story: Story,
    request: KnotRequest,
    ink: InkPlay,
    lines: Sequence[str],
    goal: Sequence[str],
    said: str,
    memories: Sequence[RecalledLine] = (),
) -> TalkContext:
    """The context of a message. Lines of the character's knot that tell of knots not visited are left out."""
    heard = [one.text for one in ink.history if one.kind != "said"]
    outer = published.spoilers.guard(visited=story.visited, also_open=[request.character], allowed=[*goal, *heard])
    own = [line for line in lines if not outer.leaks(line)]
    voice, knowledge = chosen_lines(own, said)
    context = InkAgentContext(
        character=shown_name(request.character) if request.character else None,
        voice=list(voice),
        knowledge=list(knowledge),
        story_so_far=known_history(ink.history, request.character),
        earlier=ink.earlier,
        talk=ink.talks.get(request.character, Talk()),
        goal=list(goal),
        memories=list(memories),
        player_input=said,
    )
    known = spaced(normal(text).strip() for text in [*own, *heard])
    return TalkContext(
        context=context, evaluator=evaluator(outer, [line for line in goal if normal(line) not in known])
    )


def goal_passage(published: Published, story: Story, target: str) -> tuple[str, ...]:
    """The first passage at the target, found by running a copy; what lies behind the target's knot is not in it.

    Texts that a model would write into it are left out. Where the target breaks, or never stops, it ends.
    """
    copy, home = story.fork(), _home(published.analysis, target)
    guard = published.spoilers.guard(visited=story.visited, also_open=home)
    told = tried(copy, copy.resume, Ration(left=GOAL_STEPS, line=GOAL_STEPS), answers=("generate", "seed"))
    found: list[str] = []
    with suppress(InkError):
        for line in islice(passage(copy, told, home=home, cut=guard.cut), GOAL_LINES):
            found.append(line)
    return tuple(found)


def _home(analysis: Analysis, target: str) -> frozenset[str]:
    """The knots whose words are the target's own: its own knot, where a flow without words leads to, all functions."""
    flows = {flow.name: flow for flow in analysis.flows}
    knot, _, inside = target.partition(".")
    stitch = f"{knot}.{inside.partition('.')[0]}"
    waiting = [stitch if stitch in flows else knot]
    found = {knot, "agent", "continue", *(flow.name for flow in analysis.flows if flow.is_function)}
    looked: set[str] = set()
    while waiting:
        flow = flows.get(waiting.pop())
        if flow is not None and flow.name not in looked:
            looked.add(flow.name)
            found.add(flow.name.split(".")[0])
            if not any(span.kind is SpanKind.TEXT for span in flow.spans):
                waiting += flow.leads_to
    return frozenset(found)


def introduction_of(published: Published) -> str:
    """The first words of a story that a reader sees."""
    story = published.fresh(seed=0)
    told = tried(story, story.continue_, Ration(left=OPENING_STEPS), answers=("generate", "seed"))
    try:
        lines = (line for text in told for line in line_of(story, text))
        return next((in_short(line.text) for line in lines if line.text and not line.context), "")
    except InkError:
        return ""
