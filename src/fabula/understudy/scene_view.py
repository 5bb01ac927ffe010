"""What a role sees of the moment: the player's words, who is there, what may be told, and what leads on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.language.english import bare, closed, first_person_verb, passages, sentences, told_sentences
from fabula.language.words import stems, word_set, words_of
from fabula.story.contexts import CastMember, Lore, SceneContext
from fabula.story.graph import Node
from fabula.understudy.utterance import Reading, read
from fabula.understudy.voice import sentence_keys

NAMELESS = frozenset({"", "user", "player", "you", "the player"})
_NOUN_PHRASE = re.compile(
    r"\b(?:the|a|an)\s+((?:[a-z]+\s+){0,2}?[a-z]{3,})(?=[,.;:!?]|\s+(?:of|on|in|at|by|with|under|over|above|below|"
    r"beside|behind|from|to|through|and|or|that|which|where|is|are|was|were|has|hangs|stands|lies|waits|burns|sits|"
    r"leans|smells|runs|leads|creaks|glows|drips|rises|falls|hums|ticks|covers|fills|faces)\b)"
)
_LIKENESS = re.compile(r"\b(?:like|as if|as|than) [^,.;:!?]*")
_OF_THE_PLAYER = re.compile(r"\b(you|your|player)\b|\{\{user\}\}", re.IGNORECASE)
_NO_QUALITY = word_set("whole same other own very only single")
_NO_DETAIL = word_set(
    """time way thing moment day night year years one end side kind sort part place first last few lot bit other same
    hour hours week point reason only rest middle front back top bottom edge edges sense chance word words name sound
    scratch silence noise smell size shape corner gap pair row ring line feeling look air dark"""
)


def last_words(context: SceneContext) -> str:
    """What the player said last; nothing to who did not hear it."""
    if context.unheard:
        return ""
    return next((entry.text for entry in reversed(context.shared_history) if entry.kind == "player_input"), "")


def reading_of(context: SceneContext, player_input: str | None = None) -> Reading:
    return read(last_words(context) if player_input is None else player_input)


def heard(context: SceneContext) -> list[str]:
    """Everything that was said and told in this play, as far as it is known."""
    return [*context.told, *(entry.text for entry in context.shared_history if entry.kind != "player_input")]


def was_shown(context: SceneContext) -> bool:
    """Whether the scene was described before."""
    keys = [sentence_keys(line) for line in scene_sentences(context.current_node, player_name(context))]
    told = frozenset[str]().union(*map(sentence_keys, heard(context)))
    return not keys or any(not told.isdisjoint(key) for key in keys)


def player_name(context: SceneContext) -> str:
    """The player's name, or nothing when it is only a placeholder."""
    name = context.player.name.strip()
    return "" if name.lower() in NAMELESS else name


def addressed(context: SceneContext, text: str) -> CastMember | None:
    """Whom the words are for: the one named in them, or the only one there."""
    words = set(words_of(text))
    for member in context.current_cast:
        if words & {word for word in words_of(member.name) if len(word) > 2}:
            return member
    return context.current_cast[0] if len(context.current_cast) == 1 else None


def scene_sentences(node: Node, player: str) -> list[str]:
    """The scene as it may be told, sentence by sentence."""
    return told_sentences(node.scene, player)


def goal_line(node: Node, player: str, speaker: str = "") -> str:
    """What the scene is for, as something that can be said to the player; empty when there is nothing to say.

    A character speaks of itself as `me`.
    """
    every = told_sentences(node.goal, "")
    if not every:
        return ""
    line = in_own_mouth(every[0], speaker) if speaker else every[0]
    return closed(line) if len(line) <= 220 else ""


def in_own_mouth(line: str, speaker: str) -> str:
    """What is said of a character, as it says so itself: `Mara has the key` is `I have the key`."""
    for name in (re.escape(one) for one in dict.fromkeys((speaker, *speaker.split())) if len(one) > 2):
        line = re.sub(rf"\b{name}'s\b", "my", line)
        line = re.sub(rf"^{name} (\w+)\b", lambda found: f"I {_first_person(found[1])}", line)
        line = re.sub(rf"\b{name} (is|has|was|\w+[^s\W]s)\b", lambda found: f"I {first_person_verb(found[1])}", line)
        line = re.sub(rf"\b{name}\b", "me", line)
    if line.startswith("I "):
        line = re.sub(r"^I own\b", "I have", line)
        line = re.sub(r"\b(and|but) (has|is|believes|knows|keeps)\b", _and_i, line)
        line = re.sub(r"\b(?:his|her) own\b", "my own", line)
        line = re.sub(r"\bthat (?:she|he) ", "that I ", line)
        line = re.sub(r"\bbecause (?:she|he) (\w+)", lambda found: f"because I {_first_person(found[1])}", line)
        line = re.sub(r"\b(?:his|her) (ears|eyes|hands|fingers|cellar|window|flour|shoe|left|name)\b", r"my \1", line)
    return line[:1].upper() + line[1:]


def _first_person(verb: str) -> str:
    return first_person_verb(verb) if verb in ("is", "has", "was", "does") or re.search(r"[^s]s$", verb) else verb


def _and_i(found: re.Match[str]) -> str:
    return f"{found[1]} {first_person_verb(found[2])}"


_SPOKEN = re.compile(r"“[^“”]*”")


def details(node: Node) -> list[str]:
    """Things of the scene that can be looked at: `the lamp`, `the wet stairs`."""
    found: list[str] = []
    shown = " ".join(line for line in sentences(node.scene) if not _OF_THE_PLAYER.search(line))
    place = place_stems(node)
    # What is only spoken of is not there to be looked at.
    for phrase in _NOUN_PHRASE.findall(_LIKENESS.sub(" ", _SPOKEN.sub(" ", shown))):
        words = phrase.split()
        verb = len(words) > 1 and words[-1].endswith("s") and f"a {phrase}" in shown
        if {"the", "a", "an", "of"} & set(words) or stems(words[-1]) <= place or verb:
            continue
        if words[-1] not in _NO_DETAIL and not any(word.endswith(("ly", "ed", "ing")) for word in words):
            thing = f"the {' '.join(word for word in words if word not in _NO_QUALITY)}"
            if thing not in found:
                found.append(thing)
    return found


def known_about(topic: frozenset[str], lore: Lore, tellings: Sequence[str]) -> list[str]:
    """What can be said on a topic, best first: lore by its title and sentences, then what stands in the scene."""
    scored: list[tuple[int, int, str]] = []
    for note in [*lore.matched, *lore.base]:
        title = len(topic & stems(note.title)) * 2
        for place, passage in enumerate(passages(note.content)):
            score = title * (place < 2) + len(topic & stems(passage))
            scored.append((score, -len(scored), passage))
    for sentence in tellings:
        scored.append((len(topic & stems(sentence)), -len(scored), sentence))
    # One word in common says little when many were said.
    needed = 1 if len(topic) < 4 else 2
    return [sentence for score, _, sentence in sorted(scored, reverse=True) if score >= needed]


def answers_to(asked: str, lore: Lore) -> list[str]:
    """What lore says to a bare `why?` or `who?`: the notes whose title begins with that word."""
    titled = [note for note in [*lore.matched, *lore.base] if asked and note.title.lower().startswith(f"{asked} ")]
    return [passage for note in titled for passage in passages(note.content)]


def brief(known: Sequence[str]) -> list[str]:
    """As much of what can be said as a listener takes in at once: two things when they are short, else one."""
    return list(known[:2]) if sum(map(len, known[:2])) <= 220 else list(known[:1])


def trait_of(member: CastMember) -> str:
    """What anybody may know of a character, in a sentence; empty when its author says nothing that can be told so."""
    trait = first_trait(member)
    if not trait:
        return ""
    if re.match(r"(an?|the)\b", trait, re.I):
        return f"{member.name} is {trait[0].lower()}{trait[1:]}."
    return f"{member.name}? {trait[0].upper()}{trait[1:]}."


def first_trait(member: CastMember) -> str:
    """The first clause of a personality."""
    first = sentences(member.personality)[0] if member.personality.strip() else ""
    first = re.sub(rf"^{re.escape(member.name)}('s)?\s+(is|was)\s+", "", bare(first))
    first = re.sub(r"^(he|she|they|it)\s+(is|are)\s+", "", first, flags=re.I)
    clause = re.split(r"[;:.(]| who | that | which | but secretly | secretly ", first)[0]
    clause = ",".join(clause.split(",")[:2]).strip(" ,")
    looks_odd = len(words_of(clause)) > 18 or re.match(r"(he|she|they|hides|keeps|wants|loves|hates)\b", clause, re.I)
    return "" if looks_odd else clause


def place_stems(node: Node) -> frozenset[str]:
    """The word that says what a place is: the shed of `The Salvage Shed`, the box of `The Box with Three Locks`."""
    head = words_of(re.split(r"\b(?:with|of|on|at|in|by|behind|for|to|and)\b", node.title)[0])
    return stems(head[-1]) if head else frozenset()


def place_name(node: Node) -> str:
    """What a scene is called, as a sentence names it; empty when its title is no name of a place."""
    if not node.title.lower().startswith(("the ", "a ", "an ")) or not place_stems(node) & stems(node.scene):
        return ""
    article, _, name = node.title.partition(" ")
    return f"{article.lower()} {name.lower() if name.lower() in node.scene else name}"
