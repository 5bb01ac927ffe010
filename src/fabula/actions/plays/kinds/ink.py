"""Plays of Ink stories: the written story tells, offers choices, and lets its characters talk back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.actions.house import House
from fabula.actions.plays.amend import AtHead
from fabula.actions.plays.kinds.ink_turns import (
    FIRST_VARIATION,
    InkTurnStart,
    ink_in,
    ink_start_at_hand,
    ink_words,
    open_ink,
    read_ink_start,
    refuse_edited,
)
from fabula.actions.plays.kinds.protocol import Move, Opening, Player, RolePrompt, RoleQuestion
from fabula.actions.repositories import INK_STORIES
from fabula.actions.setups.play_setup import KeptSetup
from fabula.knots.edited_history import reworded
from fabula.loops.ink import knot_player
from fabula.loops.ink.persistence import ink_view
from fabula.loops.ink.player_move import chosen_index
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.errors import InvalidRequest
from fabula.ports.plays import Play, Turn
from fabula.ports.store import TurnBasis, Unit
from fabula.story.changes import Bounds
from fabula.story.directives import Directive
from fabula.story.free_plays import FreePlay
from fabula.story.ink_stories import InkStory
from fabula.story.plays import PlayState, SessionCharacter, SessionSettings
from fabula.story.session_zero import SessionZero
from fabula.story.stage import CastMember, OnStage, SceneOnStage
from fabula.story.state import MemoryEntry, StateUpdate
from fabula.story.story_templates import TemplateNow
from fabula.story.values import Value


class InkPlays:
    name = "ink"
    can_be_cut = False
    """A story is saved where it waits for the player, and nothing of a talk is told before all of it is decided."""
    has_scenes = False

    def plays(self, story: Value) -> bool:
        return isinstance(story, InkStory)

    def load(self) -> None:
        knot_player()

    def is_played_in(self, state: PlayState) -> bool:
        return state.ink is not None

    def loop(self, state: PlayState) -> str:
        return "ink_talk" if self.somebody_listens(state) else "ink"

    async def open(
        self, house: House, session: SessionSettings, player: Player, *, turn_id: str, seed: int | None
    ) -> Opening:
        return await open_ink(house, session, player, turn_id=turn_id, seed=seed)

    def kept_for(self, house: House, session_id: str) -> KeptSetup | None:
        names = house.compiled_stories.names_for(session_id)
        return None if names is None else KeptSetup(names=names)

    async def setup(self, house: House, unit: Unit, session_id: str, state: PlayState) -> PlaySetup | None:
        return None

    def prepare_at_hand(
        self, house: House, basis: TurnBasis, before: PlayState, *, said: str | None, choice: int | None
    ) -> Move | None:
        start = ink_start_at_hand(house, basis, before)
        if start is None:
            return None
        return Move(words=ink_words(start, said, choice), seed=FIRST_VARIATION, start=start)

    async def prepare(
        self,
        house: House,
        unit: Unit,
        play: Play,
        before: PlayState,
        *,
        said: str | None,
        choice: int | None,
    ) -> Move:
        start = await read_ink_start(house, unit, play.session_id, before, play.owner_token_id)
        await refuse_edited(unit, play, start)
        return Move(words=ink_words(start, said, choice), seed=FIRST_VARIATION, start=start)

    async def read_start(self, house: House, unit: Unit, turn: Turn, before: PlayState) -> InkTurnStart:
        play = await unit.plays.get(turn.session_id)
        owner = None if play is None else play.owner_token_id
        return await read_ink_start(house, unit, turn.session_id, before, owner)

    def seed_of_repeat(self, turn: Turn, given: int | None, *, anew: bool, newest: int) -> int | None:
        """The play itself is seeded: the seed of a turn counts how often the same words were played."""
        return max(turn.seed, newest) + 1 if anew else turn.seed

    def view(self, state: PlayState) -> Mapping[str, Any]:
        return {"ink": ink_view(ink_in(state))}

    async def on_stage(self, house: House, unit: Unit, session: SessionSettings, state: PlayState) -> OnStage:
        """Only who was talked to is named: the rest of the cast would give the story away."""
        story = await INK_STORIES.get(unit, session.story_id)
        ink = ink_in(state)
        talks_to = ink.waiting.character
        names = dict.fromkeys([*ink.talks, *([talks_to] if talks_to else [])])
        cast = [CastMember(id=name, kind="character", name=name, in_scene=name == talks_to) for name in names]
        player = CastMember(id="player", kind="player", name=state.player_name, in_scene=True)
        scene = SceneOnStage(node_id=state.world.current_node, title=story.display_name, number=1)
        return OnStage(scene=scene, cast=[*cast, player])

    def choice_taken(self, before: PlayState, words: str) -> int | None:
        waiting = ink_in(before).waiting
        if waiting.kind != "choice":
            return None
        try:
            return chosen_index(waiting, words)
        except InvalidRequest:
            return None

    async def scene_titles(self, house: House, unit: Unit, state: PlayState) -> Mapping[str, str]:
        return {}

    def somebody_listens(self, state: PlayState) -> bool:
        return ink_in(state).waiting.kind in ("agent", "continue")

    async def prompt(
        self, house: House, unit: Unit, session: SessionSettings, play: Play, state: PlayState, asked: RoleQuestion
    ) -> RolePrompt:
        if asked.role == "replyer":
            raise _not_in_ink("it offers its own choices; `ink` of the session shows them")
        raise _not_in_ink(f"the {asked.role} is not asked in it, because AI knots have prompts of their own")

    async def say(self, at: AtHead, line: MemoryEntry) -> PlayState:
        raise _not_in_ink("the story alone tells; what it told can be changed")

    def reword(self, state: PlayState, old: MemoryEntry, new: MemoryEntry | None) -> PlayState:
        return state.model_copy(update={"ink": reworded(ink_in(state), old, new)})

    def describe_player(self, state: PlayState, description: str) -> PlayState:
        raise _not_in_ink("its author wrote who the player is, and no prompt would name the description")

    def add_guest(self, state: PlayState, guest: SessionCharacter, *, enters: bool) -> PlayState:
        raise _not_in_ink("its author wrote its cast, and nobody would meet the guest")

    async def bounds(self, house: House, unit: Unit, session: SessionSettings, state: PlayState) -> Bounds:
        return Bounds()

    async def change_variables(self, at: AtHead, update: StateUpdate) -> PlayState:
        raise _not_in_ink("only the story sets its variables")

    def refuse_conversation(self) -> None:
        raise InvalidRequest("Characters of an Ink story are talked with where the story has them wait for it.")

    def free_play(self, state: PlayState) -> FreePlay:
        raise _not_in_ink("its scenes are those of its author")

    def agree(self, state: PlayState, agreed: SessionZero | None) -> PlayState:
        if agreed is not None and (agreed.premise or agreed.themes):
            raise _not_in_ink("its author wrote what it is about; only boundaries can be set")
        return state.model_copy(update={"session_zero": agreed})

    def direct(self, state: PlayState, directives: list[Directive]) -> PlayState:
        if any(one.kind != "prohibit" or one.text for one in directives):
            raise _not_in_ink("it is told as its author wrote it; only phrases can be forbidden")
        return state.model_copy(update={"directives": directives})

    async def world_directives(
        self, house: House, unit: Unit, session_id: str, state: PlayState
    ) -> Sequence[Directive]:
        return ()

    def follow_template(self, state: PlayState, now: TemplateNow | None) -> PlayState:
        raise _not_in_ink("it is told as its author wrote it")

    async def template_setup(self, house: House, unit: Unit, session_id: str, state: PlayState) -> PlaySetup:
        raise _not_in_ink("it is told as its author wrote it")

    async def follow_story(self, at: AtHead) -> PlayState:
        raise _not_in_ink("it follows its story by itself")


def _not_in_ink(why: str) -> InvalidRequest:
    return InvalidRequest(f"This cannot be done in a play of kind 'ink': {why}.")
