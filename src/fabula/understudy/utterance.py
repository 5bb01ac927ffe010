"""Reads what the player wrote: silence, a greeting, a question, a threat, a deed, or plain speech."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from fabula.language.english import sentences
from fabula.language.words import stems, word_set, words_of

Kind = Literal[
    "silence",
    "greeting",
    "farewell",
    "thanks",
    "threat",
    "question",
    "request",
    "agreement",
    "refusal",
    "ready",
    "deed",
    "speech",
]
Deed = Literal["look", "go", "take", "give", "open", "attack", "wait", "hide", "listen", "touch", "other"]

_DEEDS: dict[Deed, frozenset[str]] = {
    "look": word_set("look examine inspect search study watch read check scan observe peer gaze survey glance"),
    "go": word_set("go walk run climb enter leave follow step move return head cross approach hurry sail ride"),
    "take": word_set("take grab pick seize collect steal pocket lift gather fetch hold"),
    "give": word_set("give hand offer show pass pay return lend throw share"),
    "open": word_set("open unlock push pull turn light close shut break use start repair mend fix ring press"),
    "attack": word_set("attack hit strike stab shoot kill punch fight kick slap hurt"),
    "wait": word_set("wait sit stand rest sleep stay pause think breathe"),
    "hide": word_set("hide sneak crouch duck creep slip"),
    "listen": word_set("listen hear eavesdrop"),
    "touch": word_set("touch feel kiss hug embrace stroke smell taste drink eat wash"),
    "other": word_set(
        """nod shake smile laugh draw write dig build cook sing dance play kneel bow wave point knock tie cut carry drop
        hang pour burn help save protect free untie pray call whistle shout whisper cast drive jump swim dive set place
        lean raise lower clean bandage heal tend remove wear dress finish begin"""
    ),
}
_VERB_TO_DEED = {verb: deed for deed, verbs in _DEEDS.items() for verb in verbs}
_GREETINGS = word_set("hello hi hey greetings hail howdy hallo morning evening")
_WH = word_set("who what where why when how which whose whom")
_ASKING = word_set("is are was were do does did can could will would should have has shall may")
_WISHES = word_set("tell show explain help please let bring lend promise come trust believe describe teach forgive")
_FEELING = word_set(
    """am was have had think believe want wish need know hope feel love hate like mean will would promise swear must can
    could should might agree accept understand remember suppose guess doubt trust fear suggest ask tell say came come"""
)
_THREAT = re.compile(
    r"\b(or else|i('ll| will) (kill|hurt|break|burn|cut|shoot|make you)|kill you|hurt you|threaten|at gunpoint|"
    r"(draw|raise|pull) (my|a|the) (sword|knife|dagger|gun|pistol|blade|axe)|you('ll| will) regret)\b"
)
_READY = re.compile(
    r"\b(let('s| us) (go|move|continue|begin|start|do it|proceed)|i('m| am) ready|we('re| are) ready|move on|go on|"
    r"carry on|continue|onward|lead the way|next|proceed|i('ll| will) do it|i('m| am) done here|time to go)\b"
)
_AGREE = re.compile(r"^(yes|yeah|yep|aye|sure|ok|okay|of course|certainly|agreed|gladly|i agree|i accept|very well)\b")
_REFUSE = re.compile(r"^(no|nope|nay|never|i refuse|i won't|i will not|i can't|not now|absolutely not)\b")
_THANKS = re.compile(r"\b(thank you|thanks|thank|grateful|much obliged)\b")
_BYE = re.compile(r"\b(goodbye|good bye|farewell|bye|see you|so long|good night)\b")
_NEGATED = re.compile(r"\b(not|never|n't|don't|won't|can't|refuse|no longer|without)\b|n't\b")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the player's words are. `said` is the spoken part, `done` the part that is a deed, told as `I ...`."""

    kind: Kind
    text: str
    said: str = ""
    done: str = ""
    deed: Deed = "other"
    asks: str = ""
    topic: frozenset[str] = frozenset()
    negated: bool = False


def read(text: str) -> Reading:
    """What the player's words are, as far as their form tells."""
    plain = " ".join(text.replace("’", "'").replace("“", '"').replace("”", '"').split())
    words = words_of(plain)
    if not words:
        return Reading(kind="silence", text=plain)
    said, done = _parts(plain)
    low = (said or plain).lower()
    kind: Kind = (
        "threat" if _THREAT.search(plain.lower()) else _kind(low, words_of(said or plain), bool(done), bool(said))
    )
    return Reading(
        kind=kind,
        text=plain,
        said=said,
        done=done,
        deed=deed_of(done),
        asks=_asks(words_of(said)) if kind == "question" else "",
        topic=stems(plain),
        negated=bool(_NEGATED.search(plain.lower())),
    )


def deed_of(done: str) -> Deed:
    """What sort of deed it is, by its first verb."""
    for word in words_of(done)[:6]:
        if word in _VERB_TO_DEED:
            return _VERB_TO_DEED[word]
    return "other"


def _parts(plain: str) -> tuple[str, str]:
    """What is spoken and what is done. Quotes speak; stars, `I take ...` and `take ...` do."""
    quoted = re.findall(r'"([^"]+)"?', plain)
    rest = re.sub(r'"[^"]*"?', " ", plain)
    if quoted:
        deed = re.sub(
            r"\s+", " ", re.sub(r"\b(i )?(say|ask|reply|shout|whisper|answer)s?\b[,:]?", " ", rest, flags=re.I)
        )
        return " ".join(quoted), _as_deed(deed.strip(" ,.;:-"))
    starred = re.findall(r"\*([^*]+)\*", plain)
    if starred:
        return re.sub(r"\*[^*]*\*", " ", plain).strip(), _as_starred(starred[0].strip())
    deed = _as_deed(plain)
    return ("", deed) if deed else (plain, "")


def _as_starred(text: str) -> str:
    """Between stars players tell of themselves: `nods slowly` is `I nod slowly`."""
    first, _, rest = text.removeprefix("I ").partition(" ")
    verb = first.lower()
    if verb.removesuffix("s") in _VERB_TO_DEED or verb.removesuffix("es") in _VERB_TO_DEED:
        verb = verb.removesuffix("s") if verb.removesuffix("s") in _VERB_TO_DEED else verb.removesuffix("es")
    return f"I {verb} {rest}".strip()


def _as_deed(text: str) -> str:
    """The deed as `I ...` in one clause, or nothing when the words are no deed."""
    if text.endswith("?"):
        return ""
    clause = next(iter(sentences(text.partition(";")[0])), "").rstrip(".!; ")
    words = words_of(clause)
    if not words:
        return ""
    first = words[1] if words[0] == "i" and len(words) > 1 else words[0]
    if words[0] == "i":
        first = (
            words[2]
            if first in ("try", "quickly", "slowly", "carefully", "quietly", "then") and len(words) > 2
            else first
        )
        return clause if first not in _FEELING and not first.endswith("n't") and "'" not in words[0] else ""
    if first in _WISHES or {"me", "us"} & set(words[:4]):
        return ""
    return f"I {clause[0].lower()}{clause[1:]}" if first in _VERB_TO_DEED else ""


def _kind(low: str, words: list[str], done: bool, said: bool) -> Kind:
    if said and (low.rstrip().endswith("?") or (words and (words[0] in _WH or words[0] in _ASKING))):
        return "question"
    if _READY.search(low):
        return "ready"
    if said and words and (words[0] in _WISHES or ({"me", "us"} & set(words[:4]) and words[0] in _VERB_TO_DEED)):
        return "request"
    if done and not said:
        return "deed"
    if _BYE.search(low):
        return "farewell"
    if (words and words[0] in _GREETINGS) or low.startswith("good "):
        return "greeting" if len(words) <= 8 else "speech"
    if _THANKS.search(low):
        return "thanks"
    if _AGREE.search(low):
        return "agreement"
    if _REFUSE.search(low):
        return "refusal"
    return "speech"


def _asks(words: list[str]) -> str:
    found = next((word for word in words[:4] if word in _WH), "")
    return found or "whether"
