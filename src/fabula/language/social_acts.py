"""What a line does to the person it is said to: thanks, praise, an insult, a threat; found by its words, in English.

A line is read sentence by sentence. What is asked, supposed or said not to be so is not done: `I will not hurt you` is
no threat, it is a comfort. A line that does nothing of the kind does nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from fabula.language.english import sentences

SocialAct = Literal[
    # strong ones
    "confession",
    "betrayal",
    "threat",
    "rescue",
    "favour",
    # and what is said every day
    "comfort",
    "thanks",
    "apology",
    "praise",
    "promise",
    "gift",
    "insult",
    "accusation",
    "mockery",
    "order",
    "courtesy",
]

LONGEST_READ: Final = 4_000
"""So many letters of a line are read; who says more is not kinder for it."""

_I = r"\b(?:i|we|i'?ll|we'?ll|i'?m|i'?ve|we'?ve|i will|i am|i have|i would|i could|let me)\b"
_YOU = r"\b(?:you|your|yours|you'?re)\b"
_HURT = (
    r"(?:kill|hurt|break|burn|cut|hang|gut|end|ruin|destroy|shoot|stab|strangle|beat|punish|silence|bury|crush|slit"
    r"|make you pay|come for you|make you regret)"
)


def _pattern(*ways: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{way})" for way in ways), re.IGNORECASE)


_NO: Final = re.compile(r"\b(?:not|never|no|nobody|won'?t|don'?t|didn'?t|can'?t|cannot|wouldn'?t|without)\b", re.I)
_SUPPOSED: Final = re.compile(r"\b(?:if i (?:had|were|was)|suppose|imagine|would i|should i|what if)\b", re.I)

_ACTS: Final[tuple[tuple[SocialAct, re.Pattern[str]], ...]] = (
    (
        "rescue",
        _pattern(
            rf"{_I} .{{0,40}}\b(?:save|saved|rescue|rescued|shield|shielded|free|freed|untie|untied)\b.{{0,20}}{_YOU}",
            rf"{_I} .{{0,40}}\b(?:pull|pulled|drag|dragged|carry|carried)\b.{{0,10}}\byou\b"
            r".{0,30}\b(?:out|away|free)",
            r"\b(?:step|stepped|throw myself|threw myself|stand|stood) between you and\b",
            rf"{_I} .{{0,30}}\b(?:cut|loosen|loosened|break|broke)\b.{{0,20}}"
            r"\b(?:your|the) (?:ropes?|bonds|chains|cuffs)",
        ),
    ),
    (
        "betrayal",
        _pattern(
            rf"{_I} .{{0,30}}\b(?:betrayed|sold|deceived|used|abandoned|tricked)\b.{{0,10}}\byou\b",
            rf"{_I} .{{0,30}}\btold (?:them|him|her|the \w+|everyone|everybody)\b.{{0,40}}"
            r"\b(?:your secret|about you|where you|who you|what you)\b",
            rf"{_I} .{{0,30}}\b(?:gave|turned|handed) you (?:up|over|in)\b",
            rf"{_I} .{{0,20}}\bworked? (?:for|with) (?:them|your enem)",
        ),
    ),
    (
        "threat",
        _pattern(
            rf"{_I} .{{0,30}}\b{_HURT}\b(?: (?:you|your)\b|$|[.!])",
            r"\bor else\b",
            r"\b(?:you'?ll|you will|you shall) (?:regret|pay for|die|be sorry|suffer|hang|burn)\b",
            r"\b(?:put|hold|held|press|pressed|point|pointed|raise|raised|level|aim|aimed)\b.{0,30}"
            r"\b(?:knife|blade|sword|gun|pistol|axe|dagger|weapon|fist)\b",
            r"\bwatch your back\b",
            r"\byour (?:family|children|child|wife|husband|shop|house) (?:will|would) (?:pay|burn|suf)",
        ),
    ),
    (
        "confession",
        _pattern(
            r"\b(?:i|we) (?:must |have to |want to |need to )?(?:confess|admit)\b",
            r"\b(?:i have|i need|i want) to tell you the truth\b|\bthe truth is\b.{0,60}\bi\b|\bi have a confession\b",
            r"\bi (?:have )?lied to you\b|\bi (?:have )?(?:never told|hidden this|kept this)\b",
            r"\bit was (?:me|i)\b(?: who| that|[.!,]|$)|\bi (?:am|'m) in love with you\b|\bi love you\b",
        ),
    ),
    (
        "favour",
        _pattern(
            r"\bi(?:'?ll| will| shall)? (?:give|gave|leave|hand)\b.{0,20}\bmy (?:last|only|own|father'?s|mother'?s)\b",
            r"\b(?:take|keep|have) my (?:last|only|own|horse|coat|ring|sword|boat|share|place|life)\b",
            rf"{_I} .{{0,20}}\b(?:pay|paid|settle|settled|clear) (?:your|all your) (?:debts?|fines?|rent|bill)\b",
            rf"{_I} .{{0,20}}\b(?:take|took) the blame\b|\b(?:stay|stayed) behind so (?:that )?you\b",
            r"\bi(?:'?ll| will| would)? (?:risk|risked|gave|give) (?:my life|everything|all i have)\b",
        ),
    ),
    (
        "comfort",
        _pattern(
            r"\byou(?:'re| are) safe\b|\bit(?:'s| is| will be) all right\b",
            r"\bdon'?t (?:worry|be afraid|be scared|cry)\b",
            r"\b(?:i'm|i am) (?:here|with you|on your side)\b|\btake your time\b|\bno need to (?:fear|worry|hurry)\b",
            r"\bi(?:'m| am) sorry (?:for your|about your|to hear|you had)\b|\bi believe you\b|\bi understand\b",
            r"\blay (?:down|aside) (?:my|the) (?:knife|blade|sword|gun|weapon)\b|\bmean you no harm\b",
        ),
    ),
    (
        "apology",
        _pattern(
            r"\bi(?:'m| am) (?:so |truly |very )?sorry\b|\bi apologi[sz]e\b|\bforgive me\b|\bmy (?:fault|mistake)\b"
        ),
    ),
    ("thanks", _pattern(r"\bthank(?:s| you)\b|\bmuch obliged\b|\bi(?:'m| am) (?:so |very )?grateful\b|\bi owe you\b")),
    (
        "promise",
        _pattern(
            r"\b(?:i|we) (?:promise|swear|vow|give you my word)\b|\byou have my word\b|\bi(?:'ll| will) (?:help|protect"
            r"|keep your|come back for you|not tell)\b|\byou can (?:trust|count on|rely on) me\b"
        ),
    ),
    (
        "gift",
        _pattern(
            r"\b(?:this is|here is|here'?s|a gift|something) for you\b|\bi(?:'ve)? (?:brought|bought|made) you\b",
            r"\bi (?:give|hand|offer|pour|pass) (?:you|him|her|them)\b|\btake (?:this|it), (?:please|it'?s yours)\b",
        ),
    ),
    (
        "praise",
        _pattern(
            r"\byou(?:'re| are| look| seem| were| did)\b.{0,20}\b(?:brave|kind|wise|clever|good|wonderful|beautiful"
            r"|right|strong|lovely|brilliant|well|honest|generous|great)\b",
            r"\b(?:well done|good work|i admire|i respect|i like|impressive|i am glad|i'm glad)\b",
        ),
    ),
    (
        "insult",
        _pattern(
            r"\byou(?:'re| are)?\b.{0,20}\b(?:fool|idiot|coward|liar|thief|pig|dog|rat|witch|bastard|stupid|useless"
            r"|ugly|worthless|pathetic|traitor|scum|disgusting|weak|murderer)\b",
            r"\b(?:shut up|go to hell|get lost|damn you|curse you|i hate you|you disgust me|i spit)\b",
        ),
    ),
    (
        "accusation",
        _pattern(
            r"\byou(?:'re| are) (?:lying|hiding)\b|\byou lied\b|\bit was you\b",
            r"\byou (?:did it|killed|stole|took|betrayed)\b|\byour fault\b",
            r"\bi don'?t (?:trust|believe) you\b|\byou should be ashamed\b",
        ),
    ),
    (
        "mockery",
        _pattern(
            r"\b(?:i )?(?:laugh|laughed|sneer|sneered|mock|mocked|jeer|smirk|smirked)(?:s|ing)? at\b|\bhow pathetic\b"
        ),
    ),
    (
        "order",
        _pattern(
            r"^(?:do as i say|obey|on your knees|kneel|answer me|tell me now|talk)\b.{0,20}[!.]?$",
            r"\bi (?:order|command)\b|\byou will (?:tell|give|do|obey|answer)\b|\bright now!|\bor i(?:'ll| will)\b",
        ),
    ),
    (
        "courtesy",
        _pattern(
            r"^(?:hello|hi|good (?:morning|day|evening)|greetings|well met)\b", r"\bhow are you\b|\bmay i\b|\bplease\b"
        ),
    ),
)
STRONG: Final[frozenset[SocialAct]] = frozenset(["confession", "betrayal", "threat", "rescue", "favour"])
_STANDS_ANYWAY: Final[frozenset[SocialAct]] = frozenset(["comfort", "accusation", "insult", "thanks", "apology"])
"""Acts that a `not` in the same sentence does not undo."""


BEFORE: Final = 12
"""So many letters before an act a `not` denies it."""


_SIGNS: Final[dict[str, tuple[str, ...]]] = {
    act: tuple(signs.split("|"))
    for act, signs in (
        ("rescue", "sav|rescue|shield|free|untie|out|away|between|rope|bonds|chains|cuffs"),
        ("betrayal", "betrayed|sold|deceived|used|abandoned|tricked|told| you up| you over| you in|worke|work "),
        (
            "threat",
            "kill|hurt|break|burn|cut|hang|gut|end|ruin|destroy|shoot|stab|strangle|beat|punish|silence|"
            "bury|crush|slit|make you|come for you|else|regret|pay|die|sorry|suf|knife|blade|sword|gun|"
            "pistol|axe|dagger|weapon|fist|watch your",
        ),
        ("confession", "confess|admit|the truth|lied|never told|hidden|kept|it was|love"),
        ("favour", "my |your|blame|behind|everything|all i have"),
        (
            "comfort",
            "safe|all right|worry|afraid|scared|cry|here|with you|your|no need|to hear|you had|believe|"
            "understand|aside|down|no harm",
        ),
        ("apology", "sorry|apologi|forgive|my fault|my mistake"),
        ("thanks", "thank|obliged|grateful|owe"),
        ("promise", "promise|swear|vow|my word|help|protect|keep your|come back|not tell|you can"),
        ("gift", "for you|brought|bought|made you|give|hand|offer|pour|pass|take"),
        ("praise", "you|well done|good work|admire|respect|i like|impressive|glad"),
        ("insult", "you|shut up|go to hell|get lost|i spit"),
        ("accusation", "you"),
        ("mockery", "laugh|sneer|mock|jeer|smirk|pathetic"),
        ("order", "do as|obey|knees|kneel|answer|tell me now|talk|order|command|you will|right now|or i"),
        ("courtesy", "hello|hi|good |greetings|well met|how are|may i|please"),
    )
}
"""Letters one of which stands in all that is found of an act. Most lines do nothing to anybody, and to look for a few
letters costs far less than to try a pattern at every place: it was a fiftieth of a turn."""


def acts_in(line: str) -> list[SocialAct]:
    """What a line does, each act once, the weightiest first."""
    found: set[SocialAct] = set()
    for sentence in sentences(" ".join(line.replace("’", "'").split())[:LONGEST_READ]):
        found |= _in_sentence(sentence)
    return [act for act, _ in _ACTS if act in found]


def _in_sentence(sentence: str) -> set[SocialAct]:
    if _SUPPOSED.search(sentence):
        return set()
    found = {act: match for act, pattern in _likely(sentence) if (match := pattern.search(sentence)) is not None}
    if is_asked(sentence):
        return found.keys() & {"courtesy", "accusation"}
    denied = {act for act, match in found.items() if _is_denied(sentence, match)}
    kept = found.keys() - (denied - _STANDS_ANYWAY)
    return kept | {"comfort"} if "threat" in denied else kept


def _likely(sentence: str) -> Iterator[tuple[SocialAct, re.Pattern[str]]]:
    """The acts that may stand in a sentence. Beyond ASCII, letters that are not written alike may match each other."""
    small = sentence.lower()
    for act, pattern in _ACTS:
        if not small.isascii() or any(sign in small for sign in _SIGNS[act]):
            yield act, pattern


def is_asked(sentence: str) -> bool:
    """Whether a sentence is a question."""
    return sentence.rstrip("\"”'’ ").endswith("?")


def _is_denied(sentence: str, match: re.Match[str]) -> bool:
    """Whether a `not` stands in what was found, or shortly before it; what stands behind it is another matter."""
    return _NO.search(sentence, max(0, match.start() - BEFORE), match.end()) is not None
