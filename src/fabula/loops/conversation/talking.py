"""Talking: what a character may know is gathered, a decision is made, its words are looked at before they are told."""

from __future__ import annotations

from fabula.agents.knots.decisions import Decision, filler
from fabula.agents.knots.evaluation import Evaluator
from fabula.agents.knots.moments import Moment, gather_moment
from fabula.agents.knots.names import request_of
from fabula.loops.conversation.desk import InkWork, KnotDesk
from fabula.loops.conversation.telling import story_errors
from fabula.ports.gate import off_loop
from fabula.story.ink_stories import InkPlay


async def moment_of(desk: KnotDesk) -> Moment:
    """The moment of the state that the turn starts from; it is gathered once."""
    if not desk.gathered:
        with story_errors():
            asked = desk.work, desk.ink, desk.turn.player_input
            desk.gathered.append(
                _gather(*asked) if desk.work.knows(desk.ink.state) else await off_loop(_gather, *asked)
            )
    return desk.gathered[0]


def _gather(work: InkWork, ink: InkPlay, said: str) -> Moment:
    story = work.at(ink.state)
    request = request_of(story)
    assert request is not None, "a talk is a story that waits"
    lines = work.grounding(request.character, ink.ai_seed) if request.character else ()
    return gather_moment(work.published, story, request, ink, lines, work.goal(ink.state, story, request.target), said)


async def decide(desk: KnotDesk) -> Decision:
    """What the character makes of the player's words; what cannot be used is filled in character, and told."""
    moment = await moment_of(desk)
    decision = await desk.asker.decide(moment.context, desk.ink.ai_seed)
    if decision is None:
        desk.stage.tell("agent_degraded", agent="ink_agent", reason="its answer could not be used")
        return filler(moment.character, desk.turn.player_input)
    return decision


async def evaluate(desk: KnotDesk, decision: Decision) -> Decision:
    """The decision as it may be shown: one that tells too much is rewritten once, then cut."""
    moment = await moment_of(desk)
    watch: Evaluator = moment.evaluator
    if watch.findings(decision):
        again = await desk.asker.rewrite(moment.context, desk.ink.ai_seed)
        if again is not None:
            decision = again.model_copy(update={"outcome": decision.outcome, "weights": decision.weights})
    return watch.fit(decision, moment.character, desk.turn.player_input)
