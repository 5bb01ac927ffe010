"""Clauses: a line taken apart into what is said one after the other, each with its mood, subject and polarity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from fabula.language.words import word_set
from fabula.understudy.reading.lexicon import (
    ADVERBS,
    AUXILIARIES,
    CLASSES_OF,
    CONJUNCTIONS,
    DETERMINERS,
    DISCOURSE,
    IDIOMS,
    NEUTRAL,
    NO,
    PERSONS,
    PREPOSITIONS,
    PRONOUNS,
    REJECTIONS,
    SYNONYMS,
    YES,
    pattern,
)
from fabula.understudy.reading.rewrites import plain_line, plain_wish
from fabula.understudy.reading.words import is_known, is_past_form, is_verb, lemmas_of, put_right, verb_of

Subject = Literal["i", "you", "third", "order", "none"]
Mood = Literal["act", "question", "maybe", "past", "aside"]
WH = word_set("who what where why when how which whose whom")
_ASKING = word_set("is are was were am do does did can could will would should have has had shall may might must")
_AFTER_HOW = _ASKING | word_set("many much long far old")
_ASKED_ABOUT = word_set("i you he she it they we the there your my this that these those")
_THIRD = word_set(
    "he she it they this that these those there nobody somebody everyone everybody someone anyone nothing everything "
    "all his her their its both neither none"
)
NEGATIONS = word_set("not never neither nor no nobody none nothing nowhere hardly")
_ASIDES = word_set("because while when until unless though although since whereas before after as whenever")
_PAST_SIGNS = pattern("past")
_WHOLE_IF = pattern("supposed")
_ONLY_THOUGHT = pattern("only_thought")
_SAYING = r"(?:says|said|claims?|claimed|thinks?|thought|believes?|told (?:me|us)|swears?|swore|insists?|wrote|writes)"
_ATTRIBUTED = re.compile(
    rf"\b(?!i\b|we\b|you\b)[a-z]+ (?:always |once |often |used to )?(?:say\b|{_SAYING}\b)|"
    rf"^\s*{_SAYING} (?!i\b|we\b)[a-z]"
)
_OTHERS_SAY = re.compile(
    r"^(?!i\b|we\b|you\b|who\b|what\b)(?:[a-z]+ ){1,3}?"
    rf"(?:{_SAYING}|(?<=they )say|(?<=people )say)\b(?! (?:yes|no|nothing)\b)"
)
_SPOKEN_TO = re.compile(r"^[^,]{2,40},\s*")
MOST_SLIPS = 100
_CAN_WAIT = re.compile(r"^(.*?)\b(?:can|must|will|may|has to|shall|could) (?:have to )?wait\b(?: until| till)?(.*)$")


# Sets that every word is looked up in are joined here, once: a line would join them for each of its words.
YES_AND_ALL = YES | DISCOURSE
NO_AND_ALL = NO | DISCOURSE | word_set("thank you")
_OPENING = DISCOURSE | word_set("and or nor")
_BEFORE_NOUNS = PREPOSITIONS | DETERMINERS


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One clause of a line: its words in small letters, how it is meant, who acts, and where its verb stands.

    `negated` says that the act is denied or turned down; `told` that somebody is spoken to by name in its sentence;
    `supposed` that it is only thought of; `reported` that somebody else is said to have said it.
    """

    words: tuple[str, ...]
    lemmas: tuple[frozenset[str], ...]
    mood: Mood
    subject: Subject
    verb_at: int | None
    negated: bool = False
    rejected: bool = False
    told: bool = False
    after_colon: bool = False
    wished: bool = False
    idiom: bool = False
    yet: bool = False
    sentence: int = 0
    joined: str = ""
    negations: frozenset[int] = frozenset()
    supposed: bool = False
    reported: bool = False

    @cached_property
    def text(self) -> str:
        return " ".join(self.words)

    @cached_property
    def verb(self) -> str:
        return verb_of(self.words[self.verb_at]) if self.verb_at is not None else ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line taken apart. `spoken_to` are the words by which somebody is called; `text` is the line in plain words."""

    text: str
    clauses: tuple[Clause, ...]
    spoken_to: frozenset[str] = frozenset()
    yes: bool = False
    no: bool = False
    words: tuple[str, ...] = field(default=())


def read_clauses(text: str, story: frozenset[str], names: frozenset[str], repairs: frozenset[str]) -> Line:
    """The clauses of a line. `names` call a person, `story` are words that stand in the story, `repairs` those that a
    slip of the pen may have meant."""
    line = _put_right(plain_line(text), story, names, repairs)
    clauses: list[Clause] = []
    called: set[str] = set()
    yes = no = False
    reported = _reported(line)
    for number, (sentence, mark) in enumerate(_sentences(line)):
        plain = _without_call(sentence, names)
        parts = list(_parts(plain, story))
        vocatives = [words for sign, words in parts if sign != ":" and _is_call(words, names)]
        alone = len(parts) == len(vocatives)
        told, meant = (
            (_SPOKEN_TO.sub("", text) for text in (sentence, plain))
            if _calls_first(sentence, names)
            else (sentence, plain)
        )
        wished = meant.startswith("i ") and not told.startswith("i ")
        supposed = _WHOLE_IF.search(plain) is not None
        asked = (mark == "?" and not wished and not (_asks(told) and not _asks(meant))) or _asks(meant)
        called.update(word for words in vocatives for word in words if not alone)
        former: Clause | None = None
        for sign, words in parts:
            if words and YES_AND_ALL.issuperset(words) and not YES.isdisjoint(words):
                yes = yes or not asked
            if words and words[0] in NO and len(words) <= 3 and NO_AND_ALL.issuperset(words):
                no = True
            if not words or (_is_call(words, names) and not alone and sign != ":"):
                continue
            clause = _clause(
                words,
                sign,
                plain,
                asked=asked,
                supposed=supposed,
                told=bool(vocatives) and not alone,
                before=former,
                number=number,
            )
            if any(sentence in said for said in reported) or _OTHERS_SAY.match(meant):
                clause = replace(clause, mood="aside", reported=True)
            clauses.append(clause)
            former = clause
    return Line(
        text=line, clauses=tuple(clauses), spoken_to=frozenset(called), yes=yes, no=no, words=tuple(_words(line))
    )


def _reported(line: str) -> list[str]:
    """What a line quotes of somebody else: `"Open it," my mother used to say.`"""
    quoted = re.findall(r'"([^"]+)"', line)
    outside = re.sub(r'"[^"]*"', " ", line)
    return quoted if quoted and _ATTRIBUTED.search(outside) else []


def _without_call(sentence: str, names: frozenset[str]) -> str:
    """A sentence in plain words; whom it calls at its beginning does not hide how it goes on."""
    if not _calls_first(sentence, names):
        return plain_wish(sentence)
    call, _, rest = sentence.partition(",")
    return f"{call}, {plain_wish(rest.strip())}"


def _calls_first(sentence: str, names: frozenset[str]) -> bool:
    call, comma, rest = sentence.partition(",")
    return bool(comma and rest.strip()) and _is_call(tuple(_words(call)), names)


_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|'s")
_LONGER_WORD = re.compile(r"[a-z]{3,}")
_SENTENCE = re.compile(r"[^.!?;\"\n]+[.!?;]*")
_SIGN = re.compile(r"(,|:|;|\s-+\s|\(|\))")


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _put_right(line: str, story: frozenset[str], names: frozenset[str], repairs: frozenset[str]) -> str:
    """The line with slips of the pen put right: of its first unknown words, since nobody mistypes all they say."""
    meant: dict[str, str] = {}

    def right(found: re.Match[str]) -> str:
        word = found[0]
        if word not in meant and len(meant) < MOST_SLIPS and not is_known(word, story, names):
            meant[word] = put_right(word, story, names, repairs)
        return meant.get(word, word)

    return _LONGER_WORD.sub(right, line)


def _sentences(line: str) -> Iterator[tuple[str, str]]:
    for part in _SENTENCE.findall(line):
        sentence = part.strip(" .!?;'")
        if _WORD.search(sentence):
            yield sentence, "?" if "?" in part else ""


def _asks(sentence: str) -> bool:
    words = _words(sentence)
    while words and words[0] in DISCOURSE:
        words = words[1:]
    if not words:
        return False
    if words[0] in WH:
        return not (words[0] in ("when", "how") and len(words) > 1 and words[1] not in _AFTER_HOW)
    if words[0] == "do" and words[1:2] in (["it"], ["that"], ["this"]):
        return False
    return words[0] in _ASKING and len(words) > 1 and words[1] in _ASKED_ABOUT


def _parts(sentence: str, story: frozenset[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The parts of a sentence, each with the sign or word that it is joined by."""
    # Between every two pieces stands the sign that joins them.
    pieces = _SIGN.split(sentence)
    signs = ["", *(sign.strip()[:1] for sign in pieces[1::2])]
    for sign, piece in zip(signs, pieces[::2], strict=True):
        yield from _joined(sign, _words(piece), story)


def _joined(sign: str, words: list[str], story: frozenset[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    start = 0
    for place in range(1, len(words)):
        word = words[place]
        after = words[place + 1] if place + 1 < len(words) else ""
        if _breaks(words, place, word, after, story):
            yield sign, tuple(words[start:place])
            sign, start = word, place + (word in ("and", "or", "but", "then", "than", "so"))
    yield sign, tuple(words[start:])


_BREAKS = word_set("but than instead because while until unless although though whereas")
_MAY_BREAK = _BREAKS | word_set("rather then so after before when i and or nor")


def _breaks(words: list[str], place: int, word: str, after: str, story: frozenset[str]) -> bool:
    if word not in _MAY_BREAK:
        return False
    if word in _BREAKS:
        return True
    if word == "rather" and after == "than":
        return True
    if word == "then":
        return bool(after) and (after in ("i", "we") or is_verb(after))
    if word in ("so",):
        return after in ("i", "we", "the", "that", "up", "off", "let", "nobody", "no", "they", "you")
    if word == "after" and verb_of(words[place - 1]) in CLASSES_OF:
        return False
    if word in ("before", "after", "when"):
        return after in ("i", "we", "you", "he", "she", "they", "the", "it", "anyone", "anybody", "somebody")
    if word == "i" and words[0] in _ASIDES and place > 1 and words[place - 1] != "and":
        return True
    if word not in ("and", "or", "nor"):
        return False
    if after in ("i", "we", "you", "he", "she", "they", "let", "then", "do", "not", "it"):
        return True
    if after in ADVERBS and place + 2 < len(words) and is_verb(words[place + 2]) and after not in PREPOSITIONS:
        return True
    if word == "nor" or not is_verb(after) or after in PREPOSITIONS:
        return False
    following = words[place + 2] if place + 2 < len(words) else ""
    nounish = after in SYNONYMS or after in NEUTRAL
    return not nounish or following in _AFTER_VERB


_AFTER_VERB = DETERMINERS | PRONOUNS | ADVERBS | PREPOSITIONS - frozenset(["of"]) | frozenset(["me", "my"])


def _is_call(words: tuple[str, ...], names: frozenset[str]) -> bool:
    """Whether words only call somebody: `captain`, `brother anselm`, `my dear friend`."""
    content = [word for word in words if word not in DETERMINERS and word not in DISCOURSE]
    return (
        bool(content)
        and len(words) <= 4
        and all(word in names or word in PERSONS for word in content)
        and words[0] not in ("the", "a", "not", "no")
    )


def _clause(
    words: tuple[str, ...],
    sign: str,
    sentence: str,
    *,
    asked: bool,
    supposed: bool,
    told: bool,
    before: Clause | None,
    number: int,
) -> Clause:
    rejected = sign in ("than", "rather", "instead") or (sign == "but" and words[:1] == ("not",))
    if sign in ("rather", "instead"):
        words = tuple(word for word in words if word not in ("rather", "than", "instead", "of"))
    words, first = _without_opening(words)
    lemmas = tuple(map(lemmas_of, words))
    idiom = any(True for _ in IDIOMS.hits(lemmas)) if words else False
    subject, verb_at = _subject_and_verb(words, before, sign)
    if before is not None and before.rejected and (sign == "until" or first == "until"):
        subject, verb_at = "none", None
    mood = _mood(
        words,
        sentence,
        asked=asked,
        supposed=supposed,
        first=first,
        sign=sign,
        before=before,
        subject=subject,
        verb_at=verb_at,
    )
    negations = frozenset(place for place, word in enumerate(words) if word in NEGATIONS)
    bound = verb_at if verb_at is not None else len(words)
    if verb_at is not None and words[verb_at] in AUXILIARIES:
        bound += 1
    negated = any(place <= bound for place in negations) or _refuses(words, verb_at)
    if (
        not negated
        and before is not None
        and sign in ("and", "or", "nor")
        and before.negated
        and subject == before.subject
        and verb_at is not None
        and words[:1] not in (("i",), ("we",))
    ):
        negated = True
    if words[:1] == ("not",) and len(words) > 1:
        negated = True
    rejected = rejected or any(hit.places[0] <= bound for hit in REJECTIONS.hits(lemmas)) or _can_wait(words)
    return Clause(
        words=words,
        lemmas=lemmas,
        mood=mood,
        subject=subject,
        verb_at=verb_at,
        negated=negated,
        rejected=rejected,
        told=told,
        after_colon=sign == ":",
        wished="want" in words,
        idiom=idiom,
        yet=bool({"yet", "now"} & set(words[-3:])) or "just yet" in sentence,
        sentence=number,
        joined=sign,
        negations=negations,
        supposed=supposed,
    )


def _can_wait(words: tuple[str, ...]) -> bool:
    return _CAN_WAIT.match(" ".join(words)) is not None


def _refuses(words: tuple[str, ...], verb_at: int | None) -> bool:
    """`i refuse to go`, `stop playing`: the act is what follows, and it is denied."""
    return verb_at is not None and any(
        verb_of(word) in ("refuse", "stop", "avoid", "decline") for word in words[:verb_at]
    )


def _without_opening(words: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """A clause without the small words that it opens with; the first of those that tell its mood."""
    first = words[0] if words else ""
    place = 0
    while place < len(words) - 1 and words[place] in _OPENING and words[place] != "ignoring":
        after = words[place + 1]
        if words[place] in ("look", "listen", "right", "good", "still", "no") and (
            after in _BEFORE_NOUNS or place + 2 >= len(words)
        ):
            break
        place += 1
        first = words[place]
    return words[place:], first


_SKIPPED = ADVERBS | AUXILIARIES | word_set("not never to want going about ready also both")
_CATENATIVES = word_set(
    "want try decide like wish begin start intend need refuse stop mean plan continue prepare manage hope offer"
)


_NOT_INVERTED = DETERMINERS | _THIRD | _ASIDES | word_set("who")
_NO_VERBS = PREPOSITIONS | DETERMINERS | CONJUNCTIONS | word_set("i we you")
_BEFORE_OTHERS = _BEFORE_NOUNS | word_set("'s")


def _subject_and_verb(words: tuple[str, ...], before: Clause | None, sign: str) -> tuple[Subject, int | None]:
    if not words:
        return "none", None
    first = words[0]
    if first in ("i", "we") or (first in _ASIDES and len(words) > 1 and words[1] in ("i", "we")):
        return "i", _main_verb(words, 1 if first in ("i", "we") else 2)
    if first == "you":
        return "you", _main_verb(words, 1)
    if first in ("do", "not", "never") and len(words) > 1 and (words[1] == "not" or is_verb(words[1])):
        return _inherited(before, sign), _main_verb(words, 1)
    start = 0
    while start < len(words) - 1 and words[start] in ADVERBS and words[start] not in PREPOSITIONS:
        start += 1
    if words[start] in ("i", "we"):
        return "i", _main_verb(words, start + 1)
    if start and words[start] == "you":
        return "you", _main_verb(words, start + 1)
    if _opens_with_verb(words, start):
        return _inherited(before, sign), _main_verb(words, start)
    inverted = next(
        (
            place
            for place, word in enumerate(words[1:], 1)
            if word in ("i", "we") and _main_verb(words, place + 1) is not None
        ),
        None,
    )
    if inverted is not None and first not in _NOT_INVERTED:
        return "i", _main_verb(words, inverted + 1)
    verb = _finite_verb(words)
    return ("third", verb) if verb is not None else ("none", None)


def _inherited(before: Clause | None, sign: str) -> Subject:
    if (
        before is not None
        and sign in ("and", "or", ",", "then", "but", "nor")
        and before.subject != "none"
        and before.verb_at is not None
    ):
        return before.subject
    return "order"


def _opens_with_verb(words: tuple[str, ...], start: int) -> bool:
    word = words[start]
    if word in AUXILIARIES and word not in ("do", "have", "need", "be"):
        return False
    if not is_verb(word) and word not in ("let", "be"):
        return False
    if verb_of(word) != word and not word.endswith("ing"):
        return False
    if start + 1 == len(words):
        return word not in SYNONYMS or (word in CLASSES_OF and word not in SYNONYMS)
    after = words[start + 1]
    if after in AUXILIARIES and after not in ("have",):
        return False
    return word not in _BEFORE_NOUNS and word not in PRONOUNS


def _main_verb(words: tuple[str, ...], start: int) -> int | None:
    """The verb that says what is done: behind auxiliaries, adverbs, and `want to`."""
    place = start
    while place < len(words):
        word = words[place]
        if word in _SKIPPED and not (
            word == "do" and place + 1 < len(words) and words[place + 1] in ("it", "that", "this", "so")
        ):
            if word in AUXILIARIES and not _verb_follows(words, place + 1):
                return place
            place += 1
            continue
        if (
            verb_of(word) in _CATENATIVES
            and place + 1 < len(words)
            and (words[place + 1] == "to" or words[place + 1].endswith("ing"))
        ):
            place += 1
            continue
        if word in _NO_VERBS:
            return None
        return place
    return None


def _verb_follows(words: tuple[str, ...], start: int) -> bool:
    for word in words[start:]:
        if (
            word in ADVERBS
            or word in ("not", "never", "to")
            or word in AUXILIARIES
            or word in ("going", "about", "ready")
        ):
            continue
        return is_verb(word) and word not in _BEFORE_NOUNS
    return False


def _finite_verb(words: tuple[str, ...]) -> int | None:
    """The verb of somebody else's doing: the first auxiliary or verb form behind the first words."""
    for place, word in enumerate(words[1:], 1):
        if word in AUXILIARIES:
            return _main_verb(words, place) if _verb_follows(words, place + 1) else place
    for place, word in enumerate(words[1:], 1):
        if (
            (is_verb(word) or is_past_form(word))
            and word not in _BEFORE_NOUNS
            and words[place - 1] not in _BEFORE_OTHERS
        ):
            return place
    return None


def _mood(
    words: tuple[str, ...],
    sentence: str,
    *,
    asked: bool,
    supposed: bool,
    first: str,
    sign: str,
    before: Clause | None,
    subject: Subject,
    verb_at: int | None,
) -> Mood:
    if asked:
        return "question"
    if supposed:
        return "maybe"
    text = " ".join(words)
    if words[:1] and words[0] in WH and before is None:
        return "question"
    if _ONLY_THOUGHT.search(text) or (
        before is not None
        and before.mood == "maybe"
        and sign in ("and", "or")
        and subject == before.subject
        and words[0] not in ("i", "we")
    ):
        return "maybe"
    if first in _ASIDES or sign in _ASIDES or (words and words[0] in _ASIDES):
        waits = before is not None and before.rejected and (sign == "until" or first == "until")
        return "act" if waits else "aside"
    if _told_of_past(words, sentence, subject, verb_at):
        return "past"
    return "act"


def _told_of_past(words: tuple[str, ...], sentence: str, subject: Subject, verb_at: int | None) -> bool:
    before_verb = set(words[: verb_at + 1]) if verb_at is not None else set(words)
    if subject == "i" and before_verb & {"was", "were", "had"} and "better" not in words:
        return True
    if (
        subject == "i"
        and "have" in before_verb
        and "to" not in before_verb
        and verb_at is not None
        and words[verb_at] != "have"
        and is_past_form(words[verb_at])
    ):
        return True
    past = verb_at is not None and any(is_past_form(word) for word in words[: verb_at + 1])
    return (past or "used to" in sentence) and _PAST_SIGNS.search(sentence) is not None
