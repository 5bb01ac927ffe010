"""Beliefs: what somebody takes to be true, how sure they are, and how evidence moves that; decided purely.

1. *Claims* are read from what is told, said or thought: "the king is dead", "Orr stole the key", and their opposites
   ("is not", "did not", and pairs such as dead and alive). Questions, conditions, wishes and guesses claim nothing.
2. *Evidence* counts by how it came: what was seen takes a belief half of the way, what was told three tenths, a thought
   of one's own half. What somebody says proves nothing to themselves: people lie.
3. *Confidence* begins at 0.9 for what was seen or thought, and at 0.75 for what was told. What supports a belief takes
   it that part of the way to 1, what speaks against it that part of the way to 0.
4. Below one half a belief is *overturned*: its opposite is believed from then on, as surely as the belief was doubted.

Each change is a memory of its own, on the turn whose evidence caused it. So going back brings back what was believed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from fabula.language.english import closed, sentences
from fabula.language.stemming import content_words, stem_in
from fabula.language.words import words_of
from fabula.ports.memories import Candidates, Memory, NewMemory

Source = Literal["saw", "told", "thought"]
WEIGHTS: Final[Mapping[Source, float]] = {"saw": 0.5, "told": 0.3, "thought": 0.5}
FIRST: Final[Mapping[Source, float]] = {"saw": 0.9, "told": 0.75, "thought": 0.9}
OVERTURNED: Final = 0.5
MOST_CLAIMS: Final = 8
"""Of one line."""
LONGEST_CLAIM: Final = 500
"""Prompts have what somebody believes. Nobody claims anything in so many letters, but a word may be without end."""
MOST_EVIDENCE: Final = 24
"""So many turns are kept with a belief, the newest."""
AGAINST: Final = "!"
"""Stands before a turn whose evidence speaks against a belief."""
SCENE: Final = "belief/"
"""All changes of one belief have a scene of their own, by which they are known to be the same belief."""
IMPORTANCE: Final = 3

_OPPOSITES: Final = dict(
    pair.split("/")
    for pair in [
        "alive/dead",
        "innocent/guilty",
        "closed/open",
        "shut/open",
        "locked/open",
        "false/true",
        "lost/found",
        "enemy/friend",
        "dangerous/safe",
        "full/empty",
        "gone/here",
        "bad/good",
        "evil/good",
        "weak/strong",
        "poor/rich",
        "sick/healthy",
        "asleep/awake",
    ]
)
_SUBJECT = r"(?:(?:the|my|his|her|their|our|this|that)\s+)?(?:[\w'’-]+)(?:\s+(?:of\s+)?(?:the\s+)?[\w'’-]+){0,3}?"
_NOT = r"(?:\s+(?P<no>not|never|no\s+longer))?"
_IS = re.compile(
    rf"^(?P<who>{_SUBJECT})\s+(?:(?P<isnt>isn't|aren't|wasn't|weren't)|(?P<is>is|are|was|were)){_NOT}"
    r"\s+(?P<what>[\w'’ -]{2,60})$",
    re.IGNORECASE,
)
_DEEDS: Final = [
    "killed",
    "kill",
    "murdered",
    "murder",
    "stole",
    "steal",
    "betrayed",
    "betray",
    "hid",
    "hide",
    "lied",
    "lie",
    "loves",
    "love",
    "hates",
    "hate",
    "owns",
    "own",
    "has",
    "have",
    "poisoned",
    "poison",
    "burned",
    "burn",
    "took",
    "take",
    "wrote",
    "write",
    "saved",
    "save",
    "escaped",
    "escape",
    "left",
    "leave",
    "knows",
    "know",
    "lives",
    "live",
    "died",
    "die",
]
_DID = re.compile(
    rf"^(?P<who>{_SUBJECT})\s+(?:(?P<didnt>did\s+not|didn't|does\s+not|doesn't|never)\s+)?"
    rf"(?P<verb>{'|'.join(_DEEDS)})(?P<what>(?:\s+[\w'’ -]{{2,60}})?)$",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:if|unless|perhaps|maybe|might|could|would|should|wish|suppose|pretend|imagine|seems?)\b", re.I
)
_SAYING = re.compile(
    r"^(?:(?:and|but|so|well|look|listen|truly|now|yes|no)\s+)*(?:i|we)\s+(?:say|said|think|know|believe|swear|heard|hear"
    r"|saw|see|tell you|promise|whisper|shout)(?:\s+that)?\s+",
    re.I,
)
_LEADING = re.compile(r"^(?:and|but|so|well|then|because|that)\s+", re.I)
_CLAUSES = re.compile(r"[,;:()“”\"–—]|\s(?:and|but|because|so|while|when)\s", re.I)
_PASSING = re.compile(r"\b(?:you|me|him|it|us|them|here|there|now|your|my)\b|^\w+ing\b", re.I)
_BEING = frozenset({"is", "are", "was", "were"})
_SMALL = frozenset({"the", "my", "his", "her", "their", "our", "a", "an", "of"})
_NOBODY = frozenset(
    {"it", "there", "he", "she", "they", "you", "we", "this", "that", "what", "who", "which", "everything"}
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Something that is said to be so, or not to be so. `key` is the same for both; `text` is the positive sentence,
    `denial` its opposite."""

    key: str
    positive: bool
    text: str
    denial: str

    @property
    def sentence(self) -> str:
        """What is claimed."""
        return self.text if self.positive else self.denial


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A claim as it came to somebody: how, from whom, and in which turn."""

    claim: Claim
    source: Source
    turn_id: str
    from_whom: str = ""


@dataclass(frozen=True, kw_only=True)
class Belief:
    """What somebody takes to be true now; `evidence` are turns, those that speak against it after a `!`."""

    key: str
    positive: bool
    text: str
    confidence: float
    evidence: tuple[str, ...]
    from_whom: str = ""
    overturned: bool = False


def claims_in(text: str, speaker: str = "") -> list[Claim]:
    """What a text claims; `I` in it is the speaker."""
    found: dict[str, Claim] = {}
    for sentence in sentences(text):
        if sentence.rstrip("\"'”’").endswith("?") or _UNSURE.search(sentence):
            continue
        for clause in _CLAUSES.split(sentence):
            if len(clause) > LONGEST_CLAIM:
                continue
            claim = _claim(clause.strip(" .!…'"), speaker)
            if claim is not None:
                found.setdefault(claim.key, claim)
    return list(found.values())[:MOST_CLAIMS]


def _claim(clause: str, speaker: str) -> Claim | None:
    clause = " ".join(clause.replace("’", "'").split())
    clause = _LEADING.sub("", _SAYING.sub("", _LEADING.sub("", clause)))
    if speaker:
        # By functions: in a text that is put in, a backslash of a name would be read as a sign of the pattern.
        clause = re.sub(r"^(?:i am|i'm|i was)\b", lambda _: f"{speaker} is", clause, flags=re.I)
        clause = re.sub(r"^i\b", lambda _: speaker, clause, flags=re.I)
        clause = re.sub(r"^my\b", lambda _: f"{speaker}'s", clause, flags=re.I)
    is_so = _IS.match(clause)
    if is_so is not None:
        denied = bool(is_so["no"] or is_so["isnt"])
        verb = (is_so["is"] or is_so["isnt"].removesuffix("n't")).lower()
        return _made(is_so["who"], verb, is_so["what"], denied=denied)
    did = _DID.match(clause)
    if did is not None:
        verb = _past(did["verb"].lower())
        if verb == "died":
            return _made(did["who"], "is", "dead", denied=bool(did["didnt"]))
        return _made(did["who"], verb, did["what"].strip(), denied=bool(did["didnt"]))
    return None


def _made(who: str, verb: str, what: str, *, denied: bool) -> Claim | None:
    if who.lower() in _NOBODY or who.lower().split()[0] in _NOBODY:
        return None
    # Whom a pronoun means is not known later, and what somebody is just doing is soon over.
    if _PASSING.search(what) or _PASSING.search(who):
        return None
    words, is_so = content_words(what), verb in _BEING
    # `not dead` and `alive` are the same claim.
    opposite = _OPPOSITES.get(words[0]) if is_so and len(words) == 1 else None
    shown, positive = (opposite, denied) if opposite is not None else (what, not denied)
    # Small words may be subjects: a well is one.
    subject = {stem_in(word) for word in words_of(who)} - _SMALL
    about = {stem_in(word) for word in content_words(shown)}
    if not subject or not about:
        return None
    raw = " ".join(["is" if is_so else stem_in(verb), *sorted(subject | about)])
    text = closed(f"{who} {verb} {shown}".strip())
    denial = closed(f"{who} {verb} not {shown}" if is_so else f"{who} never {verb} {shown}".strip())
    if opposite is not None:
        denial = closed(f"{who} {verb} {what}")
    return Claim(key=hashlib.sha256(raw.encode()).hexdigest()[:16], positive=positive, text=text, denial=denial)


def _past(verb: str) -> str:
    """`killed` for `kill`: the list has each verb after the form in which it is told."""
    at = _DEEDS.index(verb)
    return _DEEDS[at - at % 2]


def weigh(before: Belief | None, evidence: Evidence) -> Belief:
    """A belief after one more piece of evidence."""
    claim, weight = evidence.claim, WEIGHTS[evidence.source]
    if before is None:
        return Belief(
            key=claim.key,
            positive=claim.positive,
            text=claim.sentence,
            confidence=FIRST[evidence.source],
            evidence=(evidence.turn_id,),
            from_whom=evidence.from_whom,
        )
    supports = claim.positive == before.positive
    sure = before.confidence
    sure = sure + weight * (1 - sure) if supports else sure - weight * sure
    mark = evidence.turn_id if supports else AGAINST + evidence.turn_id
    after = replace(
        before,
        confidence=round(sure, 3),
        evidence=(*before.evidence, mark)[-MOST_EVIDENCE:],
        from_whom=evidence.from_whom if supports else before.from_whom,
        overturned=False,
    )
    return _overturn(after, evidence) if sure < OVERTURNED else after


def _overturn(belief: Belief, evidence: Evidence) -> Belief:
    turned = tuple(one.removeprefix(AGAINST) if one.startswith(AGAINST) else AGAINST + one for one in belief.evidence)
    return replace(
        belief,
        positive=evidence.claim.positive,
        text=evidence.claim.sentence,
        confidence=round(1 - belief.confidence, 3),
        evidence=turned,
        from_whom=evidence.from_whom,
        overturned=True,
    )


def beliefs_after(before: Mapping[str, Belief], evidence: Iterable[Evidence]) -> list[Belief]:
    """The beliefs that some evidence has changed, as they are after all of it."""
    changed: dict[str, Belief] = {}
    for one in evidence:
        key = one.claim.key
        changed[key] = weigh(changed.get(key) or before.get(key), one)
    return list(changed.values())


def as_memory(belief: Belief, *, owner: str, turn_id: str, minute: int, where: str) -> NewMemory:
    """A belief as it is kept: the newest one of its scene is what is believed."""
    return NewMemory(
        memory_id=f"belief/{owner}/{turn_id}/{belief.key}/{'is' if belief.positive else 'not'}",
        owner=owner,
        kind="belief",
        text=belief.text,
        scene=SCENE + belief.key,
        where=where,
        minute=minute,
        importance=IMPORTANCE,
        certainty=belief.confidence,
        told_by=belief.from_whom,
        evidence=belief.evidence,
    )


def from_memory(memory: Memory) -> Belief:
    """A belief that was kept."""
    return Belief(
        key=memory.scene.removeprefix(SCENE),
        positive=memory.memory_id.endswith("/is"),
        text=memory.shown,
        confidence=memory.certainty,
        evidence=memory.evidence,
        from_whom=memory.told_by,
    )


def current(memories: Iterable[Memory]) -> list[Memory]:
    """Of memories of beliefs, the newest first, those that are believed now."""
    found: dict[str, Memory] = {}
    for one in memories:
        found.setdefault(one.scene, one)
    return list(found.values())


def without_superseded(found: Candidates) -> Candidates:
    """Candidates without beliefs that were changed later: they come oldest first."""
    last = {row[2]: at for at, row in enumerate(found.rows) if row[2].startswith(SCENE)}
    if not last:
        return found
    kept = [at for at, row in enumerate(found.rows) if last.get(row[2], at) == at]
    rows, vectors = found.rows, found.vectors
    return replace(found, rows=[rows[at] for at in kept], vectors=[vectors[at] for at in kept])


def sureness(confidence: float) -> str:
    """How sure somebody is, in words."""
    return "certain" if confidence >= 0.9 else "fairly sure" if confidence >= 0.7 else "half sure"


def turns_of(evidence: Sequence[str], *, against: bool = False) -> list[str]:
    """The turns that speak for a belief, or against it."""
    return [one.removeprefix(AGAINST) for one in evidence if one.startswith(AGAINST) == against]
