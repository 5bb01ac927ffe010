"""Show the lore of a scene: what was chosen to be said of it and why, and what is prepared for where it leads.

It is shown to whoever runs the play: how much there is to tell of a place says something about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state, known_state
from fabula.actions.plays.reached_turns import turn_within_reach
from fabula.actions.setups.scene_bundles import has_bundle, place_lore
from fabula.actions.views import Command, View
from fabula.loops.scene.scene_lore import places_ahead
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.story.graph import Node
from fabula.story.scene_lore import SOURCES, PlacePiece, SceneLoreKind, ScenePiece, SourceKind
from fabula.story.values import Id, Sparse, Value


class ShowSceneLore(Command):
    """`turn_id` is a turn of the play; else it is where the play stands."""

    turn_id: Id | None = None


class ScenePieceShown(Sparse):
    """A piece of a scene's lore. `source` and `source_id` are what it was made of, `why` says it in words. `known_to`
    are the only ones who know it, by id; `teller` is who would say it."""

    optional = frozenset({"known_to", "teller"})
    kind: SceneLoreKind
    text: str
    source: SourceKind
    source_id: str
    why: str
    known_to: list[str] = []
    teller: str | None = None


class PlacePrepared(Value):
    """What may be said at a place to which the scene leads. What is chosen of it depends on who is there then."""

    place: str
    title: str
    pieces: list[ScenePieceShown]


class SceneLoreShown(View):
    """The lore of the scene of a turn. `prepared` says whether the lore of the places ahead was made beforehand, by the
    follower of the turn; if not, the next turn works the same out itself."""

    type: Literal["scene_lore"] = "scene_lore"
    place: str
    title: str
    began_with_turn: int
    pieces: list[ScenePieceShown]
    prepared: bool
    ahead: list[PlacePrepared]


@allowed("author")
async def show_scene_lore(house: House, actor: Actor, session_id: str, command: ShowSceneLore) -> SceneLoreShown:
    """Tells what is said and felt in the scene of a play, why, and what is prepared for the places that it leads to."""
    async with house.store.reading() as unit:
        play, state = await head_state(unit, actor, session_id)
        if command.turn_id is not None:
            turn = await turn_within_reach(unit, actor, play, command.turn_id)
            if turn.status != "committed":
                raise InvalidRequest("This turn was not played to its end: it has left no scene behind.")
            state = await known_state(house, unit, turn.turn_id)
        setup = await kind_of_play(state).setup(house, unit, play.session_id, state)
        if setup is None:
            raise InvalidRequest("This cannot be done in a play of kind 'ink': its author wrote what is said in it.")
        places = places_ahead(setup, state.world.current_node)
        ahead = await place_lore(unit, setup, state, places)
        prepared = await has_bundle(unit, setup, state, places)
    mark = state.scenes[-1]
    return SceneLoreShown(
        place=mark.node_id,
        title=_title(setup.nodes, mark.node_id),
        began_with_turn=mark.turn_index,
        pieces=[_shown(one) for one in mark.lore],
        prepared=prepared,
        ahead=[
            PlacePrepared(
                place=place, title=_title(setup.nodes, place), pieces=[_may_be_said(one) for one in lore.pieces]
            )
            for place, lore in ahead.items()
        ],
    )


def _title(nodes: Mapping[str, Node], place: str) -> str:
    return nodes[place].title if place in nodes else place


def _shown(piece: ScenePiece) -> ScenePieceShown:
    return ScenePieceShown(
        kind=piece.kind,
        text=piece.text,
        source=piece.source.kind,
        source_id=piece.source.id,
        why=SOURCES[piece.source.kind],
        known_to=piece.known_to,
        teller=piece.teller,
    )


def _may_be_said(piece: PlacePiece) -> ScenePieceShown:
    source = piece.source
    return ScenePieceShown(
        kind=piece.kind, text=piece.text, source=source.kind, source_id=source.id, why=SOURCES[source.kind]
    )
