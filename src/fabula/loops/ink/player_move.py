"""Playing a turn: the player's words move the story, and it is told on from there."""

from __future__ import annotations

import re

from fabula.agents.talks.decisions import Decision
from fabula.ink import Story
from fabula.knots.names import KnotRequest, request_of
from fabula.knots.talk_memory import exchanged
from fabula.loops.ink.ink_run import InkRun
from fabula.loops.ink.persistence import moved_on
from fabula.loops.ink.teller import Telling, input_asked, story_errors
from fabula.loops.ink.turn_record import Kept, Spoken
from fabula.ports.errors import InvalidRequest
from fabula.story.events import AgentOutcome, AgentReplyDelta, event_fields
from fabula.story.ink_stories import Heard, InkPlay, Talk, Waiting, labels_of
from fabula.story.values import JsonObject

_PIECES = re.compile(r"\S+\s*")
WORDS_PER_PIECE = 6


async def play_on(run: InkRun, decision: Decision | None) -> Kept:
    """Carries the turn out and answers everything that is to be kept of it."""
    with story_errors():
        story = await run.work.story_at(run.ink.state)
    spoilers = run.work.published.spoilers
    telling = Telling(story=story, spoilers=spoilers, ink=run.ink, asker=run.asker, tell=run.stage.tell, room=run.room)
    spoken: list[Spoken] = []
    outcome: JsonObject | None = None
    said = run.turn.player_input
    if decision is None:
        await _move(telling, run.ink.waiting, said)
    else:
        request = request_of(story)
        assert request is not None, "a talk is a story that waits"
        spoken, outcome = _speak(run, telling, request, decision)
        if not decision.goes_on:
            return moved_on(run, telling, _still(run, telling), spoken, outcome)
        await telling.take(lambda: story.resume())
    return moved_on(run, telling, await telling.go_on(), spoken, outcome)


async def _move(telling: Telling, waiting: Waiting, said: str) -> None:
    """A choice is taken, or a text is given."""
    story = telling.story
    if waiting.kind == "choice":
        place = chosen_index(waiting, said)
        # A line may have been drawn since the choice was offered.
        telling.heard([Heard(kind="choice", text=telling.asker.keep_to_limits("story", waiting.choices[place].text))])
        with story_errors():
            story.choose(place)
        return
    telling.heard([Heard(kind="said", text=said)])
    request = request_of(story)
    assert request is not None, "a text is given to a story that waits"
    with story_errors():
        _keep_in_variable(story, request, said)
    await telling.take(lambda: story.resume(said))


def label_of(waiting: Waiting, index: int) -> str:
    """What a choice is called so that no other is meant; a play that was kept long ago may hold another label."""
    return _labels(waiting)[index]


def chosen_index(waiting: Waiting, said: str) -> int:
    """The choice that a label names: to the letter, or else as the only one that reads like it."""
    readings = (
        [place for place, label in enumerate(_labels(waiting)) if label == said],
        [place for place, choice in enumerate(waiting.choices) if choice.label == said],
        [place for place, label in enumerate(_labels(waiting)) if label.casefold() == said.strip().casefold()],
    )
    found = next((places for places in readings if places), [])
    if len(found) == 1:
        return found[0]
    offered = "; ".join(f"{choice.index}: {choice.text}" for choice in waiting.choices)
    raise InvalidRequest(f"The story waits for a choice, and this is none of them. Send `choice`: {offered}.")


def _labels(waiting: Waiting) -> list[str]:
    return labels_of([choice.text for choice in waiting.choices])


def _keep_in_variable(story: Story, request: KnotRequest, said: str) -> None:
    if len(request.arguments) == 2:
        story.variables[request.arguments[1]] = said


def _speak(run: InkRun, telling: Telling, request: KnotRequest, decision: Decision) -> tuple[list[Spoken], JsonObject]:
    """Tells the reply in pieces, then the outcome, then the bridge; the talk remembers the exchange."""
    name = run.ink.waiting.character or ""
    for piece in pieces(decision.reply):
        run.stage.tell(AgentReplyDelta(character=name, delta=piece))
    outcome = outcome_of(decision)
    run.stage.tell(outcome)
    said = run.turn.player_input
    talk = exchanged(telling.ink.talks.get(request.character, Talk()), said, decision)
    telling.ink = telling.ink.model_copy(update={"talks": {**telling.ink.talks, request.character: talk}})
    to = request.character
    news = [Heard(kind="said", text=said, to=to)]
    if decision.reply:
        news.append(Heard(kind="reply", text=f"{name}: {decision.reply}" if name else decision.reply, to=to))
    if decision.bridge_text:
        news.append(Heard(kind="text", text=decision.bridge_text, to=to))
    telling.heard(news)
    spoken = [
        Spoken(
            kind="dialogue" if name else "narration",
            speaker_id=request.character,
            speaker_name=name,
            text=decision.reply,
        ),
        Spoken(kind="narration", text=decision.bridge_text),
    ]
    return [one for one in spoken if one.text], event_fields(outcome)


def outcome_of(decision: Decision) -> AgentOutcome:
    """A decision as clients are told of it."""
    return AgentOutcome(
        outcome=decision.outcome,
        reply=decision.reply,
        reason=decision.reason,
        bridge_text=decision.bridge_text or None,
        guidance=decision.guidance or None,
    )


def pieces(text: str) -> list[str]:
    """A reply in pieces of a few words, so that it is told and not dumped."""
    words: list[str] = _PIECES.findall(text)
    return ["".join(words[at : at + WORDS_PER_PIECE]) for at in range(0, len(words), WORDS_PER_PIECE)]


def _still(run: InkRun, telling: Telling) -> InkPlay:
    """The story stays where it is; the input stays open."""
    run.stage.tell(input_asked(run.ink.waiting))
    return telling.ink
