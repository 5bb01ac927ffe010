"""Turns of Ink plays: what the player may say now, what a turn starts from, and how a play opens."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from fabula.actions.house import House
from fabula.actions.library.builtins import UNDERSTUDY
from fabula.actions.memories.prompt_memories import talk_memories
from fabula.actions.plays.kinds.protocol import Opening, Player
from fabula.actions.plays.kinds.turn_models import is_for_understudy, models_of_turn
from fabula.actions.plays.play_states import state_at
from fabula.actions.setups.compiled_stories import InkPlaySetup
from fabula.ink import InkEditedError
from fabula.knots.names import default_ai_seed
from fabula.loops.guardrails import Guardrails, guardrails_of
from fabula.loops.ink import is_loaded, knot_player
from fabula.loops.ink.ink_run import CompiledStory, InkRun
from fabula.loops.ink.persistence import OPENING_NODE, ink_view, messages_of, narrated, stood
from fabula.loops.ink.player_move import chosen_index, label_of
from fabula.loops.ink.questions import Asker
from fabula.loops.ink.teller import Telling, edited
from fabula.loops.turns.cut import Cut
from fabula.loops.turns.stage import Stage, unheard
from fabula.ports.errors import Conflict, InvalidRequest
from fabula.ports.models import ModelClients
from fabula.ports.plays import Play, Turn
from fabula.ports.store import TurnBasis, Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.work import Work
from fabula.story.directives import TELLING_AGENTS
from fabula.story.error_values import Hint
from fabula.story.ink_stories import InkPlay, Waiting
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.state import Snapshot, WorldState
from fabula.story.turn_results import InkTurnResult
from fabula.story.values import JsonObject

FIRST_VARIATION = 1
"""The seed of an Ink turn: the play itself is seeded, so this counts how often the same words were played."""


@dataclass(frozen=True, kw_only=True)
class InkTurnStart:
    """What a turn of an Ink play starts from: its state, what the session plays, and whose it is."""

    before: PlayState
    ink: InkPlay
    session: SessionSettings
    material: InkPlaySetup
    owner_token_id: str | None

    def read_ahead(self, words: str) -> None:
        """There is nothing to read: the story itself says what choices and words mean."""

    def refuse_crossed(self, words: str, wish: str | None) -> None:
        # A choice is made of the story's own words, of which those that cross a line were not shown.
        said = "" if self.ink.waiting.kind == "choice" else words
        ink_guardrails(self.before).refuse_crossed(said, wish or "")

    async def play(
        self, house: House, turn: Turn, stage: Stage, saver: Any, *, work: Work, cut: Cut, resumed: bool
    ) -> None:
        play_knots = knot_player() if is_loaded() else await run_in_thread(knot_player)
        material = self.material.played_by(UNDERSTUDY) if is_for_understudy(work) else self.material
        recalled = await talk_memories(house, turn, self.before, self.ink, stage.recorder)
        run = InkRun(
            recalled=recalled,
            turn=turn,
            held=work,
            before=self.before,
            work=material.work,
            asker=replace(
                _asker(house, self.session, material, turn, models_of_turn(house, material.preset, stage)),
                recorder=stage.recorder,
                guardrails=ink_guardrails(self.before),
                agreed=self.before.session_zero,
            ),
            turn_states=house.turn_states,
            store=house.store,
            clock=house.clock,
            ids=house.ids,
            stage=stage,
            room=partial(house.ink_runs.place_of, self.owner_token_id),
        )
        await play_knots(run, saver, thread_id=work.work_id, resumed=resumed)


def ink_guardrails(state: PlayState) -> Guardrails:
    """What is kept at the table of an Ink play, whose story belongs to no world."""
    return guardrails_of(state.session_zero, directives=state.directives, who=TELLING_AGENTS, minute=state.minute)


def ink_in(state: PlayState) -> InkPlay:
    """Where an Ink play stands."""
    assert state.ink is not None, "only Ink plays come here"
    return state.ink


def ink_start_at_hand(house: House, basis: TurnBasis, before: PlayState) -> InkTurnStart | None:
    """What a turn starts from, if nothing has to be compiled or loaded for it, and its place was not edited away."""
    ink = ink_in(before)
    played = house.compiled_stories.if_current(basis.play.session_id, basis.revisions)
    if played is None or not played.material.work.is_near(ink.state):
        return None
    try:
        played.material.work.find(ink.state)
    except InkEditedError:
        return None
    owner = basis.play.owner_token_id
    return InkTurnStart(before=before, ink=ink, session=played.session, material=played.material, owner_token_id=owner)


async def read_ink_start(
    house: House, unit: Unit, session_id: str, before: PlayState, owner_token_id: str | None
) -> InkTurnStart:
    """The same; its story is compiled, and its place loaded, if needed."""
    ink = ink_in(before)
    played = await house.compiled_stories.played_by(unit, session_id)
    with suppress(InkEditedError):
        await played.material.work.story_at(ink.state)
    return InkTurnStart(
        before=before, ink=ink, session=played.session, material=played.material, owner_token_id=owner_token_id
    )


def ink_words(turn_start: InkTurnStart, said: str | None, choice: int | None) -> str:
    """The words of the turn to be: a choice by its label, anything else as it was said."""
    waiting = turn_start.ink.waiting
    if waiting.kind == "nothing":
        raise Conflict("The story has ended. It can be started anew.", hint=Hint.BACKTRACK)
    if choice is not None and said is not None:
        raise InvalidRequest("Send either `choice` or `player_input`, not both.")
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


async def refuse_edited(unit: Unit, play: Play, turn_start: InkTurnStart) -> None:
    """Refuses a turn whose place was edited away, and names the turn from which play can go on."""
    work = turn_start.material.work
    if turn_start.ink.waiting.kind == "nothing":
        return
    try:
        work.find(turn_start.ink.state)
    except InkEditedError as error:
        refusal = edited(error)
        turn_id = await _last_sound(work, unit, play)
        raise Conflict(refusal.message, hint=refusal.hint, **refusal.data, resume_turn_id=turn_id) from error


async def _last_sound(work: CompiledStory, unit: Unit, play: Play, *, most: int = 100) -> str | None:
    """The nearest earlier turn whose place still exists, looked for among the last hundred."""
    turn = await unit.plays.turn(play.head_turn_id)
    for _ in range(most):
        if turn is None or turn.parent_id is None:
            return None
        turn = await unit.plays.turn(turn.parent_id)
        if turn is None:
            return None
        try:
            await work.story_at(ink_in(await state_at(unit, turn.turn_id)).state)
        except InkEditedError:
            continue
        return turn.turn_id
    return None


def _asker(
    house: House,
    session: SessionSettings,
    material: InkPlaySetup,
    turn: Turn | None = None,
    models: ModelClients | None = None,
) -> Asker:
    return Asker(
        models=models or house.models,
        session=session,
        preset=material.preset,
        group=material.group,
        apis=material.apis,
        api_revisions=material.api_revisions,
        deadline=house.clock.monotonic() + house.settings.turn_deadline_s,
        turn_id=None if turn is None else turn.turn_id,
        variation=1 if turn is None else turn.seed,
        wish=None if turn is None else turn.wish,
    )


async def open_ink(
    house: House, session: SessionSettings, player: Player, *, turn_id: str, seed: int | None
) -> Opening:
    """Tells a story from its beginning. A seed given makes RANDOM, shuffles and the AI repeatable together.

    The opening may ask a model for texts, so it is told before anything is written.
    """
    material = await house.compiled_stories.reading(
        house.store, lambda unit: house.compiled_stories.material(unit, session)
    )
    work = material.work
    told = work.published.fresh(seed=secrets.randbits(31) if seed is None else seed)
    ink = InkPlay(state="", ai_seed=default_ai_seed() if seed is None else seed, waiting=Waiting(kind="nothing"))
    asker = _asker(house, session, material)
    room = partial(house.ink_runs.place_of, player.token_id)
    telling = Telling(story=told, spoilers=work.published.spoilers, ink=ink, asker=asker, tell=unheard, room=room)
    ink = await telling.go_on()
    before = PlayState(
        snapshot=Snapshot(
            story_id=session.story_id,
            player_description=player.description,
            world_state=WorldState(current_node=OPENING_NODE),
        ),
        graph=work.published.digest,
        player_profile_id=session.player_profile_id,
        player_name=player.name,
    )
    spoken = narrated(telling.lines)
    state, view = stood(before, told, ink, turn_index=0, said=len(spoken)), ink_view(ink, telling.lines)
    opened: InkTurnResult = {
        "turn_id": turn_id,
        "turn_index": 0,
        "player_input": "",
        "completed_beats": [],
        "ink": {**view, "outcome": None},
        "snapshot": state.snapshot.as_json(),
    }
    return Opening(
        state=state,
        messages=messages_of(spoken, ids=house.ids, now=house.clock.now_ms(), turn_id=turn_id, turn_index=0, first=0),
        view={"ink": view},
        result=cast(JsonObject, opened),
    )
