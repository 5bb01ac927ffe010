"""Free plays: a world, a cast and a start, and no plot. They are played as scenes are, on a map of the world."""

from __future__ import annotations

from dataclasses import replace

from fabula.actions.audit_notes import note_objections
from fabula.actions.house import House
from fabula.actions.plays.kinds.graph import GraphPlays
from fabula.actions.plays.kinds.protocol import Move, Opening, Player
from fabula.actions.setups.play_setup import gather_new_setup
from fabula.ports.plays import MessageChange, Play, SpokenMessage
from fabula.ports.store import TurnBasis, Unit
from fabula.story.free_plays import FreePlay, FreeWorld, next_aim
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.state import MemoryEntry
from fabula.story.stories import Story
from fabula.story.values import Value
from fabula.understudy.transitions import tell_opening


class BetweenScenes(Exception):
    """The next scene has not begun yet: whoever wants to play leads the story on first."""


class FreePlays(GraphPlays):
    name = "free"

    def plays(self, story: Value) -> bool:
        return isinstance(story, Story) and story.free is not None

    def is_played_in(self, state: PlayState) -> bool:
        return state.free is not None

    def free_play(self, state: PlayState) -> FreePlay:
        assert state.free is not None, "such a play is known by it"
        return state.free

    async def open(
        self, house: House, session: SessionSettings, player: Player, *, turn_id: str, seed: int | None
    ) -> Opening:
        """The first place is entered, and told of."""
        opening = await super().open(house, session, player, turn_id=turn_id, seed=seed)
        async with house.store.reading() as unit:
            setup = await gather_new_setup(unit, session)
        state = opening.state
        aim = next_aim(setup.free or FreeWorld(), state.world, here=state.world.current_node, outcome=None)
        free = FreePlay(aim=None if aim is None else aim.discovery_id, walked=True)
        node = setup.nodes[state.world.current_node]
        people = list(setup.names_of(state.world.active_characters, state).values())
        text = tell_opening(node, people, aim, seed=turn_id if seed is None else seed, told=[setup.introduction])
        checked = setup.guardrails(state, "narrator").cut(text)
        await note_objections(house, session.session_id, "narrator", checked.objections)
        return _told(house, replace(opening, state=state.model_copy(update={"free": free})), turn_id, checked.text)

    def prepare_at_hand(
        self, house: House, basis: TurnBasis, before: PlayState, *, said: str | None, choice: int | None
    ) -> Move | None:
        _refuse_between(before)
        return super().prepare_at_hand(house, basis, before, said=said, choice=choice)

    async def prepare(
        self, house: House, unit: Unit, play: Play, before: PlayState, *, said: str | None, choice: int | None
    ) -> Move:
        _refuse_between(before)
        return await super().prepare(house, unit, play, before, said=said, choice=choice)


def _refuse_between(before: PlayState) -> None:
    if before.free is not None and before.free.phase != "open" and not before.ended:
        raise BetweenScenes


def _told(house: House, opening: Opening, turn_id: str, text: str) -> Opening:
    """The opening with a line of the narrator's, which everybody there notices."""
    now, state = house.clock.now_ms(), opening.state
    here = state.world.active_characters
    said = SpokenMessage(
        message_id=house.ids.new("message"),
        turn_id=turn_id,
        turn_index=0,
        sequence=0,
        kind="narration",
        speaker_id="narrator",
        speaker_name="Narrator",
        text=text,
        heard_by=tuple(here),
        recorded_at_ms=now,
        created_at_ms=now,
        updated_at_ms=now,
    )
    entry = MemoryEntry(speaker_id="narrator", speaker_name="Narrator", kind="narration", text=text, heard_by=here)
    world = state.world.model_copy(update={"actor_shared_history": [entry]})
    state = state.with_world(world).model_copy(update={"message_count": 1})
    return replace(opening, state=state, messages=[MessageChange(op="say", message=said)])
