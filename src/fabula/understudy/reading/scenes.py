"""The words of a scene, gathered from what a story has of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fabula.story.contexts import SceneContext
from fabula.story.graph import MOST_WAYS_READ, Node, Transition, tests_of
from fabula.understudy.reading.ways import Person, SceneText, WayText, test_of, words_for

LONGEST_READ: Final = 10_000
"""So many letters are read of what a scene says, and of what it is for."""
LONGEST_TEST: Final = 1_000
MOST_ELSEWHERE: Final = 100


@dataclass(frozen=True, kw_only=True)
class Somebody:
    """A character as far as a line can name them."""

    id: str
    name: str
    personality: str
    here: bool


def scene_text(
    node: Node, nodes: Mapping[str, Node], people: Iterable[Somebody], lore: Sequence[tuple[str, tuple[str, ...]]]
) -> SceneText:
    """The words of a node: its own, those of where its ways lead, of its people, and of the lore.

    Each way is read against all of the scene, so that both are read so far and no further.
    """
    return SceneText(
        node_id=node.id,
        title=node.title,
        scene=node.scene[:LONGEST_READ],
        goal=node.goal[:LONGEST_READ],
        ways=tuple(_way(way, nodes.get(way.to)) for way in node.transitions[:MOST_WAYS_READ]),
        people=tuple(Person(id=one.id, words=words_for(one.name, one.personality), here=one.here) for one in people),
        lore=tuple(lore),
    )


def scene_text_of(context: SceneContext) -> SceneText:
    """The words of a scene as far as a role's context has them: of where ways lead only the ids are known."""
    people = [
        Somebody(id=one.id, name=one.name, personality=one.personality, here=True) for one in context.current_cast
    ]
    lore = [(note.title, ()) for note in [*context.lore.base, *context.lore.matched]]
    return scene_text(context.current_node, {}, people, lore)


def _way(way: Transition, target: Node | None) -> WayText:
    return WayText(
        to=way.to,
        title=target.title if target is not None else way.to.replace("-", " ").replace("_", " "),
        tests=tuple((key, value[:LONGEST_TEST], kind) for key, value, kind in map(test_of, tests_of(way.condition))),
        people=tuple(target.characters[:MOST_ELSEWHERE]) if target is not None else (),
        means=tuple(way.means or ()),
        ending=target is not None and not target.transitions,
    )
