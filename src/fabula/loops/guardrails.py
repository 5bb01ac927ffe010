"""The guardrails of a table: the one way on which words go to a player or to a model, whoever wrote them.

1. `Guardrails` are the boundaries that count and the phrases that directives forbid, made ready. Every road makes them
   with `guardrails_of` of what is set where it runs: a play, a world, a game's connection.
2. What a player or a game says passes `refuse_crossed`, before anything is made of it.
3. What is told passes a `CheckedStream` if it streams, and `cut` if it is whole; where something else can be said, as
   a model can be asked once more, `objection_to` says why it should.
4. Every objection is noted, and stands in the audit. A check that fails itself refuses.

Which checks there are is decided in `rules/guardrails`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from fabula.language.terms import LONGEST_TEXT, Terms, exact_phrases
from fabula.language.vocabulary import sentence_ends
from fabula.language.words import words_of
from fabula.loops.denial import judge_or_deny
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.ports.errors import LineCrossed
from fabula.rules.guardrails import (
    INPUT_CHECKS,
    OUTPUT_CHECKS,
    PASS,
    Cut,
    GuardrailCheck,
    Objection,
    Outcome,
    Pass,
    Refuse,
    WordsSeen,
    failed_check,
    mark_of,
)
from fabula.story.boundaries import Boundaries, Limits, limits_of
from fabula.story.canon import Moment
from fabula.story.directives import EVERYONE, Directive, forbidden_phrases


@dataclass(frozen=True, kw_only=True)
class Guardrails:
    """What is kept at a table, made ready for looking through texts."""

    limits: Limits | None = None
    forbidden: Terms | None = None
    hidden: Terms | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to keep, so that text need not wait until a sentence is whole."""
        return self.limits is None and self.forbidden is None and self.hidden is None

    def hiding(self, traits: Iterable[str]) -> Guardrails:
        """The same for a character that hides these traits. One of a single word is too common to be looked for."""
        phrases = tuple(one for one in traits if len(words_of(one)) > 1)
        return replace(self, hidden=exact_phrases(phrases)) if phrases else self

    def judge_input(self, words: str) -> Outcome:
        """Whether what a player or a game says may be played. A long text is looked through sentence by sentence."""
        if len(words) <= LONGEST_TEXT:
            return judge_words(WordsSeen(words=words, limits=self.limits), INPUT_CHECKS)
        stream = CheckedStream(self, checks=INPUT_CHECKS)
        stream.take(words)
        stream.close()
        return stream.denied or PASS

    def refuse_crossed(self, *texts: str) -> None:
        """Refuses texts to which a check of input objects."""
        for text in () if self.is_empty else texts:
            outcome = self.judge_input(text)
            if not isinstance(outcome, Pass):
                raise LineCrossed(outcome.sentence, check=outcome.check, line=outcome.rule)

    def stream(self, *, asks_again: bool) -> CheckedStream | None:
        """What a telling passes while it comes; None where there is nothing to keep."""
        return None if self.is_empty else CheckedStream(self, asks_again=asks_again)

    def cut(self, text: str) -> CheckedText:
        """A whole text with marks in the place of what may not be told."""
        if self.is_empty or not text:
            return CheckedText(text=text)
        stream = CheckedStream(self, asks_again=False)
        told = stream.take(text) + stream.close()
        return CheckedText(text=told, objections=tuple(stream.objections))

    def objection_to(self, *texts: str) -> Objection | None:
        """The first thing that stands against telling these texts."""
        return next((one for text in texts for one in self.cut(text).objections), None)


NO_GUARDRAILS: Final = Guardrails()


@dataclass(frozen=True, kw_only=True)
class CheckedText:
    """A text as it may be told, and what was left out of it."""

    text: str
    objections: tuple[Objection, ...] = ()


def guardrails_of(
    *agreed: Boundaries | None, directives: Sequence[Directive] = (), who: Collection[str] = (), minute: Moment = 0
) -> Guardrails:
    """What is kept where all of these boundaries count, and what these agents and characters may not tell."""
    limits = limits_of(*agreed)
    phrases = forbidden_phrases(directives, (EVERYONE, *who), minute) if directives else ()
    if limits is None and not phrases:
        return NO_GUARDRAILS
    return Guardrails(limits=limits, forbidden=exact_phrases(tuple(phrases)) if phrases else None)


def judge_words(seen: WordsSeen, checks: Sequence[GuardrailCheck]) -> Outcome:
    """The first objection of some checks, or none. A check that fails objects."""
    for check in checks:
        failed: Outcome = failed_check(check.name)
        outcome = judge_or_deny(f"guardrail {check.name}", partial(check.judge, seen), failed)
        if not isinstance(outcome, Pass):
            return outcome
    return PASS


def note_objections(recorder: TurnRecorder | None, who: str, objections: Iterable[Objection]) -> None:
    """Notes what checks objected to in a turn, for its trace and the audit."""
    if recorder is None:
        return
    for one in objections:
        recorder.judge(rule=f"{one.check}: {one.rule}", result="cut", sentence=one.sentence, who=who)


_LONGEST_SENTENCE: Final = 1_000
_END: Final = re.compile(r"[.!?…][\"'”’)]*(?=\s)")
_LINE_END: Final = re.compile(r"\n")
_FAR: Final = 2


class _SentenceEnds:
    """Where the sentences of a text end, one after the other. Each kind of end is looked for again only once it was
    passed: a text of very many sentences would be read to its end for each of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        far = None if text.isascii() else sentence_ends(text)
        self._patterns = [_END, _LINE_END] if far is None else [_END, _LINE_END, far]
        self._found = [(-1, -1) for _ in self._patterns]

    def after(self, start: int) -> int:
        """Where the first sentence from here on ends; 0 when it goes on. One without end is cut at a blank."""
        end = min(self._next(kind, start) for kind in range(len(self._patterns)))
        if end <= len(self._text):
            return end
        if len(self._text) - start <= _LONGEST_SENTENCE:
            return 0
        return self._text.rfind(" ", start, start + _LONGEST_SENTENCE) + 1 or start + _LONGEST_SENTENCE

    def _next(self, kind: int, start: int) -> int:
        # What ends sentences of other scripts is found behind a letter, which must be one of this sentence.
        first = start + (kind == _FAR)
        if self._found[kind][0] < first:
            found, nowhere = self._patterns[kind].search(self._text, first), len(self._text) + 1
            self._found[kind] = (nowhere, nowhere) if found is None else found.span()
        return self._found[kind][1]


class CheckedStream:
    """Passes a telling on sentence by sentence, as long as no check objects.

    At the first refusal it stops, and is `denied`: that sentence and all after it are left out. After `resume`, or
    where nobody can be asked again, it goes on, and marks stand in the place of what is left out. `objections` has all
    of them.
    """

    def __init__(
        self, rails: Guardrails, *, asks_again: bool = True, checks: Sequence[GuardrailCheck] = OUTPUT_CHECKS
    ) -> None:
        self._seen = WordsSeen(words="", limits=rails.limits, forbidden=rails.forbidden, hidden=rails.hidden)
        self._checks = checks
        self._waiting = ""
        self._asks_again = asks_again
        self._marked = ""
        self._begun = self._has_gap = False
        self.denied: Refuse | None = None
        self.objections: list[Objection] = []

    def think(self, is_thought: bool) -> None:
        """Says whether what comes now is only thought."""
        self._seen = replace(self._seen, is_thought=is_thought)

    def take(self, text: str) -> str:
        """What may be told now that this piece has come: whole sentences."""
        if self.denied is not None:
            return ""
        waiting = self._waiting + text
        ends, start, passed = _SentenceEnds(waiting), 0, ""
        while self.denied is None and start < len(waiting) and (end := ends.after(start)):
            passed += self._pass(waiting[start:end])
            start = end
        self._waiting = waiting[start:]
        return self._apart(passed)

    def close(self) -> str:
        """What may be told at the end of the text."""
        rest, self._waiting = self._waiting, ""
        return "" if self.denied is not None or not rest else self._apart(self._pass(rest))

    def resume(self) -> None:
        """Another telling follows, which goes on where this one stopped."""
        self.denied, self._asks_again, self._waiting = None, False, ""
        self._has_gap = self._begun

    def _apart(self, text: str) -> str:
        """A text that may be told, with a blank before the first one of another telling."""
        if not text:
            return text
        lead = " " if self._has_gap and not text[0].isspace() else ""
        self._begun, self._has_gap = True, False
        return lead + text

    def _pass(self, sentence: str) -> str:
        if not sentence.strip():
            return sentence
        outcome = judge_words(replace(self._seen, words=sentence), self._checks)
        self._seen = replace(self._seen, behind_veil=self._looks_behind_veil(sentence))
        match outcome:
            case Pass():
                self._marked = ""
                return sentence
            case Cut():
                self.objections.append(outcome)
                return self._mark(sentence, mark_of(outcome))
            case Refuse():
                self.objections.append(outcome)
                if self._asks_again:
                    self.denied = outcome
                    return ""
                return self._mark(sentence, mark_of(outcome))

    def _looks_behind_veil(self, sentence: str) -> bool:
        limits = self._seen.limits
        if limits is None:
            return False
        return judge_or_deny("guardrail veils", lambda: limits.veil_in(sentence) is not None, True)

    def _mark(self, sentence: str, mark: str) -> str:
        """One mark for any number of sentences in a row, with the blanks around the first."""
        if self._marked == mark:
            return ""
        self._marked = mark
        lead = sentence[: len(sentence) - len(sentence.lstrip())]
        tail = "\n" if sentence.endswith("\n") else ""
        return f"{lead}{mark}{tail}"
