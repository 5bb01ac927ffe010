"""What is true in the world around those in a scene, for the prompts of a turn: bounded, and in an order that stays.

A play whose story belongs to no world has none of it and pays nothing. Of the play's own layer counts what was
committed before the last mark: the keeper may still be at work on that one, which stands in the history anyway. Where
it is later still, only what was committed when the turn began counts. So a turn that another process takes up is told
the same, and what was read from a turn stays true for as long as it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabula.actions.setups.seen_canon import MOST_TOUCHING, canon_at
from fabula.canon.sentences import sentence_of
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.canon import ChangeRow
from fabula.ports.store import Unit
from fabula.story.canon import AxiomContent, EntityContent, EventContent, FactContent, RelationshipContent
from fabula.story.checks import PLAYER
from fabula.story.contexts import CanonNote
from fabula.story.plays import PlayState

MOST_NOTES = 24
MOST_LETTERS = 2400
MOST_NAMES = 1000
MOST_AXIOMS = 100
MOST_KEPT = 256


async def canon_around(unit: Unit, setup: PlaySetup, before: PlayState, *, at: str) -> tuple[CanonNote, ...]:
    """Truths about who is in the scene, the scene itself and the player, the newest of very many; `at` is the turn up
    to which the canon of the play counts."""
    world_id = setup.world_id
    if world_id is None:
        return ()
    about = (*before.world.active_characters, before.world.current_node, PLAYER)

    key = (await unit.canon.version(world_id), at, about)
    found = setup.canon_notes.get(key)
    if found is None:
        if len(setup.canon_notes) >= MOST_KEPT:
            setup.canon_notes.clear()
        found = setup.canon_notes[key] = await _notes(unit, setup, before, world_id, at, about)
    return found


async def seen_from(unit: Unit, setup: PlaySetup, before: PlayState, *, began_at_ms: int | None = None) -> str:
    """The turn up to which the canon of a play counts in its prompts; none where it has no canon of its own yet.

    It is a marked turn that the keeper has done, for the turn that is played before it began.
    """
    mark = before.canon_mark
    while mark is not None and mark.before is not None:
        done_at_ms = await _committed_at(unit, setup, mark.before)
        if done_at_ms is not None and (began_at_ms is None or done_at_ms <= began_at_ms):
            return mark.before
        stored = await unit.plays.state(mark.before)
        mark = None if stored is None else PlayState.model_validate(stored).canon_mark
    return ""


async def _committed_at(unit: Unit, setup: PlaySetup, turn_id: str) -> int | None:
    """When the keeper was done with a marked turn; None where it is still at work."""
    known = setup.canon_commits.get(turn_id)
    if known is None and (record := await unit.canon_layers.commit_of(turn_id)) is not None:
        if len(setup.canon_commits) >= MOST_KEPT:
            setup.canon_commits.clear()
        known = setup.canon_commits[turn_id] = record.committed_at_ms
    return known


async def _notes(
    unit: Unit, setup: PlaySetup, before: PlayState, world_id: str, at: str, about: tuple[str, ...]
) -> tuple[CanonNote, ...]:
    if at:
        rows = await canon_at(unit, world_id, at, about=about, newest=MOST_TOUCHING)
    else:
        rows = await unit.canon.touching(world_id, about, limit=MOST_TOUCHING)
    entities = (row.change.content for row in await unit.canon.true_now(world_id, kinds=("entity",), limit=MOST_NAMES))
    names = {one.entity_id: one.name for one in entities if isinstance(one, EntityContent)}
    setup.entity_names.update(names)
    axioms = await unit.canon.true_now(world_id, kinds=("axiom",), limit=MOST_AXIOMS)
    setup.axioms[:] = [one for row in axioms if isinstance(one := row.change.content, AxiomContent)]
    names |= {id: node.title for id, node in setup.nodes.items()}
    names |= {id: content.name for id, content in setup.characters.items()}
    names |= {id: guest.display_name for id, guest in before.session_characters.items()}
    names[PLAYER] = before.player_name
    kept: list[CanonNote] = []
    left = MOST_LETTERS
    # Sentences are made of the newest alone: of very many truths that took everybody's time at each new one.
    for note in (note for row in reversed(rows) if (note := note_of(row, names)) is not None):
        left -= len(note.text)
        if left < 0 or len(kept) == MOST_NOTES:
            break
        kept.append(note)
    return tuple(reversed(kept))


def note_of(row: ChangeRow, names: Mapping[str, str]) -> CanonNote | None:
    """What a prompt is told of a truth; None for what is no sentence about somebody."""
    content = row.change.content
    match content:
        case FactContent() | RelationshipContent():
            since, until = content.since, content.until
        case EventContent():
            since, until = content.at, None
        case _:
            return None
    return CanonNote(text=sentence_of(content, names), known_to=content.known_to, since=since, until=until)
