"""What a role sees of the moment: the player's words, who is there, what may be told, and what leads on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.language.english import closed, first_person_verb, sentences, told_sentences
from fabula.language.words import stems, word_set, words_of
from fabula.story.contexts import CastMember, Lore, SceneContext
from fabula.story.graph import Node
from fabula.understudy.utterance import Reading, read

NAMELESS = frozenset({"", "user", "player", "you", "the player"})
_NOUN_PHRASE = re.compile(
    r"\b(?:the|a|an)\s+((?:[a-z]+\s+){0,2}?[a-z]{3,})(?=[,.;:!?]|\s+(?:of|on|in|at|by|with|under|over|above|below|"
    r"beside|behind|from|to|through|and|or|that|which|where|is|are|was|were|has|hangs|stands|lies|waits|burns|sits|"
    r"leans|smells|runs|leads|creaks|glows|drips|rises|falls|hums|ticks|covers|fills|faces)\b)"
)
_OF_THE_PLAYER = re.compile(r"\b(you|your|player)\b|\{\{user\}\}", re.IGNORECASE)
_LEANING = re.compile(r"(it|its|they|their|them|he|she|his|her|this|that|these|those)\b", re.IGNORECASE)
_NO_DETAIL = word_set(
    """time way thing moment day night year years one end side kind sort part place first last few lot bit other same
    hour hours week point reason only rest middle front back top bottom edge sense chance word words name"""
)


def last_words(context: SceneContext) -> str:
    """What the player said last."""
    return next((entry.text for entry in reversed(context.shared_history) if entry.kind == "player_input"), "")


def reading_of(context: SceneContext, player_input: str | None = None) -> Reading:
    return read(last_words(context) if player_input is None else player_input)


def heard(context: SceneContext) -> list[str]:
    """Everything that was said and told lately."""
    return [entry.text for entry in context.shared_history if entry.kind != "player_input"]


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
    line = _in_own_mouth(every[0], speaker) if speaker else every[0]
    return closed(line) if len(line) <= 220 else ""


def may_point_on(context: SceneContext) -> bool:
    """Whether it is time to speak of the way on: not in every turn, or it would be pushing."""
    read = context.understood
    return read is None or read.hint > 0 or read.has("hint") or context.transitioned_this_turn


def _in_own_mouth(line: str, speaker: str) -> str:
    for name in map(re.escape, dict.fromkeys((speaker, speaker.split()[0]))):
        line = re.sub(rf"\b{name}'s\b", "my", line)
        line = re.sub(rf"\b{name} (is|has|was|\w+[^s\W]s)\b", lambda found: f"I {first_person_verb(found[1])}", line)
        line = re.sub(rf"\b{name}\b", "me", line)
    return line


def details(node: Node) -> list[str]:
    """Things of the scene that can be looked at: `the lamp`, `the wet stairs`."""
    found: list[str] = []
    shown = " ".join(line for line in sentences(node.scene) if not _OF_THE_PLAYER.search(line))
    for phrase in _NOUN_PHRASE.findall(shown):
        words = phrase.split()
        if words[-1] not in _NO_DETAIL and not any(word.endswith(("ly", "ed", "ing")) for word in words):
            thing = f"the {phrase}"
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


def passages(text: str) -> list[str]:
    """The sentences of a text; one that begins with `it` or `they` stays with the one that says who that is."""
    found: list[str] = []
    for sentence in sentences(text):
        if found and _LEANING.match(sentence) and len(found[-1]) < 160:
            found[-1] = f"{found[-1]} {sentence}"
        else:
            found.append(sentence)
    return found


def brief(known: Sequence[str]) -> list[str]:
    """As much of what can be said as a listener takes in at once: two things when they are short, else one."""
    return list(known[:2]) if sum(map(len, known[:2])) <= 220 else list(known[:1])
