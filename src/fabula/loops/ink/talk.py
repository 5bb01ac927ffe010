"""Talking: what a character may know is gathered, a decision is made, its words are looked at before they are told."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.agents.talks.decisions import Decision, filler
from fabula.knots.evaluation import Evaluator
from fabula.knots.names import request_of
from fabula.knots.talk_context import TalkContext, gather_talk_context
from fabula.loops.ink.ink_run import CompiledStory, InkRun
from fabula.loops.ink.teller import story_errors
from fabula.ports.threads import run_in_thread
from fabula.story.contexts import RecalledLine
from fabula.story.events import AgentDegraded
from fabula.story.ink_stories import InkPlay


async def talk_context_of(run: InkRun) -> TalkContext:
    """The context of the state that the turn starts from; it is gathered once."""
    if not run.gathered:
        with story_errors():
            asked = run.work, run.ink, run.turn.player_input, run.recalled
            run.gathered.append(
                _gather(*asked) if run.work.knows(run.ink.state) else await run_in_thread(_gather, *asked)
            )
    return run.gathered[0]


def _gather(work: CompiledStory, ink: InkPlay, said: str, recalled: Sequence[RecalledLine]) -> TalkContext:
    story = work.at(ink.state)
    request = request_of(story)
    assert request is not None, "a talk is a story that waits"
    lines = work.character_lines(request.character, ink.ai_seed) if request.character else ()
    return gather_talk_context(
        work.published, story, request, ink, lines, work.goal(ink.state, story, request.target), said, recalled
    )


async def decide(run: InkRun) -> Decision:
    """What the character makes of the player's words; what cannot be used is filled in character, and told."""
    talk_context = await talk_context_of(run)
    decision = await run.asker.decide(talk_context.context, run.ink.ai_seed)
    if decision is None:
        run.stage.tell(AgentDegraded(agent="ink_agent", reason="its answer could not be used"))
        return filler(talk_context.character, run.turn.player_input)
    return decision


async def evaluate(run: InkRun, decision: Decision) -> Decision:
    """The decision as it may be shown: one that may not be told is rewritten once, then cut."""
    talk_context = await talk_context_of(run)
    watch: Evaluator = talk_context.evaluator
    crossed = run.asker.guardrails.objection_to(*_shown(decision).values())
    if crossed is not None or watch.findings(decision):
        run.asker.note("ink_agent", crossed)
        rule = None if crossed is None else crossed.rule
        again = await run.asker.rewrite(talk_context.context, run.ink.ai_seed, crossed=rule)
        if again is not None:
            decision = again.model_copy(update={"outcome": decision.outcome, "weights": decision.weights})
    decision = watch.fit(decision, talk_context.character, run.turn.player_input)
    cut = {name: run.asker.keep_to_limits("ink_agent", text) for name, text in _shown(decision).items()}
    return decision.model_copy(update=cut)


def _shown(decision: Decision) -> dict[str, str]:
    """What a client sees of a decision, by the names of its fields."""
    return {
        "reply": decision.reply,
        "bridge_text": decision.bridge_text,
        "guidance": decision.guidance,
        "reason": decision.reason,
    }
