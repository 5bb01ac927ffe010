"""A text that is watched by the spoiler guard while it comes in piece by piece.

What gives nothing away goes on at once. Held back is only what may still become a sentence that is closed: words that
one begins with, and a word that is not yet whole. A sentence that gives something away ends there: what of it was not
told yet is left out, and dots stand in its place if its beginning was told.
"""

from __future__ import annotations

import re
from itertools import accumulate

from fabula.language.spoilers import Guard
from fabula.language.vocabulary import folded, is_plain, sentence_ends, spaced

BROKEN_OFF = "…"
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FEW_WORDS = 3
_MARKS = 4
_CLOSING = ".!?…\"'’”)"


class GuardedStream:
    """Passes a text on as far as its guard lets it. `held` tells whether anything was left out."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._phrases = guard.spoilers.closed_phrases(guard)
        self._waiting = ""
        self._told_of_sentence = ""
        self._skipping = False
        self.held = False

    def take(self, text: str) -> str:
        """What may be told now that this piece has come."""
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
        if not is_plain(sentence) or (whole and not self._told_of_sentence):
            return self._tell_whole(sentence) if whole else ""
        safe, stop = self._look_at(sentence, whole=whole)
        if stop:
            return self._break_off(sentence[:safe])
        if not whole:
            # Marks at the end wait for what follows: with a blank behind them they end the sentence.
            safe = min(safe, len(sentence.rstrip(_CLOSING)))
        self._waiting = self._waiting[safe:]
        self._told_of_sentence = "" if end and safe == end else self._told_of_sentence + sentence[:safe]
        return sentence[:safe]

    def _tell_whole(self, sentence: str) -> str:
        """A sentence of which nothing was told yet is told, or not."""
        self._waiting = self._waiting[len(sentence) :]
        told, self._told_of_sentence = self._told_of_sentence, ""
        if not self._guard.leaks(sentence):
            return sentence
        self.held = True
        return BROKEN_OFF if told else ""

    def _break_off(self, safe: str) -> str:
        """The sentence gives something away: it ends here."""
        begun = bool(self._told_of_sentence.strip() or safe.strip())
        self._told_of_sentence, self._skipping, self.held = "", True, True
        self._waiting = self._waiting[len(safe) :]
        return f"{safe.rstrip()}{BROKEN_OFF} " if begun else ""

    def _look_at(self, text: str, *, whole: bool) -> tuple[int, bool]:
        """Up to where a text may be told, and whether something closed stands there."""
        words = [(found.start(), found.group()) for found in _WORD.finditer(text)]
        if not words:
            return len(text), False
        if not whole and not self._told_of_sentence and len(words) <= _FEW_WORDS:
            return 0, False
        spelled = [folded(word).replace("'", "").replace("’", "") for _, word in words]
        letters, borders = "".join(spelled), list(accumulate(map(len, spelled), initial=0))
        ends = frozenset(borders[1:])
        growing = None if whole or not text[-1].isalnum() else len(words) - 1
        for number, (start, word) in enumerate(words):
            if number != growing and self._guard.is_closed_name(word):
                return start, True
            phrases, may_follow = self._phrases.stand_at(letters, borders[number], ends)
            if any(self._guard.is_kept(spaced(phrase)) for phrase in phrases):
                return start, True
            if not whole and (may_follow or number == growing):
                return start, False
        return len(text), False


def _end_of_sentence(text: str) -> int:
    """Where the first sentence of a text ends, with the blanks behind it; 0 when it goes on."""
    found = sentence_ends(text).search(text)
    line = text.find("\n")
    ends = [end for end in (found.end() if found else 0, line + 1) if end]
    return min(ends) if ends else 0
