"""The journal of a play: its quests and leads, kept by rule from where the play has been and what its variables say.

A lead is the goal of a scene: open while the scene is played, done when the play has left it. Quests are written by the
author of the world, with rules for when they open, are done, or have failed. When the play ends, what is still open
has failed. Nothing here is decided by a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from fabula.story.graph import Node
from fabula.story.plays import PlayState
from fabula.story.quests import Quest, QuestRule
from fabula.story.values import Value

MOST_ENTRIES: Final = 200
MOST_MOVES: Final = 12

JournalStatus = Literal["open", "done", "failed"]
JournalKind = Literal["quest", "lead"]


class JournalMove(Value):
    """A turn that moved an entry, and to what."""

    turn_id: str
    turn_index: int
    status: JournalStatus


class JournalEntry(Value):
    """A quest or lead as it stands. `moves` are the turns that moved it, the first one opened it."""

    entry_id: str
    kind: JournalKind
    title: str
    text: str
    status: JournalStatus
    moves: list[JournalMove]


Journal = Sequence[JournalEntry]


def journal_after(
    journal: Journal, quests: Sequence[Quest], nodes: Mapping[str, Node], play: PlayState, turn_id: str
) -> list[JournalEntry]:
    """The journal after a turn that left the play as it is here."""
    here = _Here(play=play, turn_id=turn_id)
    known = {entry.entry_id: entry for entry in journal}
    for entry in [*_leads(known, nodes, here), *_quests(known, quests, here)]:
        known[entry.entry_id] = entry
    if play.ended:
        known = {id: here.moved(entry, "failed") if entry.status == "open" else entry for id, entry in known.items()}
    return _bounded(list(known.values()))


class _Here:
    """Where a play stands, and how a move to there is written down."""

    def __init__(self, *, play: PlayState, turn_id: str) -> None:
        self.play, self._turn_id = play, turn_id

    def fits(self, rule: QuestRule) -> bool:
        return rule.applies(self.play.visited, self.play.world)

    def opened(self, entry_id: str, kind: JournalKind, title: str, text: str) -> JournalEntry:
        return JournalEntry(
            entry_id=entry_id, kind=kind, title=title, text=text, status="open", moves=[self._move("open")]
        )

    def moved(self, entry: JournalEntry, status: JournalStatus) -> JournalEntry:
        # The move that opened it stays; of a scene that is entered again and again the newest moves count.
        moves = [*entry.moves[:1], *entry.moves[1:][-(MOST_MOVES - 2) :], self._move(status)]
        return entry.model_copy(update={"status": status, "moves": moves})

    def _move(self, status: JournalStatus) -> JournalMove:
        return JournalMove(turn_id=self._turn_id, turn_index=self.play.snapshot.turn_index, status=status)


def _leads(known: Mapping[str, JournalEntry], nodes: Mapping[str, Node], here: _Here) -> list[JournalEntry]:
    node_id = here.play.world.current_node
    current = _lead_id(node_id)
    left = [
        here.moved(entry, "done")
        for entry in known.values()
        if entry.kind == "lead" and entry.status == "open" and entry.entry_id != current
    ]
    node, entry = nodes.get(node_id), known.get(current)
    if node is None or not node.transitions or not node.goal:
        return left
    if entry is None:
        return [*left, here.opened(current, "lead", node.title, node.goal)]
    return left if entry.status == "open" else [*left, here.moved(entry, "open")]


def _lead_id(node_id: str) -> str:
    return f"lead:{node_id}"


def _quests(known: Mapping[str, JournalEntry], quests: Sequence[Quest], here: _Here) -> list[JournalEntry]:
    found = []
    for quest in quests:
        entry = known.get(_quest_id(quest))
        if entry is None:
            if quest.opens is not None and not here.fits(quest.opens):
                continue
            entry = here.opened(_quest_id(quest), "quest", quest.title, quest.text)
        if entry.status == "open":
            entry = _settled(entry, quest, here)
        found.append(entry)
    return found


def _quest_id(quest: Quest) -> str:
    return f"quest:{quest.quest_id}"


def _settled(entry: JournalEntry, quest: Quest, here: _Here) -> JournalEntry:
    if here.fits(quest.done):
        return here.moved(entry, "done")
    if quest.fails is not None and here.fits(quest.fails):
        return here.moved(entry, "failed")
    return entry


def _bounded(entries: list[JournalEntry]) -> list[JournalEntry]:
    """No more than the journal holds; leads that are closed go first, the oldest before all."""
    over = len(entries) - MOST_ENTRIES
    if over <= 0:
        return entries
    old = [entry.entry_id for entry in entries if entry.kind == "lead" and entry.status != "open"]
    gone = frozenset(old[:over])
    return [entry for entry in entries if entry.entry_id not in gone][-MOST_ENTRIES:]
