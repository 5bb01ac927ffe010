"""Whether a line needs a check: decided by rule from what the line was understood to mean, never by a model.

1. Only a deed that is done now counts: questions, wishes, orders to others and tales of the past roll no dice.
2. A deed is risky when somebody is attacked, or when its words are among the system's risky ones.
3. What it is rolled with is the skill, or else the attribute, whose words it has.
4. Who is acted on stands against it; else the scene's difficulty, or the system's usual target, must be reached.
5. What "we" do is a check of the group: everyone there rolls, and what half of them reach counts.
6. In free play nobody gives away for the asking what they keep to themselves: whatever is said to get it out of them is
   rolled for.
7. Who tells the outcome with the deed still has to roll for it; about what somebody else does they have to in any
   case, since that is not theirs to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

from fabula.rules.sheets import preventing
from fabula.story.checks import PLAYER, Check, Edge, Modifier
from fabula.story.game_systems import GameSystem
from fabula.story.readings import Intent, IntentKind, Understood
from fabula.story.values import Json

Act = Literal["attack", "social", "risk"]

_DEEDS: Final[frozenset[IntentKind]] = frozenset(
    {"go", "examine", "listen", "talk", "ask", "tell", "take", "give", "put", "use", "open", "close", "read", "attack",
     "touch", "gesture", "promise", "act"}
)  # fmt: skip
_SOCIAL: Final[frozenset[IntentKind]] = frozenset({"talk", "ask", "tell", "promise"})
_SOCIAL_WORDS: Final = frozenset(
    [
        "persuade",
        "convince",
        "lie",
        "bluff",
        "deceive",
        "trick",
        "pretend",
        "threaten",
        "intimidate",
        "scare",
        "charm",
        "beg",
        "negotiate",
        "bargain",
        "haggle",
        "seduce",
        "provoke",
        "comfort",
        "command",
    ]
)
_DECLARED: Final = re.compile(
    r"\b(?:successfully|with ease|easily|without (?:a sound|any trouble|being (?:seen|noticed))|at once succeed\w*"
    r"|manage to|and (?:he|she|they|it) (?:agrees?|dies?|falls?|gives? in|believes? me|obeys?|opens?|yields?))\b"
)
_HELPED: Final = re.compile(r"\b(?:with (?:the )?help|helped by|carefully|taking my time|from behind|by surprise)\b")
_HINDERED: Final = re.compile(r"\b(?:in a hurry|hastily|blindly|in the dark|with one hand|blindfolded|drunk)\b")


_TOGETHER: Final = re.compile(r"^\W*we\b|\b(?:all of us|both of us|together we|we all|we both)\b")
MOST_TOGETHER: Final = 6
DECLARED_WORD: Final = "and it is done"
"""In place of a risky word, where only the outcome was told."""
SECRET_WORD: Final = "persuade"
"""In place of a risky word, where a secret is asked for in words that are not risky."""


def needed_check(
    system: GameSystem,
    read: Understood,
    *,
    check_id: str,
    sheets: Mapping[str, Mapping[str, Json]],
    present: Sequence[str],
    difficulty: str | None = None,
    secret_of: str | None = None,
) -> Check | None:
    """The check that a line needs, or None. `present` are the characters of the scene; one check a turn at most.

    `secret_of` is whom the line would have tell what they keep to themselves.
    """
    for intent in read.intents:
        if intent.kind not in _DEEDS or intent.mood not in ("act", "statement") or intent.negated:
            continue
        found = _risky_word(system, intent)
        if found is None and intent.whom in present and _DECLARED.search(read.line.casefold()) is not None:
            found = DECLARED_WORD
        if found is not None or intent.kind == "attack":
            return _check(system, intent, found or "attack", check_id, sheets, present, difficulty, read.line)
    if secret_of is None or not read.intents:
        return None
    asking = read.intents[0].model_copy(update={"whom": secret_of})
    return _check(system, asking, SECRET_WORD, check_id, sheets, present, difficulty, read.line)


def _risky_word(system: GameSystem, intent: Intent) -> str | None:
    text = f" {intent.text} {intent.verb} ".casefold()
    return next((word for word in system.risky if _is_in(text, word)), None)


def _is_in(text: str, word: str) -> bool:
    # Of thousands of words a line has few: patterns are made only of those whose letters stand in it.
    beginning = word.casefold().partition(" ")[0].removesuffix("e")
    return beginning in text and _pattern(word).search(text) is not None


@lru_cache(maxsize=2000)
def _pattern(word: str) -> re.Pattern[str]:
    """A word or phrase, also where its first word is inflected: climbs, climbed, climbing."""
    first, *rest = re.escape(word.casefold()).split("\\ ")
    return re.compile(rf"\b{first.removesuffix('e')}e?(?:s|es|d|ed|ing)?{''.join(f' {part}' for part in rest)}\b")


def _check(
    system: GameSystem,
    intent: Intent,
    word: str,
    check_id: str,
    sheets: Mapping[str, Mapping[str, Json]],
    present: Sequence[str],
    difficulty: str | None,
    line: str,
) -> Check:
    act = _act(intent, word)
    stat, skill = _stats(system, intent, word)
    opponent = intent.whom if intent.whom in present and act != "risk" else None
    text = f"{intent.text} {line}".casefold()
    declared = _DECLARED.search(line.casefold()) is not None
    held = preventing(system, sheets.get(PLAYER, {}))
    return Check(
        check_id=check_id,
        act=act,
        deed=intent.text[:400],
        stat=stat,
        skill=skill,
        target=None if opponent is not None else _target(system, difficulty),
        opponent=opponent,
        edge=_edge(text),
        forced="failure" if held is not None else None,
        modifiers=[] if held is None else [Modifier(source=held, value=0)],
        because=_because(word, declared=declared, held=held),
        declared=declared,
        group=_group(intent, line, present) if opponent is None else [],
    )


def _group(intent: Intent, line: str, present: Sequence[str]) -> list[str]:
    """Who does it along: everybody there when it is said of us all, else nobody."""
    said = _TOGETHER.search(line.casefold()) is not None
    return list(present[:MOST_TOGETHER]) if said else []


def _act(intent: Intent, word: str) -> Act:
    # A threat is read as an attack, and is none yet.
    if word == DECLARED_WORD or word.split()[0] in _SOCIAL_WORDS:
        return "social"
    if intent.kind == "attack":
        return "attack"
    return "social" if intent.kind in _SOCIAL else "risk"


def _stats(system: GameSystem, intent: Intent, word: str) -> tuple[str | None, str | None]:
    """The attribute and the skill that a deed is about, by their words; the first attribute where nothing is said."""
    text = f" {intent.text} {intent.verb} {word} ".casefold()
    skill = _named(((name, one.words) for name, one in system.skills.items()), text)
    if skill is not None:
        return system.skills[skill].attribute, skill
    stat = _named(((name, one.words) for name, one in system.attributes.items()), text)
    return stat or next(iter(system.attributes), None), None


def _named(stats: Iterable[tuple[str, Sequence[str]]], text: str) -> str | None:
    return next((name for name, words in stats if any(_is_in(text, word) for word in words)), None)


def _target(system: GameSystem, difficulty: str | None) -> int:
    return system.difficulties.get(difficulty or "", system.core.default_target)


def _edge(text: str) -> Edge:
    helped, hindered = _HELPED.search(text) is not None, _HINDERED.search(text) is not None
    if helped == hindered:
        return "none"
    return "advantage" if helped else "disadvantage"


def _because(word: str, *, declared: bool, held: str | None) -> str:
    if held is not None:
        return f"who is {held} can do nothing"
    if word == DECLARED_WORD:
        return "what somebody else does is not the player's to tell"
    why = "somebody is attacked" if word == "attack" else f"“{word}” is risky here"
    return f"{why}, and the outcome is not the player's to tell" if declared else why
