"""Which lore a scene has: pure, from what is written, what is true in the world, and where the play stands.

Preparing a place (`prepare_place`) looks at no play:

1. Lore belongs to a place if the words of its scene call it to mind; what has its name comes first. Each thought of it
   is one piece: who may go where (`access`), what is always done (`custom`), or what there is (`feature`); the words
   say which. So is each truth of canon about the place, by its predicate.
2. Gossip is what is about others: of the truths what happened, what became true in the time of the story, and what an
   author told of somebody in a whole sentence; of the lore that no scene of the story calls to mind, what names
   somebody, or says of itself that it is talk.

When a scene begins (`settle_scene`), some of it is chosen:

1. Only what everybody may know now: open lore and lore that has come out, truths that name nobody as the only one to
   know them and hold at that minute.
2. Gossip needs somebody there to tell it, and is about nobody who is there. What came to pass elsewhere comes first,
   once word had half a day to travel, then what the journal has done, then truths, then lore.
3. Tension is the fiercest conflict that is felt there, else the worst that one who is there feels about another.
4. Gossip that an earlier scene of the play had is not chosen again; of the rest, what was not chosen yet comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fabula.language.english import closed, inner, passages
from fabula.language.place_words import tells_of
from fabula.language.stemming import language_of
from fabula.language.words import names_said, stems, word_set, words_of
from fabula.story.agendas import FiredAgenda
from fabula.story.canon import Moment
from fabula.story.checks import PLAYER
from fabula.story.conflicts import Conflict, ConflictPhase
from fabula.story.graph import Node
from fabula.story.knowledge import Reader
from fabula.story.plays import PlayState
from fabula.story.quests import Quest
from fabula.story.relations import Relation
from fabula.story.resources import LorebookEntry
from fabula.story.scene_lore import LONGEST_PIECE, PieceSource, PlaceLore, PlacePiece, SceneLoreKind, ScenePiece

MOST_OF: Final[Mapping[SceneLoreKind, int]] = {"feature": 2, "custom": 1, "gossip": 2, "tension": 1, "access": 1}
"""So many pieces of each kind a scene has: they stand in the state of every later turn."""
MOST_PREPARED: Final = 24
"""So many pieces of each kind are prepared for a place."""
WORD_TRAVELS: Final = 12 * 60
"""Minutes until what could be noticed at one place is talked about at others."""

ACCESS_PREDICATES: Final = word_set(
    """owned_by owns guarded_by guards held_by holds controlled_by controls closed_to open_to forbidden_to locked_by
    kept_by ruled_by rules shared_by barred_to"""
)
CUSTOM_PREDICATES: Final = word_set("custom customs tradition law observes celebrates forbids honours feast festival")
_IN_THE_AIR: Final[Mapping[ConflictPhase, str]] = {
    "emerging": "There is something in the air that nobody names yet: {what}.",
    "rising": "Everybody here feels it: {what}.",
    "confrontation": "It is out in the open now: {what}.",
    "climax": "It will be decided now, one way or the other: {what}.",
    "falling": "It is cooling, and still warm to the touch: {what}.",
}
_FELT: Final[tuple[tuple[Callable[[Relation], float], float, str], ...]] = (
    (lambda one: one.fear, 0.4, "{who} is afraid of {whom}."),
    (lambda one: -one.affinity, 0.3, "{who} can hardly bear the sight of {whom}."),
    (lambda one: -one.trust, 0.3, "{who} does not trust {whom}."),
)


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Something true in the world that everybody may know, in a sentence; without a predicate it is an event.

    `is_news` says that it became true in the time of the story, `is_told` that it stands in its author's own words.
    """

    change_id: str
    text: str
    about: tuple[str, ...]
    predicate: str = ""
    since: Moment | None = None
    until: Moment | None = None
    is_news: bool = False
    is_told: bool = False


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is written for a story: what its people are called, by id, which lore the words of a scene call to mind, and
    the lore that no scene does."""

    names: Mapping[str, str]
    called: Callable[[Node], Sequence[LorebookEntry]]
    background: Sequence[LorebookEntry]


@dataclass(frozen=True, kw_only=True)
class SceneStart:
    """Where a play stands as a scene begins, and what it looks at: `names` are what people are called, by id."""

    play: PlayState
    lore: Mapping[str, LorebookEntry]
    names: Mapping[str, str]
    conflicts: Sequence[Conflict] = ()
    quests: Sequence[Quest] = ()

    @property
    def here(self) -> list[str]:
        return [id for id in self.play.world.active_characters if id in self.names]


def prepare_place(node: Node, written: Written, truths: Iterable[Truth] = ()) -> PlaceLore:
    """All that may be said at a place."""
    shown = stems(" ".join([node.scene, *(note.text for note in node.notes)]))
    found = [*_of_truths(node, truths, written.names), *_of_lore(node, written)]
    kept: list[PlacePiece] = []
    for kind in MOST_OF:
        of_kind = [one for one in found if one.kind == kind]
        # What the description of the place says anyway is nothing to add to it.
        kept += [one for one in of_kind if kind == "gossip" or not stems(one.text) <= shown][:MOST_PREPARED]
    return PlaceLore(place=node.id, pieces=kept)


def _of_truths(node: Node, truths: Iterable[Truth], people: Mapping[str, str]) -> Iterator[PlacePiece]:
    for one in truths:
        is_told_there = node.id == one.about[0] and bool(one.predicate)
        # That somebody is a mason is no gossip: it is what they did, and what is told about them.
        of_somebody = one.is_told and any(id in people for id in one.about)
        is_gossip = node.id not in one.about and (not one.predicate or one.is_news or of_somebody)
        if len(one.text) <= LONGEST_PIECE and (is_told_there or is_gossip):
            yield PlacePiece(
                kind=_kind_of(one.predicate) if is_told_there else "gossip",
                text=one.text,
                source=PieceSource(kind="canon", id=one.change_id),
                about=list(one.about),
                since=one.since,
                until=one.until,
            )


def _kind_of(predicate: str) -> SceneLoreKind:
    if predicate in ACCESS_PREDICATES:
        return "access"
    return "custom" if predicate in CUSTOM_PREDICATES else "feature"


def _of_lore(node: Node, written: Written) -> Iterator[PlacePiece]:
    name = stems(node.title)
    called = written.called(node)
    # What has the name of the place tells more of it than what is only seen there.
    for entry in sorted(called, key=lambda one: one.entry_id != node.id and stems(one.title) != name):
        language = language_of(entry.content)
        for text in passages(entry.content):
            yield from _piece(_kind_told(text, language), text, entry, written.names)
    for entry in written.background:
        language = language_of(entry.content)
        pieces = [one for text in passages(entry.content) for one in _piece("gossip", text, entry, written.names)]
        yield from [one for one in pieces if one.about or tells_of("talk", one.text, language)][:1]


def _kind_told(text: str, language: str) -> SceneLoreKind:
    if tells_of("access", text, language):
        return "access"
    return "custom" if tells_of("custom", text, language) else "feature"


def _piece(kind: SceneLoreKind, text: str, entry: LorebookEntry, names: Mapping[str, str]) -> Iterator[PlacePiece]:
    if text and len(text) <= LONGEST_PIECE:
        words = words_of(text)
        about = [id for id, name in names.items() if names_said(name, words)]
        yield PlacePiece(kind=kind, text=text, source=PieceSource(kind="lore", id=entry.entry_id), about=about)


def settle_scene(prepared: PlaceLore, start: SceneStart) -> list[ScenePiece]:
    """What is said of a scene that begins."""
    used = {(one.source, one.text) for mark in start.play.scenes for one in mark.lore}
    found = [
        ScenePiece(kind=one.kind, text=one.text, source=one.source)
        for one in prepared.pieces
        if one.kind != "gossip" and _is_common(one, start)
    ]
    # The order is kept among those that were not chosen before, and among the others.
    found.sort(key=lambda one: (one.source, one.text) in used)
    gossip = (one for one in _gossip(prepared, start) if (one.source, one.text) not in used)
    pieces: list[ScenePiece] = []
    for kind, most in MOST_OF.items():
        of_kind = {"gossip": gossip, "tension": _tension(start)}.get(kind) or (one for one in found if one.kind == kind)
        pieces += [one for one, _ in zip(of_kind, range(most), strict=False)]
    return pieces


def _is_common(piece: PlacePiece, start: SceneStart) -> bool:
    """Whether everybody may know a piece now, and it holds."""
    minute = start.play.minute
    if (piece.since is not None and minute < piece.since) or (piece.until is not None and minute >= piece.until):
        return False
    if piece.source.kind != "lore":
        return True
    entry = start.lore.get(piece.source.id)
    return entry is not None and entry.enabled and Reader.player().may_read(entry, start.play.world)


def _gossip(prepared: PlaceLore, start: SceneStart) -> Iterator[ScenePiece]:
    """What those who are there might tell of others, best first; nothing where nobody is."""
    here = start.here
    talk = [*_events(prepared.place, start), *_deeds(start)]
    talk += [one for one in prepared.pieces if one.kind == "gossip" and _is_common(one, start)]
    for one in talk:
        if here and frozenset(one.about).isdisjoint([*here, PLAYER, prepared.place]):
            # Another one tells it each time, as far as there are others.
            teller = here[sum(map(ord, one.source.id)) % len(here)]
            yield ScenePiece(kind="gossip", text=one.text, source=one.source, teller=teller)


def _events(place: str, start: SceneStart) -> Iterator[PlacePiece]:
    """What came to pass elsewhere, the newest first."""
    off_screen = start.play.off_screen
    for one in reversed([] if off_screen is None else off_screen.fired):
        if _is_talked_about(one, place, start.play) and len(one.told) <= LONGEST_PIECE:
            about = [] if one.owner is None else [one.owner]
            yield PlacePiece(
                kind="gossip", text=closed(one.told), source=PieceSource(kind="event", id=one.clock_id), about=about
            )


def _is_talked_about(one: FiredAgenda, place: str, play: PlayState) -> bool:
    if one.known_to or one.where in (None, place):
        # What is noticed everywhere, or here, is told as news.
        return False
    return play.minute - one.minute >= WORD_TRAVELS


def _deeds(start: SceneStart) -> Iterator[PlacePiece]:
    """What the player has done, as the journal has it."""
    for one in start.quests:
        if one.done.applies(start.play.visited, start.play.world):
            text = f"What the player set out to do is done, and known: {one.title}"[:LONGEST_PIECE]
            yield PlacePiece(kind="gossip", text=text, source=PieceSource(kind="quest", id=one.quest_id))


def _tension(start: SceneStart) -> Iterator[ScenePiece]:
    """What is in the air: the fiercest conflict first, then how those who are there stand to each other."""
    play, here = start.play, start.here
    off_screen = play.off_screen
    felt: list[tuple[float, ScenePiece]] = []
    for one in start.conflicts:
        now = (None if off_screen is None else off_screen.conflicts.get(one.conflict_id)) or one.start
        is_here = play.world.current_node in one.where or not frozenset(one.people).isdisjoint(here)
        is_known = not one.known_to or not frozenset(one.known_to).isdisjoint([*here, PLAYER])
        if is_here and is_known and now.phase in _IN_THE_AIR:
            text = _IN_THE_AIR[now.phase].format(what=inner(one.title))[:LONGEST_PIECE]
            source = PieceSource(kind="conflict", id=one.conflict_id)
            felt.append((now.intensity, ScenePiece(kind="tension", text=text, source=source, known_to=one.known_to)))
    yield from (piece for _, piece in sorted(felt, key=lambda pair: -pair[0]))
    yield from (piece for _, piece in sorted(_grudges(start), key=lambda pair: -pair[0]))


def _grudges(start: SceneStart) -> Iterator[tuple[float, ScenePiece]]:
    """How badly one stands to another who is there, too. Only that one knows it, and who tells the scene."""
    for who in start.here:
        for whom, relation in start.play.relations.get(who, {}).items():
            for measure, least, words in _FELT:
                if whom in start.here and measure(relation) >= least:
                    text = words.format(who=start.names[who], whom=start.names[whom])
                    source = PieceSource(kind="relation", id=f"{who}/{whom}")
                    yield measure(relation), ScenePiece(kind="tension", text=text, source=source, known_to=[who])
                    break
