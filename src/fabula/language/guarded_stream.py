"""A text that is watched by the spoiler guard while it comes in piece by piece.

What gives nothing away goes on at once, the first letters of a word too. Held back is only what may still become
something closed: words that a closed sentence begins with, and letters that a closed name does. A sentence that gives
something away ends there: what of it was not told yet is left out, and dots stand in its place if its beginning was
told.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Container, Iterator
from itertools import accumulate

from fabula.language.phrases import Phrases, letters_of
from fabula.language.spoilers import Guard
from fabula.language.vocabulary import is_plain, letters_in, sentence_ends, spaced

BROKEN_OFF = "…"
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Two words with something between them that is no blank: they may be one word in disguise.
_JOINED = re.compile(r"[^\W_](?!['’][^\W_])(?:[^\w\s]|_)+[^\W_]")
_MARKS = 4
_LONGEST_UNIT = 64
_CLOSING = ".!?…\"'’”)"
_PART = 256
_LONGEST_SENTENCE = 4_000
"""In letters beyond those of Western Europe nothing of one is told before its end: one that has none is left out."""


class GuardedStream:
    """Passes a text on as far as its guard lets it. `held` tells whether anything was left out."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._closed = guard.spoilers.closed(guard)
        self._waiting = ""
        # Of the sentence that comes in: whether anything was told, and whether a word was.
        self._begun = self._spoken = False
        self._skipping = False
        self.held = False

    def take(self, text: str) -> str:
        """What may be told now that this piece has come."""
        # In parts: what waits is looked through again for each sentence in it, however short they are.
        parts = (text[start : start + _PART] for start in range(0, len(text), _PART))
        return "".join(map(self._take_part, parts))

    def _take_part(self, text: str) -> str:
        self._waiting += text
        return self._pass_on(last=False)

    def close(self) -> str:
        """What may be told at the end of the text."""
        return self._pass_on(last=True)

    def _pass_on(self, *, last: bool) -> str:
        told = ""
        while self._waiting:
            before = self._waiting
            told += self._skip() if self._skipping else self._step(last=last)
            if self._waiting == before:
                break
        return told

    def _skip(self) -> str:
        """Leaves out the rest of a sentence."""
        end = _end_of_sentence(self._waiting)
        # Without an end its last marks are kept: the blanks that make an end of them may be in the next piece.
        self._waiting = self._waiting[end:] if end else self._waiting[-_MARKS:]
        self._skipping = not end
        return ""

    def _step(self, *, last: bool) -> str:
        """The next sentence if it is whole, else as much of it as may be told already."""
        end = _end_of_sentence(self._waiting)
        sentence = self._waiting[:end] if end else self._waiting
        whole = last or bool(end)
        if not is_plain(sentence) or (whole and not self._spoken):
            if not whole and len(sentence) > _LONGEST_SENTENCE:
                return self._break_off("")
            return self._tell_whole(sentence) if whole else ""
        safe, stop = self._look_at(sentence, whole=whole)
        if stop:
            return self._break_off(sentence[:safe])
        if not whole:
            # Marks at the end wait for what follows: with a blank behind them they end the sentence.
            safe = min(safe, len(sentence.rstrip(_CLOSING)))
        told, self._waiting = sentence[:safe], self._waiting[safe:]
        if end and safe == end:
            self._begun = self._spoken = False
        else:
            self._begun = self._begun or bool(told.strip())
            self._spoken = self._spoken or bool(_WORD.search(told))
        return told

    def _tell_whole(self, sentence: str) -> str:
        """A sentence of which nothing was told yet is told, or not."""
        self._waiting = self._waiting[len(sentence) :]
        begun, self._begun, self._spoken = self._begun, False, False
        if not self._guard.leaks(sentence):
            return sentence
        self.held = True
        return BROKEN_OFF if begun else ""

    def _break_off(self, safe: str) -> str:
        """The sentence gives something away, or does not end: what follows of it is left out."""
        begun = self._begun or bool(safe.strip())
        self._begun, self._spoken, self._skipping, self.held = False, False, True, True
        self._waiting = self._waiting[len(safe) :]
        return f"{safe.rstrip()}{BROKEN_OFF} " if begun else ""

    def _look_at(self, text: str, *, whole: bool) -> tuple[int, bool]:
        """Up to where a text may be told, and whether something closed stands there."""
        # Most words begin nothing that is closed, and nothing closed begins inside a word.
        is_joined, may_begin = _JOINED.search(text) is not None, self._closed.may_begin_with
        if not is_joined and not any(map(may_begin, _WORD.findall(text))):
            return len(text), False
        words = list(_WORD.finditer(text))
        may_matter = [is_joined or may_begin(word.group()) for word in words]
        if not any(may_matter):
            return len(text), False
        spelled = [letters_in(word.group()) for word in words]
        letters, borders = "".join(spelled), list(accumulate(map(len, spelled), initial=0))
        ends = frozenset(borders[1:])
        if not whole and not self._spoken and _may_be(self._closed.short_sentences, letters, ends):
            return 0, False
        growing = not whole and not text[-1].isspace()
        stand_at = self._closed.phrases.stand_at
        for number, (start, end, beginning) in enumerate(_units(text, words)):
            if not may_matter[number]:
                continue
            last = number + 1 == len(words)
            if not (growing and last) and self._guard.is_closed_name(text[beginning:end]):
                return beginning, True
            phrases, may_follow = stand_at(letters, borders[number], ends)
            if phrases and any(self._guard.is_kept(spaced(phrase)) for phrase in phrases):
                return start, True
            if not whole and may_follow:
                return start, False
            if growing and last and self._may_grow(text[beginning:end], spelled[number]):
                return beginning, False
        return len(text), False

    def _may_grow(self, unit: str, word: str) -> bool:
        """Whether the letters at the end of a text are a closed name or may become one, also with what they hang on."""
        spelled = {word, letters_in("".join(_WORD.findall(unit)))}
        begins = any(_may_be(self._closed.names, letters, (len(letters),)) for letters in spelled)
        return begins or self._guard.is_closed_name(unit)


def _units(text: str, words: list[re.Match[str]]) -> Iterator[tuple[int, int, int]]:
    """Where each word begins and ends, and where that begins which hangs together with it: `Mor-` of `Mor-dred`."""
    joined: deque[int] = deque()
    before = 0
    for word in words:
        start, end = word.span()
        if text[before:start] == " " or any(map(str.isspace, text[before:start])):
            joined.clear()
        joined.append(start)
        # No name is longer, so that a text without blanks is not gone through again and again.
        while end - joined[0] > _LONGEST_UNIT and len(joined) > 1:
            joined.popleft()
        before = end
        yield start, end, joined[0]


def _may_be(phrases: Phrases, letters: str, ends: Container[int]) -> bool:
    """Whether some letters are one of the phrases, or its beginning."""
    found, may_follow = phrases.stand_at(letters, 0, ends)
    return may_follow or any(len(letters_of("".join(phrase))) == len(letters) for phrase in found)


def _end_of_sentence(text: str) -> int:
    """Where the first sentence of a text ends, with the blanks behind it; 0 when it goes on."""
    found = sentence_ends(text).search(text)
    line = text.find("\n")
    ends = [end for end in (found.end() if found else 0, line + 1) if end]
    return min(ends) if ends else 0
