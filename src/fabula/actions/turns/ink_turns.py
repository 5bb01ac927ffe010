"""Turns of Ink plays: what the player may say now, the run that the loop works at, and how a play opens."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from fabula.actions.house import House
from fabula.actions.library.compiled_stories import InkPlaySetup
from fabula.actions.plays.sessions import state_at
from fabula.ink import InkEditedError
from fabula.knots.names import default_ai_seed
from fabula.loops.conversation.ink_run import CompiledStory, InkRun
from fabula.loops.conversation.persistence import OPENING_NODE, ink_view, messages_of, narrated, stood
from fabula.loops.conversation.player_move import chosen_index, label_of
from fabula.loops.conversation.questions import Asker
from fabula.loops.conversation.teller import Telling, edited
from fabula.loops.conversation.turn_record import Spoken
from fabula.loops.turns.stage import Stage
from fabula.ports.errors import Conflict, InvalidRequest
from fabula.ports.plays import MessageChange, Play, Turn
from fabula.ports.store import Unit
from fabula.story.ink_stories import InkPlay, InkStory, Waiting
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.state import Snapshot, WorldState
from fabula.story.values import JsonObject

FIRST_VARIATION = 1
"""The seed of an Ink turn: the play itself is seeded, so this counts how often the same words were played."""


async def ink_state_at(house: House, unit: Unit, turn_id: str) -> PlayState | None:
    """An Ink play after a turn, remembered or read; None when no Ink story is played."""
    known = house.turn_states.after(turn_id)
    if known is not None:
        return known.play if known.play.ink is not None else None
    stored = await unit.plays.state(turn_id)
    return None if stored is None or stored.get("ink") is None else PlayState.model_validate(stored)


async def ink_at(unit: Unit, turn_id: str) -> InkPlay | None:
    """Where an Ink play stood after a turn; None when no Ink story is played."""
    stored = (await unit.plays.state(turn_id) or {}).get("ink")
    return None if stored is None else InkPlay.model_validate(stored)


@dataclass(frozen=True, kw_only=True)
class InkTurnStart:
    """What a turn of an Ink play starts from: its state, and what the session plays."""

    before: PlayState
    ink: InkPlay
    session: SessionSettings
    material: InkPlaySetup


async def cached_ink_turn_start(house: House, unit: Unit, session_id: str, before: PlayState) -> InkTurnStart | None:
    """What a turn starts from, if nothing has to be compiled or loaded for it. Awaits nothing but the unit."""
    assert before.ink is not None, "only Ink plays have such moments"
    played = await house.works.at_hand(unit, session_id)
    if played is None or not played.material.work.is_near(before.ink.state):
        return None
    return InkTurnStart(before=before, ink=before.ink, session=played.session, material=played.material)


async def read_ink_turn_start(house: House, unit: Unit, session_id: str, turn_id: str) -> InkTurnStart:
    """What the turn after this one starts from; its story is compiled, and its place loaded, if needed."""
    known = house.turn_states.after(turn_id)
    before = await state_at(unit, turn_id) if known is None else known.play
    assert before.ink is not None, "only Ink plays have such moments"
    played = await house.works.played_by(unit, session_id)
    with suppress(InkEditedError):
        await played.material.work.story_at(before.ink.state)
    return InkTurnStart(before=before, ink=before.ink, session=played.session, material=played.material)


async def ink_words(unit: Unit, play: Play, turn_start: InkTurnStart, said: str | None, choice: int | None) -> str:
    """The words of the turn to be: a choice by its label, anything else as it was said."""
    waiting = turn_start.ink.waiting
    if waiting.kind == "nothing":
        raise Conflict("The story has ended. Go back with session.backtrack, or start it anew.")
    if choice is not None and said is not None:
        raise InvalidRequest("Send either `choice` or `player_input`, not both.")
    await _still_there(turn_start.material.work, turn_start.ink, unit, play)
    if waiting.kind == "choice":
        return _chosen(waiting, said, choice)
    if choice is not None:
        raise InvalidRequest("The story waits for words, not for a choice: send `player_input`.")
    if said is None:
        raise InvalidRequest("The story waits for words: send `player_input`; an empty one is silence.")
    return said


def _chosen(waiting: Waiting, said: str | None, choice: int | None) -> str:
    if choice is None:
        return label_of(waiting, chosen_index(waiting, said or ""))
    if choice >= len(waiting.choices):
        raise InvalidRequest(f"There is no choice {choice}: {len(waiting.choices)} are on offer, counted from 0.")
    return label_of(waiting, choice)


async def _still_there(work: CompiledStory, ink: InkPlay, unit: Unit, play: Play) -> None:
    """Refuses a turn whose place was edited away, and names the turn from which play can go on."""
    try:
        work.find(ink.state)
    except InkEditedError as error:
        refusal = edited(error)
        turn_id = await _last_sound(work, unit, play)
        raise Conflict(refusal.message, **refusal.data, resume_turn_id=turn_id) from error


async def _last_sound(work: CompiledStory, unit: Unit, play: Play, *, most: int = 100) -> str | None:
    """The nearest earlier turn whose place still exists, looked for among the last hundred."""
    turn = await unit.plays.turn(play.head_turn_id)
    for _ in range(most):
        if turn is None or turn.parent_id is None:
            return None
        turn = await unit.plays.turn(turn.parent_id)
        state = None if turn is None else await state_at(unit, turn.turn_id)
        if turn is not None and state is not None and state.ink is not None:
            try:
                work.find(state.ink.state)
            except InkEditedError:
                continue
            return turn.turn_id
    return None


def ink_run(house: House, turn: Turn, stage: Stage, turn_start: InkTurnStart) -> InkRun:
    """The run of a turn."""
    return InkRun(
        turn=turn,
        before=turn_start.before,
        work=turn_start.material.work,
        asker=_asker(house, turn_start.session, turn_start.material, turn),
        turn_states=house.turn_states,
        store=house.store,
        clock=house.clock,
        ids=house.ids,
        stage=stage,
    )


async def asker_of(house: House, unit: Unit, session: SessionSettings) -> Asker:
    """Who asks the session's models before its first turn."""
    return _asker(house, session, await house.works.material(unit, session))


def _asker(house: House, session: SessionSettings, material: InkPlaySetup, turn: Turn | None = None) -> Asker:
    return Asker(
        models=house.models,
        session=session,
        preset=material.preset,
        group=material.group,
        apis=material.apis,
        api_revisions=material.api_revisions,
        deadline=house.clock.monotonic() + house.settings.turn_deadline_s,
        turn_id=None if turn is None else turn.turn_id,
        variation=1 if turn is None else turn.seed,
    )


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A play at its first stop."""

    state: PlayState
    spoken: Sequence[Spoken]
    view: JsonObject

    def messages(self, house: House, turn_id: str) -> list[MessageChange]:
        return messages_of(self.spoken, ids=house.ids, now=house.clock.now_ms(), turn_id=turn_id, turn_index=0, first=0)


async def open_ink(
    house: House, story: InkStory, asker: Asker, *, seed: int | None, player_name: str, description: str
) -> Opened:
    """Tells a story from its beginning. A seed given makes RANDOM, shuffles and the AI repeatable together."""
    work = await house.works.of(story.source, story.files)
    told = work.published.fresh(seed=secrets.randbits(31) if seed is None else seed)
    ink = InkPlay(state="", ai_seed=default_ai_seed() if seed is None else seed, waiting=Waiting(kind="nothing"))
    telling = Telling(story=told, spoilers=work.published.spoilers, ink=ink, asker=asker, tell=_unheard)
    ink = await telling.go_on()
    before = PlayState(
        snapshot=Snapshot(
            story_id=story.story_id,
            player_description=description,
            world_state=WorldState(current_node=OPENING_NODE),
        ),
        graph=work.published.digest,
        player_name=player_name,
    )
    spoken = narrated(telling.lines)
    state = stood(before, told, ink, turn_index=0, said=len(spoken))
    return Opened(state=state, spoken=spoken, view=ink_view(ink, telling.lines))


def _unheard(type: str, **fields: object) -> None:
    """Nobody listens before a session exists; what was told is in its transcript."""
