"""Turns of plays of graphs: what a turn starts from, and the scene loop that plays it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fabula.actions.house import House
from fabula.actions.library.builtins import UNDERSTUDY
from fabula.actions.memories.inner_lives import inner_turn, moods_before
from fabula.actions.memories.prompt_memories import prompt_memories
from fabula.actions.plays.kinds.turn_models import is_for_understudy, models_of_turn
from fabula.actions.plays.past_summaries import story_so_far
from fabula.actions.plays.play_states import past_of
from fabula.actions.setups.scene_bundles import world_around
from fabula.loops.conversations import conversation_player
from fabula.loops.conversations import is_loaded as conversations_loaded
from fabula.loops.conversations.conversation_run import ConversationRun, Noting, apart
from fabula.loops.scene import is_loaded, scene_player
from fabula.loops.scene.contexts import untold_lines
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.player_line import read_ahead
from fabula.loops.scene.scene_run import SceneRun
from fabula.loops.turns.cut import Cut
from fabula.loops.turns.stage import Stage
from fabula.loops.turns.turn_state_cache import PastSummary, Standing, entry_of
from fabula.ports.errors import InvalidParams, InvalidRequest
from fabula.ports.plays import Turn
from fabula.ports.store import TurnBasis, Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.work import Work
from fabula.story.changes import turns_kept
from fabula.story.conversations import Conversation
from fabula.story.followers import SUMMARY_EVERY
from fabula.story.plays import PlayState
from fabula.story.readings import Understood
from fabula.story.seeds import FIRST_RANDOM_SEED
from fabula.story.state import MemoryEntry
from fabula.story.values import Json


@dataclass(frozen=True, kw_only=True)
class SceneTurnStart:
    """The state, what the session plays, and the end of the transcript."""

    before: PlayState
    setup: PlaySetup
    past: Sequence[MemoryEntry]
    so_far: PastSummary | None = None
    read: dict[str, Understood | None] = field(default_factory=dict)
    """What was read ahead, by the words."""

    def read_ahead(self, words: str) -> None:
        if self.before.conversation is None:
            self.read[words] = read_ahead(self.setup, self.before, words)

    def refuse_crossed(self, words: str, wish: str | None) -> None:
        self.setup.guardrails(self.before).refuse_crossed(words, wish or "")

    async def play(
        self, house: House, turn: Turn, stage: Stage, saver: Any, *, work: Work, cut: Cut, resumed: bool
    ) -> None:
        talking = self.before.conversation
        if talking is not None:
            await self._play_talk(house, turn, stage, saver, talking, work=work, cut=cut, resumed=resumed)
            return
        play_scene = scene_player() if is_loaded() else await run_in_thread(scene_player)
        run = await self._run(house, turn, stage, self.setup, self.before, work=work, cut=cut, resumed=resumed)
        await play_scene(run, saver, thread_id=work.work_id, resumed=resumed)

    async def _play_talk(
        self,
        house: House,
        turn: Turn,
        stage: Stage,
        saver: Any,
        talking: Conversation,
        *,
        work: Work,
        cut: Cut,
        resumed: bool,
    ) -> None:
        """A turn of a conversation: as if nobody else were there. Words are no deeds, so nothing is rolled."""
        play_conversation = (
            conversation_player() if conversations_loaded() else await run_in_thread(conversation_player)
        )
        setup, before = replace(self.setup, system=None), apart(self.before, talking)
        scene = await self._run(house, turn, stage, setup, before, work=work, cut=cut, resumed=resumed)
        there = tuple(self.before.world.active_characters)
        run = ConversationRun(conversation=talking, stage=Noting(recorder=stage.recorder), scene=scene, there=there)
        await play_conversation(run, saver, thread_id=work.work_id, resumed=resumed)

    async def _run(
        self,
        house: House,
        turn: Turn,
        stage: Stage,
        setup: PlaySetup,
        before: PlayState,
        *,
        work: Work,
        cut: Cut,
        resumed: bool,
    ) -> SceneRun:
        """What the turn works with, which begins at this state."""
        setup = setup.played_by(UNDERSTUDY) if is_for_understudy(work) else setup
        setup = setup.now(before)
        await setup.prepare()
        moods = await moods_before(turn, setup, before, self.past)
        recalled = await prompt_memories(house, turn, setup, before, self.past, stage.recorder, moods=moods)
        canon, places = await world_around(house.store, setup, before, began_at_ms=turn.created_at_ms)
        inner = await inner_turn(turn, setup, before, self.past, moods, recalled.recalled, stage.recorder)
        return SceneRun(
            turn=turn,
            held=work,
            before=before,
            setup=setup,
            past=self.past,
            turn_states=house.turn_states,
            store=house.store,
            models=models_of_turn(house, setup.preset, stage),
            clock=house.clock,
            ids=house.ids,
            stage=stage,
            deadline=house.clock.monotonic() + house.settings.turn_deadline_s,
            cut=cut,
            first_played=not resumed and turn.seed >= FIRST_RANDOM_SEED,
            so_far=self.so_far,
            recalled=recalled.lines,
            own_past=recalled.summaries,
            canon=canon,
            places=places,
            inner=inner,
            read=self.read.get(turn.player_input) if setup is self.setup and before is self.before else None,
        )


def scene_start_at_hand(house: House, basis: TurnBasis, before: PlayState) -> SceneTurnStart | None:
    """What a turn starts from, if what is kept and what was just read are enough."""
    play = basis.play
    setup = house.play_setups.if_current(play.session_id, before.graph, basis.revisions)
    if setup is None:
        return None
    known = house.turn_states.after(play.head_turn_id)
    left_out = untold_lines(setup, before)
    if known is not None and known.lines == setup.past_lines and left_out == _summed_up(known):
        return SceneTurnStart(before=before, setup=setup, past=known.past, so_far=known.so_far)
    if basis.state is None or left_out:
        return None
    # The lines that were asked for are those of the setup that was kept, which is the current one.
    return SceneTurnStart(before=before, setup=setup, past=[entry_of(message) for message in basis.past])


async def read_scene_start(
    house: House, unit: Unit, session_id: str, turn_id: str, before: PlayState
) -> SceneTurnStart:
    """What the turn after this one starts from."""
    setup = await house.play_setups.played_by(unit, session_id, before.graph)
    known = house.turn_states.after(turn_id)
    is_known = known is not None and known.lines == setup.past_lines
    past = known.past if known is not None and is_known else await past_of(unit, turn_id, setup.past_lines)
    so_far = await past_summary(unit, setup, turn_id, before, past)
    return SceneTurnStart(before=before, setup=setup, past=past, so_far=so_far)


def _summed_up(known: Standing) -> int:
    """How many lines are left out and summed up in what is kept."""
    return 0 if known.so_far is None else known.so_far.lines


async def past_summary(
    unit: Unit, setup: PlaySetup, turn_id: str, play: PlayState, past: Sequence[MemoryEntry]
) -> PastSummary | None:
    """What stands in the prompts after a turn for the lines that they leave out; None where they have all.

    It is the summary of some turns after the last one that is left out, as far back as possible: it stays the same for
    as long as the same lines are left out. Therefore it is never that of a turn that came later than these were.
    """
    left_out = untold_lines(setup, play)
    if not left_out:
        return None
    told = past[max(0, len(past) - play.message_count + left_out) :]
    shown = told if setup.told_history else play.world.actor_shared_history
    first = play.snapshot.turn_index + 1 - sum(entry.kind == "player_input" for entry in shown)
    kept = turns_kept(told, setup.told_history)
    overlap = SUMMARY_EVERY if kept is None else min(SUMMARY_EVERY, kept)
    at = await unit.plays.ancestor(turn_id, max(0, first - 1 + overlap))
    ladder = await story_so_far(unit, at.turn_id)
    return PastSummary(lines=left_out, text="" if ladder is None else ladder.text)


def words_of(said: str | None, choice: int | None) -> str:
    """What the player says in a story without choices."""
    if choice is not None:
        raise InvalidRequest("This story offers no choices: say it with `player_input`.")
    if said is None:
        missing: list[Json] = [{"field": "player_input", "message": "Field required"}]
        raise InvalidParams("The parameters do not fit: player_input: Field required.", errors=missing)
    if not said.strip():
        raise InvalidRequest("Say or do something: `player_input` is empty.")
    return said
