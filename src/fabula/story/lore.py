"""Lore: which entries of the books apply now, because they always do or because a word calls them to mind."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from fabula.language.caches import cached_if_short
from fabula.language.vocabulary import UNSPACED
from fabula.story.contexts import Lore, LoreNote
from fabula.story.resources import LorebookEntry
from fabula.story.state import MemoryEntry

MOST_BASE = 4
MOST_MATCHED = 8
MOST_TIED = 24
AT_ONCE = 4
DROP_STEP = 12
LONGEST_CONTENT = 800

_LETTER = rf"[^\W{UNSPACED}]"
_WORD = re.compile(rf"{_LETTER}+")


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
    enabled = sorted((entry for entry in entries if entry.enabled), key=lambda entry: entry.order)
    base = [entry for entry in enabled if entry.always_include][:MOST_BASE]
    candidates = [entry for entry in enabled if not entry.always_include]
    if not candidates:
        return Lore(base=[note(entry) for entry in base], matched=[])
    found = _called_up(candidates, base, _placed(texts, history, scenes))
    here = Heard(texts)
    matches = [
        Match(entry=entry, place=found[n], of_scene=found[n] is None or here.first(entry) is not None)
        for n, entry in enumerate(candidates)
        if n in found
    ]
    kept = _within_limit(matches, len(history))
    return Lore(base=[note(entry) for entry in base], matched=[note(one.entry, one) for one in kept])


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


class Heard:
    """Texts in which keywords are looked for, folded to one case and split into words once."""

    def __init__(self, texts: Sequence[str]) -> None:
        read = [_read(text) for text in texts]
        self._text = "\n".join(folded for folded, _ in read)
        self._ends = list(accumulate(len(folded) + 1 for folded, _ in read))
        self._words: dict[str, int] = {}
        for number, (_, words) in enumerate(read):
            for word in words:
                self._words.setdefault(word, number)

    def first(self, entry: LorebookEntry) -> int | None:
        """The number of the text in which one of the entry's keywords stands first."""
        keywords = [found for keyword in entry.keywords if (found := _keyword(keyword)).folded]
        places = [place for keyword in keywords if (place := self._find(keyword, entry.match)) is not None]
        return min(places, default=None)

    def _find(self, keyword: Keyword, match: str) -> int | None:
        if match == "word" and keyword.is_word:
            return self._words.get(keyword.folded)
        place = self._text.find(keyword.folded)
        if place >= 0 and match == "word":
            found = _whole_word(keyword.folded).search(self._text)
            place = found.start() if found else -1
        return bisect_right(self._ends, place) if place >= 0 else None


@cached_if_short(most=1024, longest=4_000)
def _read(text: str) -> tuple[str, tuple[str, ...]]:
    """A text in one case, and its words."""
    folded = text.casefold()
    return folded, tuple(dict.fromkeys(_WORD.findall(folded)))


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A keyword in one case; a plain word is found among the words, others are searched for."""

    folded: str
    is_word: bool


@lru_cache(maxsize=8192)
def _keyword(keyword: str) -> Keyword:
    folded = keyword.strip().casefold()
    return Keyword(folded=folded, is_word=_WORD.fullmatch(folded) is not None)


def _called_up(
    candidates: Sequence[LorebookEntry], base: Sequence[LorebookEntry], placed: Sequence[Placed]
) -> dict[int, int | None]:
    """The candidates that come to mind, with their places; the content of recursive ones may call up more."""
    found: dict[int, int | None] = {}
    asked: list[Sequence[Placed]] = [placed, *([(None, entry.content)] for entry in base if entry.recursive)]
    while asked:
        texts = asked.pop(0)
        heard = Heard([text for _, text in texts])
        for number, entry in enumerate(candidates):
            if number in found or (first := heard.first(entry)) is None:
                continue
            found[number] = texts[first][0]
            if entry.recursive:
                asked.append([(found[number], entry.content)])
    return found


@lru_cache(maxsize=4096)
def _whole_word(keyword: str) -> re.Pattern[str]:
    before = rf"(?<!{_LETTER})" if _WORD.match(keyword[0]) else ""
    after = rf"(?!{_LETTER})" if _WORD.match(keyword[-1]) else ""
    return re.compile(before + re.escape(keyword) + after)


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
    content = entry.content[: entry.budget or LONGEST_CONTENT]
    if match is None:
        return LoreNote(title=entry.title, content=content)
    return LoreNote(title=entry.title, content=content, heard_at=match.place, of_scene=match.of_scene)
