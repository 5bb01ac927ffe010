"""What a story of scenes must not give away before its time: scenes that were not visited, and secrets; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabula.language.spoilers import Guard, Span, Spoilers
from fabula.story.graph import Graph
from fabula.story.knowledge import Piece, is_held, is_revealed
from fabula.story.resources import CharacterContent, LorebookEntry
from fabula.story.state import WorldState

OPEN = ""


@dataclass(frozen=True, kw_only=True)
class StorySpoilers:
    """The texts of a story by place: scenes stand at their node's id, a piece that may be held back at its own place.

    A place of such a piece has a blank in its name, which no id has.
    """

    spoilers: Spoilers
    held: tuple[tuple[str, Piece], ...]

    def prepare(self) -> StorySpoilers:
        """Does what the first question about a large story takes long for; answers itself."""
        self.spoilers.prepare()
        return self

    def guard(self, *, visited: Iterable[str], state: WorldState, allowed: Iterable[str]) -> Guard:
        """What may not be told now. `allowed` are texts that were told, whatever they say."""
        revealed = [place for place, piece in self.held if is_revealed(piece, state)]
        return self.spoilers.guard(visited=[*visited, *revealed], allowed=allowed)


def story_spoilers(
    graph: Graph, *, introduction: str, lore: Sequence[LorebookEntry], characters: Iterable[CharacterContent]
) -> StorySpoilers:
    """The spoilers of a story. What everyone may know, and how characters appear to everyone, is open."""
    spans: list[Span] = [(OPEN, introduction)]
    held: list[tuple[str, Piece]] = []

    def add(piece: Piece, text: str, home: str = OPEN) -> None:
        place = home
        if is_held(piece):
            place = f"secret {len(held)}"
            held.append((place, piece))
        spans.append((place, text))

    for entry in lore:
        add(entry, entry.content)
    for character in characters:
        spans += [(OPEN, text) for text in (character.name, character.personality, character.style)]
        for fact in character.facts:
            add(fact, fact.text)
    for node in graph.nodes:
        spans += [(node.id, text) for text in (node.scene, node.goal)]
        for note in node.notes:
            add(note, note.text, node.id)
    return StorySpoilers(spoilers=Spoilers.of(spans, first_words=False), held=tuple(held))
