"""Plays of graphs: scenes that a director leads, with the variables that the schemas allow."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from fabula.actions.house import House
from fabula.actions.plays.amend import AtHead
from fabula.actions.plays.kinds.graph_turns import SceneTurnStart, read_scene_start, scene_start_at_hand, words_of
from fabula.actions.plays.kinds.protocol import Move, Opening, Player, RolePrompt, RoleQuestion
from fabula.actions.plays.kinds.scene_prompts import scene_context
from fabula.actions.plays.kinds.scene_stage import scene_on_stage
from fabula.actions.repositories import SESSIONS, STORIES
from fabula.actions.setups.play_setup import KeptSetup, gather_new_setup, graph_document, keep_graph
from fabula.actions.setups.scene_bundles import place_lore
from fabula.actions.views import refuse
from fabula.loops.conversations import conversation_player
from fabula.loops.scene import scene_player
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.scene_lore import begin_scene
from fabula.ports.errors import FabulaError, InvalidRequest
from fabula.ports.plays import Play, Turn
from fabula.ports.store import TurnBasis, Unit
from fabula.rules.off_screen import begin_off_screen, follow_threads
from fabula.story.changes import LARGEST_STATE, Bounds, apply_all, opening_state, remember, reworded, state_size
from fabula.story.conversations import MOST_TURNS
from fabula.story.directives import Directive
from fabula.story.free_plays import FreePlay
from fabula.story.graph import graph_problems
from fabula.story.guests import added, entered
from fabula.story.passing_time import begin_time
from fabula.story.people import first_relations
from fabula.story.plays import PlayState, SessionCharacter, SessionSettings
from fabula.story.seeds import FIRST_RANDOM_SEED
from fabula.story.session_zero import SessionZero
from fabula.story.stage import OnStage
from fabula.story.state import MemoryEntry, Snapshot, StateUpdate, WorldState
from fabula.story.stories import Story
from fabula.story.story_templates import TemplateNow
from fabula.story.templates import NAMELESS_PLAYER
from fabula.story.values import Value
from fabula.story.world_records import mark_world

VARIABLE_OPS = (
    "SetState",
    "RemoveState",
    "SetPlayerState",
    "RemovePlayerState",
    "SetCharacterState",
    "RemoveCharacterState",
)


class GraphPlays:
    name = "graph"
    can_be_cut = True
    has_scenes = True

    def plays(self, story: Value) -> bool:
        return isinstance(story, Story)

    def load(self) -> None:
        scene_player()
        conversation_player()

    def is_played_in(self, state: PlayState) -> bool:
        """Every state that no other kind claims: plays of graphs say nothing of their kind."""
        return True

    def loop(self, state: PlayState) -> str:
        return "scene" if state.conversation is None else "conversation"

    async def open(
        self, house: House, session: SessionSettings, player: Player, *, turn_id: str, seed: int | None
    ) -> Opening:
        """The start node is entered with the variables that the schemas give. Nothing is told yet."""
        async with house.store.reading() as unit:
            setup = await gather_new_setup(unit, session)
        refuse(graph_problems(setup.graph), "graph")
        document = await graph_document(setup.graph)
        state = PlayState(
            snapshot=Snapshot(
                story_id=session.story_id,
                player_description=player.description,
                world_state=WorldState(current_node=setup.graph.start_node),
            ),
            graph=hashlib.sha256(document).hexdigest(),
            player_profile_id=session.player_profile_id,
            player_name=player.name,
            dice_seed=seed,
        )
        opened = opening_state(setup.graph, setup.bounds(state))
        _check_size(opened.state)
        state = state.with_world(opened.state).entering(setup.graph.start_node)
        if setup.world is not None:
            start = setup.nodes[setup.graph.start_node]
            state = state.model_copy(update={"relations": first_relations(setup.world.people)})
            begun = begin_time(setup.world, state, start, minute=setup.world_minute).arrived()
            state = mark_world(None, begun, turn_id)
        state = begin_off_screen(state, setup.clocks, setup.threads, setup.conflicts, minute=setup.world_minute)
        quests = () if setup.world is None else setup.world.quests
        state, _ = follow_threads(state, setup.threads, quests=quests)
        async with house.store.reading() as unit:
            prepared = await place_lore(unit, setup, state, [setup.graph.start_node])
        state = begin_scene(setup, state, prepared.get(setup.graph.start_node))
        return Opening(
            state=state,
            documents=[document],
            cast=sorted(setup.characters),
            view={},
        )

    def kept_for(self, house: House, session_id: str) -> KeptSetup | None:
        return house.play_setups.kept_for(session_id)

    async def setup(self, house: House, unit: Unit, session_id: str, state: PlayState) -> PlaySetup | None:
        return await house.play_setups.played_by(unit, session_id, state.graph)

    def prepare_at_hand(
        self, house: House, basis: TurnBasis, before: PlayState, *, said: str | None, choice: int | None
    ) -> Move | None:
        words = _refuse_worn_out(before, words_of(said, choice))
        start = scene_start_at_hand(house, basis, before)
        if start is None:
            return None
        return Move(words=words, play_seed=before.dice_seed, start=start)

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
        words = _refuse_worn_out(before, words_of(said, choice))
        try:
            start = await read_scene_start(house, unit, play.session_id, play.head_turn_id, before)
        except FabulaError:
            # The turn itself finds out and fails, its words kept.
            return Move(words=words, play_seed=before.dice_seed)
        return Move(words=words, play_seed=before.dice_seed, start=start)

    async def read_start(self, house: House, unit: Unit, turn: Turn, before: PlayState) -> SceneTurnStart:
        assert turn.parent_id is not None
        return await read_scene_start(house, unit, turn.session_id, turn.parent_id, before)

    def seed_of_repeat(self, turn: Turn, given: int | None, *, anew: bool, newest: int) -> int | None:
        """Lots are drawn again, but where the seed of the turn followed from that of the play: a turn that failed is
        then played as it would have been, so that the play is the same each time."""
        is_drawn = turn.seed >= FIRST_RANDOM_SEED
        return given if anew or is_drawn or given is not None else turn.seed

    def view(self, state: PlayState) -> Mapping[str, Any]:
        return {} if state.conversation is None else {"conversation": state.conversation}

    async def on_stage(self, house: House, unit: Unit, session: SessionSettings, state: PlayState) -> OnStage:
        return await scene_on_stage(house, unit, session, state)

    def choice_taken(self, before: PlayState, words: str) -> int | None:
        return None

    async def scene_titles(self, house: House, unit: Unit, state: PlayState) -> Mapping[str, str]:
        return await house.scene_titles.of(unit, state.graph)

    def somebody_listens(self, state: PlayState) -> bool:
        return False

    async def prompt(
        self, house: House, unit: Unit, session: SessionSettings, play: Play, state: PlayState, asked: RoleQuestion
    ) -> RolePrompt:
        setup = (await house.play_setups.of(unit, session, state.graph)).now(state)
        await setup.prepare()
        context = await scene_context(unit, setup, state, play.head_turn_id, asked)
        told = [*getattr(context, "session_history", ()), *getattr(context, "shared_history", ())]
        allowed = [entry.text for entry in told if entry.kind != "player_input"]
        guard = setup.spoilers.guard(visited=setup.open_scenes(state), state=state.world, allowed=allowed)
        return RolePrompt(agent=setup.agent(asked.role), api=setup.api(asked.role), context=context, guard=guard)

    async def say(self, at: AtHead, line: MemoryEntry) -> PlayState:
        window = (await _setup(at)).shared_window
        return at.state.with_world(remember(at.state.world, [line], limit=window))

    def reword(self, state: PlayState, old: MemoryEntry, new: MemoryEntry | None) -> PlayState:
        return state.with_world(reworded(state.world, old, new))

    def describe_player(self, state: PlayState, description: str) -> PlayState:
        snapshot = state.snapshot.model_copy(update={"player_description": description})
        unbound = {"player_profile_id": None, "player_name": NAMELESS_PLAYER}
        return state.model_copy(update={"snapshot": snapshot, **unbound})

    def add_guest(self, state: PlayState, guest: SessionCharacter, *, enters: bool) -> PlayState:
        known = added(state, guest)
        return entered(known, guest.session_character_id) if enters else known

    async def bounds(self, house: House, unit: Unit, session: SessionSettings, state: PlayState) -> Bounds:
        return (await house.play_setups.of(unit, session, state.graph)).bounds(state)

    async def change_variables(self, at: AtHead, update: StateUpdate) -> PlayState:
        for op in update.ops:
            if op.type not in VARIABLE_OPS:
                raise InvalidRequest(f"{op.type} is not allowed here: only variables can be changed by hand.")
        setup = await _setup(at)
        applied = apply_all(update.ops, at.state.snapshot.world_state, setup.bounds(at.state))
        if applied.refused:
            raise InvalidRequest(f"The variables were not changed: {applied.refused[0].reason}.")
        return at.state.with_world(applied.state)

    def refuse_conversation(self) -> None:
        pass

    def free_play(self, state: PlayState) -> FreePlay:
        raise InvalidRequest(
            "This is a written story: a scene ends when it is left, and its past is its author's. Go on, or play "
            "freely in a world instead."
        )

    def agree(self, state: PlayState, agreed: SessionZero | None) -> PlayState:
        return state.model_copy(update={"session_zero": agreed})

    def direct(self, state: PlayState, directives: list[Directive]) -> PlayState:
        return state.model_copy(update={"directives": directives})

    async def world_directives(
        self, house: House, unit: Unit, session_id: str, state: PlayState
    ) -> Sequence[Directive]:
        return (await house.play_setups.played_by(unit, session_id, state.graph)).directives

    def follow_template(self, state: PlayState, now: TemplateNow | None) -> PlayState:
        return state.model_copy(update={"template": now})

    async def template_setup(self, house: House, unit: Unit, session_id: str, state: PlayState) -> PlaySetup:
        return await house.play_setups.played_by(unit, session_id, state.graph)

    async def follow_story(self, at: AtHead) -> PlayState:
        session = await SESSIONS.get(at.looking, at.play.session_id)
        story = await STORIES.get(at.looking, session.story_id)
        here = at.state.world.current_node
        if story.graph.node(here) is None:
            raise InvalidRequest(f"The story has no node '{here}' any more, where this session stands. Go back first.")
        return at.state.model_copy(update={"graph": await keep_graph(at.unit, story.graph)})


def _refuse_worn_out(before: PlayState, words: str) -> str:
    """The words, unless they are said in a conversation that has had all its turns."""
    if before.conversation is not None and before.conversation.turns >= MOST_TURNS:
        raise InvalidRequest(f"This conversation has had its {MOST_TURNS} turns. Leave it first.")
    return words


def _check_size(state: WorldState) -> None:
    """Defaults of schemas are no operations, so what they add up to is looked at when a play starts."""
    size = state_size(state)
    if size > LARGEST_STATE:
        raise InvalidRequest(
            f"The variables that this story starts with have a size of {size} letters; {LARGEST_STATE} is the most. "
            "Shorten the defaults of its schemas, or declare fewer."
        )


async def _setup(at: AtHead) -> PlaySetup:
    session = await SESSIONS.get(at.looking, at.play.session_id)
    return await at.house.play_setups.of(at.looking, session, at.state.graph)
