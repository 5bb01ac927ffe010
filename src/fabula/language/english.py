"""Plain English handled plainly: sentences, verbs, and who is `I` and who is `you`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fabula.language.words import STOP, word_set, words_of

_SENTENCE = re.compile(
    r"(?:(?<=[.!?])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)|(?<=[.!?][\"'’”]))\s+(?=[\"'‘“A-Z0-9])"
)
_LEANING = re.compile(
    r"\b(it|its|they|their|them|he|she|his|her|him|these|those|such)\b|^(this|that|and|but|so|then)\b", re.IGNORECASE
)
_MINE_TO_YOURS = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are", "i'm": "you're",
    "i've": "you've", "i'll": "you'll", "i'd": "you'd",
}  # fmt: skip
_YOURS_TO_MINE = {
    "you": "me", "your": "my", "yours": "mine", "yourself": "myself", "you're": "I'm", "you've": "I've",
    "you'll": "I'll", "you'd": "I'd",
}  # fmt: skip
MOST_OF_A_NAME = 100_000
"""So many letters the player's name may have in an author's note, over all places where it stands."""
_AFTER_SUBJECT = word_set("are were will would can could should have had do did know think want need must say")


def sentences(text: str) -> list[str]:
    """The sentences of a text, each ending as a sentence does."""
    plain = " ".join(text.split())
    return [closed(part) for part in _SENTENCE.split(plain) if part.strip()]


def passages(text: str) -> list[str]:
    """The thoughts of a text: a sentence that needs another to say who `it` or `they` are stays with it."""
    found: list[str] = []
    for sentence in sentences(text):
        if found and _LEANING.search(sentence):
            found[-1] = f"{found[-1]} {sentence}"
        else:
            found.append(sentence)
    return found


def closed(text: str) -> str:
    """A text that begins and ends as a sentence."""
    text = text.strip().rstrip(",;:")
    if not text:
        return ""
    text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?…\"'”’" else f"{text}."


def bare(sentence: str) -> str:
    """A sentence without its end mark, to be put inside another."""
    return sentence.strip().rstrip(".!?… ")


_SMALL = word_set("a an the this that these those it its there here in on at by from with for of to as and but")


def inner(sentence: str) -> str:
    """A sentence as it stands after a colon or `that`: small words lose their capital, names keep it."""
    text = bare(sentence)
    first, _, rest = text.partition(" ")
    return f"{first.lower()} {rest}" if first.lower() in _SMALL else text


def to_second_person(text: str, addressed: str) -> str:
    """The player's words as a teller says them to the player: `I take my hat` becomes `you take your hat`."""
    told = []
    for token in re.split(r"(\W+)", text.replace("’", "'").replace("I'm", "I am").replace("i'm", "I am")):
        low = token.lower()
        if low in ("we", "us"):
            told.append("you")
        elif low in _MINE_TO_YOURS:
            told.append(_MINE_TO_YOURS[low])
        elif low in ("you", "yourself"):
            told.append(addressed)
        elif low == "your":
            told.append(f"{addressed}'s" if addressed not in ("", "them") else "their")
        else:
            told.append(token)
    return re.sub(r"\byou was\b", "you were", "".join(told))


def to_listener(text: str) -> str:
    """The player's words as the one spoken to says them back: `I trust you` becomes `you trust me`."""
    tokens = [token for token in re.split(r"(\s+|[,.!?;:])", text.replace("’", "'")) if token]
    told: list[str] = []
    plain = [token.lower() for token in tokens if token.strip()]
    seen = 0
    for token in tokens:
        low = token.lower()
        following = plain[seen + 1] if token.strip() and seen + 1 < len(plain) else ""
        seen += bool(token.strip())
        if low == "you" and following in _AFTER_SUBJECT:
            told.append("I")
        else:
            told.append(_YOURS_TO_MINE.get(low) or _MINE_TO_YOURS.get(low) or token)
    return re.sub(r"\bI are\b", "I am", re.sub(r"\byou was\b", "you were", "".join(told)))


def joined(names: Iterable[str]) -> str:
    """Names in a row: `Mara, Orr and Tam`."""
    every = list(names)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}" if every else ""


def slug(text: str, limit: int = 3) -> str:
    """A short name made of a text's telling words."""
    picked: list[str] = []
    for word in words_of(text):
        plain = "".join(char for char in word.removesuffix("'s") if char.isascii() and char.isalnum())
        if plain and word not in STOP and len(plain) > 2 and plain not in picked:
            picked.append(plain)
    return "_".join(picked[:limit])


def without_stage_words(text: str, player: str) -> str:
    """An author's note as it may be told: `the player` becomes `you`, and the verb follows."""
    text = text.replace("{{user}}", player)
    text = re.sub(r"\b[Tt]he player's\b|\b[Pp]layer's\b", "your", text)
    text = re.sub(r"\b(?:[Tt]he )?[Pp]layer (\w+)\b", lambda found: f"you {_second_person_verb(found[1])}", text)
    return re.sub(r"\b(?:[Tt]he )?[Pp]layer\b", "you", text)


def told_sentences(text: str, player: str) -> list[str]:
    """The sentences of an author's note as they may be told; without a player's name that they would swell with."""
    swells = text.count("{{user}}") * len(player) > MOST_OF_A_NAME
    name = "you" if swells or not player else player
    return [closed(without_stage_words(line, name)) for line in sentences(text)]


def first_person_verb(verb: str) -> str:
    """The verb of `she knows` as in `I know`."""
    return {"is": "am", "was": "was"}.get(verb) or _second_person_verb(verb)


def _second_person_verb(verb: str) -> str:
    known = {"is": "are", "has": "have", "was": "were", "does": "do", "goes": "go"}
    if verb in known:
        return known[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if re.search(r"(sh|ch|x|ss|zz)es$", verb):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb
