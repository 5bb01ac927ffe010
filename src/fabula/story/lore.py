"""Lore: which entries of the books apply now, because they always do or because a word calls them to mind."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from fabula.language.keywords import KeywordIndex, SortedKeywords, sort_keywords
from fabula.story.caches import IdentityCache
from fabula.story.contexts import Lore, LoreNote
from fabula.story.knowledge import Reader, is_open, known_to, open_if_revealed, was_revealed
from fabula.story.resources import LorebookEntry
from fabula.story.state import MemoryEntry, WorldState
from fabula.story.state_hash import json_hash
from fabula.story.values import Json, JsonObject

MOST_BASE = 4
MOST_MATCHED = 8
MOST_TIED = 32
AT_ONCE = 4
DROP_STEP = 16
LONGEST_CONTENT = 800
MOST_FOLLOWED = 64
LONGEST_FOLLOWED = 4_000
"""How many recursive entries call up others in one turn, and how much of each is looked at."""

MOST_STEPS = 1_000_000
MOST_STEPS_OF_SCENES = 40 * MOST_STEPS
"""So much is done to find what comes to mind in one prompt, and what all scenes of a story call up."""

BUNDLE_FORMAT = 1
"""Part of every version: raise it when an index finds other things, or a bundle is written otherwise."""


@dataclass(frozen=True, kw_only=True)
class SceneText:
    """What tells of a scene; `began` is the entry of the history with which it began, None if that is out of sight."""

    texts: Sequence[str]
    began: int | None = None


def active_lore(
    entries: Iterable[LorebookEntry],
    texts: Sequence[str],
    history: Sequence[str] = (),
    scenes: Sequence[SceneText] = (),
) -> Lore:
    """The lore for a prompt: by the entries' order, then in the author's; disabled entries never apply.

    `texts` tell of the scene as it is; `history` are the entries of the shared history, oldest first; `scenes` are
    those that were played on the way. A note is tied to the entry that called it up first, or with which a scene began
    that did: there it stays, and prompts keep their beginning. What the present scene calls up applies in any case.
    """
    book = _book_of(entries)
    if not book.candidates:
        return Lore(base=book.base_notes, matched=[])
    look = _Look(book)
    here = {number for text in texts for number in look.named_in(text)}
    found = _called_up(look, _placed(texts, history, scenes))
    matches = [
        Match(entry=book.candidates[n], place=found[n], of_scene=found[n] is None or n in here) for n in sorted(found)
    ]
    kept = _within_limit(matches, len(history))
    return Lore(base=book.base_notes, matched=[note(one.entry, one) for one in kept])


@dataclass(frozen=True, kw_only=True)
class _Choice:
    """Entries that were chosen from others, and their places among those."""

    entries: tuple[LorebookEntry, ...]
    places: Sequence[int]


_held: IdentityCache[tuple[LorebookEntry, ...], tuple[int, ...]] = IdentityCache(64)
_readable: IdentityCache[tuple[LorebookEntry, ...], tuple[LorebookEntry, ...]] = IdentityCache(256)
_chosen_from: IdentityCache[tuple[LorebookEntry, ...], _Choice] = IdentityCache(256)


def readable_lore(entries: tuple[LorebookEntry, ...], reader: Reader, state: WorldState) -> tuple[LorebookEntry, ...]:
    """The entries that a reader may be told. The same choice is the same tuple, so that it is indexed once."""
    held = _held.of(entries, lambda: tuple(n for n, entry in enumerate(entries) if not is_open(entry)))
    if not held:
        return entries
    told = {n: open_if_revealed(entries[n], state) for n in held if reader.may_read(entries[n], state)}
    hidden = frozenset(n for n in held if n not in told)
    kept = frozenset(n for n, entry in told.items() if entry.secret)

    def choose() -> tuple[LorebookEntry, ...]:
        places = [n for n in range(len(entries)) if n not in hidden]
        chosen = tuple(told.get(n, entries[n]) for n in places)
        _chosen_from.put(chosen, _Choice(entries=entries, places=places))
        return chosen

    return _readable.of(entries, choose, use=(hidden, kept))


@dataclass(frozen=True, kw_only=True)
class _Book:
    """All entries that may apply: those that always do, and candidates by their numbers in an index of keywords.

    The index may know more entries than these: one is made of all lore of a story, whoever reads of it. `numbers` are
    those of the candidates by their places among the entries.
    """

    base: Sequence[LorebookEntry]
    base_notes: list[LoreNote]
    candidates: Mapping[int, LorebookEntry]
    numbers: Mapping[int, int]
    index: KeywordIndex

    def named_in(self, text: str) -> list[int]:
        """The numbers of the candidates that a text names."""
        return self.look_through(text)[0]

    def look_through(self, text: str) -> tuple[list[int], int]:
        """The numbers of the candidates that a text names, and how many steps it took to find them. Nothing else may
        ask the index: it knows secrets."""
        named = self.index.look_through(text)
        return [number for number in named.groups if number in self.candidates], named.steps


class _Look:
    """Looks through texts for what they name, each once, until it has taken too many steps: then nothing is found in
    further ones."""

    def __init__(self, book: _Book) -> None:
        self.book, self._steps = book, 0
        self._named: dict[str, list[int]] = {}

    def named_in(self, text: str) -> list[int]:
        if text not in self._named:
            if self._steps >= MOST_STEPS:
                return []
            self._named[text], steps = self.book.look_through(text)
            self._steps += steps
        return self._named[text]


_books: IdentityCache[tuple[LorebookEntry, ...], _Book] = IdentityCache(64)
_parts: IdentityCache[tuple[LorebookEntry, ...], _Book] = IdentityCache(128)


def _book_of(entries: Iterable[LorebookEntry]) -> _Book:
    """The entries in order. A tuple never changes, so what is made of one is made once."""
    if not isinstance(entries, tuple):
        return _book(entries)
    choice = _chosen_from.get(entries)
    if choice is None:
        return _books.of(entries, lambda: _book(entries))
    return _parts.of(entries, lambda: _part_of(_book_of(choice.entries), choice, entries))


def named_lore(entries: tuple[LorebookEntry, ...], *texts: str) -> list[LorebookEntry]:
    """The entries that texts call to mind by their own words, in their order; nothing that those call up in turn."""
    book = _book_of(entries)
    named = {number for text in texts for number in book.named_in(text)}
    return [book.candidates[number] for number in sorted(named)]


def has_book(entries: tuple[LorebookEntry, ...]) -> bool:
    """Whether lore is at hand: the first question about a large book takes long."""
    return _books.has(entries)


def prepare_book(entries: tuple[LorebookEntry, ...], bundle: JsonObject | None = None) -> Callable[[], None]:
    """Does what the first question about a book takes; what it answers keeps it, and belongs on the event loop."""
    made = _book(entries, None if bundle is None else _unpacked(bundle))
    return lambda: _books.put(entries, made)


def lore_version(entries: Sequence[LorebookEntry], texts: Iterable[str]) -> str:
    """Names exactly what a bundle of this lore and these texts would be made of."""
    looked_for: list[Json] = [[entry.order, entry.match, *entry.keywords] for entry in _candidates(entries).values()]
    return json_hash([BUNDLE_FORMAT, looked_for, [*texts]])


def lore_bundle(entries: Sequence[LorebookEntry], texts: Iterable[str]) -> JsonObject:
    """What takes long about lore, as JSON: its keywords sorted, and which of them some texts name."""
    sorted_ = _sorted(_candidates(entries))
    index = KeywordIndex(sorted_)
    return {
        "words": {word: list(numbers) for word, numbers in sorted_.words.items()},
        "others": {piece: [list(one) for one in sought] for piece, sought in sorted_.others.items()},
        "named": _named_in_all(index, texts),
    }


def _named_in_all(index: KeywordIndex, texts: Iterable[str]) -> JsonObject:
    """Which keywords each of these texts names, until that took too many steps."""
    found: JsonObject = {}
    steps = 0
    for text in texts:
        if steps >= MOST_STEPS_OF_SCENES:
            break
        named = index.look_through(text)
        found[text] = list(named.groups)
        steps += named.steps
    return found


def _unpacked(bundle: JsonObject) -> SortedKeywords:
    # It was made here, of what its version says: nothing in it need be checked or made anew.
    parts = cast(dict[str, dict[str, Any]], bundle)
    return SortedKeywords(words=parts["words"], others=parts["others"], named=parts["named"])


def _book(entries: Iterable[LorebookEntry], keywords: SortedKeywords | None = None) -> _Book:
    entries = list(entries)
    placed = _candidates(entries)
    base = _base(entries)
    return _Book(
        base=base,
        base_notes=[note(entry) for entry in base],
        candidates=dict(enumerate(placed.values())),
        numbers={place: number for number, place in enumerate(placed)},
        index=KeywordIndex(keywords or _sorted(placed)),
    )


def _part_of(whole: _Book, choice: _Choice, entries: tuple[LorebookEntry, ...]) -> _Book:
    """The book of those who may read only some entries: it asks the index of the whole."""
    base = _base(entries)
    placed = zip(choice.places, entries, strict=True)
    return _Book(
        base=base,
        base_notes=[note(entry) for entry in base],
        candidates={whole.numbers[place]: entry for place, entry in placed if place in whole.numbers},
        numbers={},
        index=whole.index,
    )


def _base(entries: Iterable[LorebookEntry]) -> list[LorebookEntry]:
    always = [entry for entry in entries if entry.enabled and entry.always_include]
    return sorted(always, key=lambda entry: entry.order)[:MOST_BASE]


def _candidates(entries: Sequence[LorebookEntry]) -> dict[int, LorebookEntry]:
    """The entries that words call to mind, in order, each with its place among all."""
    enabled = [(place, one) for place, one in enumerate(entries) if one.enabled and not one.always_include]
    return dict(sorted(enabled, key=lambda placed: placed[1].order))


def _sorted(candidates: Mapping[int, LorebookEntry]) -> SortedKeywords:
    return sort_keywords((entry.keywords, entry.match) for entry in candidates.values())


def scene_began(history: Sequence[MemoryEntry], turns_ago: int, *, complete: bool) -> int | None:
    """The entry with which a scene began that many turns ago: what the player said then, or the very first.

    `complete` says that the history reaches back to the beginning of the play. None: it began before the history does.
    """
    inputs = [place for place, entry in enumerate(history) if entry.kind == "player_input"]
    if turns_ago < len(inputs):
        return inputs[-1 - turns_ago]
    return 0 if complete and history else None


Placed = tuple[int | None, str]


def _placed(texts: Sequence[str], history: Sequence[str], scenes: Sequence[SceneText]) -> list[Placed]:
    """All texts in the order in which they were heard, each with the entry it belongs to."""
    of_scenes: dict[int, list[str]] = {}
    for scene in scenes:
        if scene.began is not None:
            of_scenes.setdefault(scene.began, []).extend(scene.texts)
    heard: list[Placed] = []
    for place, said in enumerate(history):
        heard += [(place, text) for text in (said, *of_scenes.get(place, ()))]
    return [*heard, *((None, text) for text in texts)]


@dataclass(frozen=True, kw_only=True)
class Match:
    """An entry that came to mind; `place` is the entry of the history that it is tied to, if it is tied to one."""

    entry: LorebookEntry
    place: int | None
    of_scene: bool = False


def _called_up(look: _Look, placed: Sequence[Placed]) -> dict[int, int | None]:
    """The candidates that come to mind, with their places; the content of recursive ones may call up more."""
    book = look.book
    found: dict[int, int | None] = {}
    asked: deque[Sequence[Placed]] = deque([placed])
    asked += [[(None, _followed(entry))] for entry in book.base if entry.recursive]
    left = MOST_FOLLOWED
    while asked:
        for number, place in sorted(_named_first(look, asked.popleft()).items()):
            if number not in found:
                found[number] = place
                entry = book.candidates[number]
                if entry.recursive and left > 0:
                    left -= 1
                    asked.append([(place, _followed(entry))])
    return found


def _followed(entry: LorebookEntry) -> str:
    return entry.content[:LONGEST_FOLLOWED]


def _named_first(look: _Look, texts: Sequence[Placed]) -> dict[int, int | None]:
    """The candidates that some texts name, each with the place of the first that does."""
    first: dict[int, int | None] = {}
    # The newest come first: where it takes too many steps to look through all, the oldest are left out.
    for place, text in reversed(texts):
        for number in look.named_in(text):
            first[number] = place
    return first


def _within_limit(matches: list[Match], history_length: int) -> list[Match]:
    """No more than eight at once: in the scene together with the newest entries, or in any few entries before.

    What an entry called up does not depend on later ones, and old notes go several at once: each change among them
    would change the beginning of every later prompt.
    """
    tied: list[Match] = []
    for place in sorted({match.place for match in matches if match.place is not None}):
        here = [match for match in matches if match.place == place]
        tied += here[: _room(tied, place)]
    over = len(tied) - MOST_TIED
    kept = tied[-(-over // DROP_STEP) * DROP_STEP :] if over > 0 else tied
    chosen = {id(match) for match in kept}
    untied = [match for match in matches if match.of_scene and id(match) not in chosen]
    loose = {id(match): replace(match, place=None) for match in untied[: _room(kept, history_length)]}
    return [loose.get(id(match), match) for match in matches if id(match) in chosen or id(match) in loose]


def _room(tied: list[Match], place: int) -> int:
    lately = sum(match.place is not None and match.place > place - AT_ONCE for match in tied)
    return max(0, MOST_MATCHED - lately)


def note(entry: LorebookEntry, match: Match | None = None) -> LoreNote:
    """The entry as a role reads it: cut to its own budget of letters, or to the common one."""
    return LoreNote(
        title=entry.title,
        content=entry.content[: entry.budget or LONGEST_CONTENT],
        heard_at=match.place if match is not None else None,
        of_scene=match.of_scene if match is not None else False,
        keywords=entry.keywords,
        known_to=known_to(entry) or [],
        secret=entry.secret,
        revealed=was_revealed(entry),
    )
