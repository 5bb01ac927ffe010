"""Who notices what: decided by rule from who was there, and kept with each line as the list of those who noticed it.

- The player's words reach those who were in the scene when they were said.
- What is told, said or done reaches those who are in the scene by then. Who has left by the end of the turn heard it
  only if they spoke or acted in it, up to their last word: nobody can tell when the others went.
- A whisper stays between the one who whispers and those it is for; a thought, and what is muttered to oneself, with the
  one who has it. A whisper that says nobody is for the only one who is there.
- The player is told everything but the thoughts of others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabula.language.words import words_of
from fabula.story.state import MemoryEntry

PLAYER_OWNER = "player"

_VERB = r"(?:whisper\w*|murmur\w* (?:in|into|to)\b|breathe[sd]? (?:in|into)\b|flüster\w*|chuchot\w*|susurr\w*)"
_EAR = r"\b(?:into|in|to) (?:the )?(?:\w+(?:'s|’s) )?(?:her |his |their |your |my )?ear\b"
_WHISPER = re.compile(rf"\b{_VERB}|{_EAR}", re.I)
_ASIDE = re.compile(r"[(*\[]([^()*\[\]]{0,80})[)*\]]")
_TO_ONESELF = re.compile(
    r"\b(?:under (?:my|her|his|their) breath|to (?:myself|herself|himself|themselves|themself)|i think to myself)\b",
    re.I,
)
_SPEECH_BEGINS = re.compile(r"""[:"“”«,;.!?\n]|\b(?:that|about|how|what|why|where|when|who|whether|if)\b""", re.I)
_IN_AN_EAR = re.compile(r"\b(\w{1,40})(?:'s|’s) ear\b", re.I)
_FOR = re.compile(r"\b(?:to|into|for|at)\s+(.*)", re.I | re.S)
_POSSESSIVE = re.compile(r"\b\w{1,40}['’]s\b")
_YOU = frozenset({"you", "your", "yours", "yourself"})
_SOMEBODY = frozenset({"her", "him", "them", "ihm", "ihr"})
_HOW = frozenset({"to", "in", "into", "ear", "softly", "quietly", "back", "again", "then", "and", "say"}) | _SOMEBODY


@dataclass(frozen=True, kw_only=True)
class NoticedLine:
    """Something that was said, done, told or thought in a turn. `speaker_id` is a character, or the player.

    `heard_by` are the characters who noticed it, where that was kept with the line.
    """

    id: str
    kind: str
    speaker_id: str
    speaker_name: str
    text: str
    heard_by: Collection[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Presence:
    """Who was in the scene when a turn began, and when it ended, by id; `moved` says that it is another scene.

    Without `see_all` they notice what is said, and the narration is for the player alone.
    """

    before: frozenset[str]
    after: frozenset[str]
    moved: bool
    names: Mapping[str, str]
    see_all: bool = True


def noticed_by(
    entry: MemoryEntry, there: Iterable[str], names: Mapping[str, str], *, whispered_to: Collection[str] | None = None
) -> list[str]:
    """Those of who are there that notice something, sorted. `whispered_to` says that the line goes on a whisper."""
    return sorted(_around(entry.kind, entry.text, entry.speaker_id, there, names, whispered_to))


def noticed_in_beat(
    entries: Sequence[MemoryEntry], there: Collection[str], names: Mapping[str, str]
) -> list[MemoryEntry]:
    """What was said and done in one beat, each with who noticed it.

    Who leans over and whispers does so before the words: what is said after such an action is whispered, too.
    """
    found: list[MemoryEntry] = []
    whispered_to: frozenset[str] | None = None
    for entry in entries:
        if entry.kind == "action":
            whispered_to = whispered_for(entry.kind, entry.text, entry.speaker_id, there, names)
        heard = noticed_by(entry, there, names, whispered_to=whispered_to if entry.kind == "dialogue" else None)
        found.append(entry.model_copy(update={"heard_by": heard}))
    return found


def settled_by_end(entries: Sequence[MemoryEntry], after: Collection[str]) -> list[MemoryEntry]:
    """The lines of a turn when it is over: without those who have left, as far as they had no part in it any more."""
    active: set[str] = set()
    found: list[MemoryEntry] = []
    for entry in reversed(entries):
        active.add(entry.speaker_id)
        heard = entry.heard_by
        if heard is not None and entry.kind != "player_input":
            heard = [one for one in heard if one in after or one in active]
        found.append(entry.model_copy(update={"heard_by": heard}))
    return found[::-1]


def has_noticed(owner: str, entry: MemoryEntry) -> bool:
    """Whether somebody noticed a line. Of lines from before this was kept, everyone is taken to know."""
    return entry.heard_by is None or owner == entry.speaker_id or owner in entry.heard_by


def observers(line: NoticedLine, presence: Presence, speakers: Iterable[str]) -> list[str]:
    """The owners who notice a line, the player among them, sorted."""
    is_thought = line.kind == "thought" or bool(_TO_ONESELF.search(line.text))
    if is_thought:
        return [PLAYER_OWNER if line.speaker_id not in presence.names else line.speaker_id]
    if line.heard_by is not None:
        return sorted({*(one for one in line.heard_by if one in presence.names), PLAYER_OWNER})
    if line.kind == "narration" and not presence.see_all:
        around = frozenset[str]()
    elif line.kind == "player_input":
        around = presence.before
    else:
        stayed = presence.after if presence.moved else presence.after & presence.before
        around = stayed | frozenset(speakers)
    return sorted({*_around(line.kind, line.text, line.speaker_id, around, presence.names), PLAYER_OWNER})


def speakers_of(lines: Sequence[NoticedLine], presence: Presence) -> frozenset[str]:
    """The characters who spoke or acted in a turn: they were there."""
    return frozenset(line.speaker_id for line in lines if line.kind in ("dialogue", "action")) & presence.names.keys()


def _around(
    kind: str,
    text: str,
    speaker: str,
    there: Iterable[str],
    names: Mapping[str, str],
    whispered_to: Collection[str] | None = None,
) -> frozenset[str]:
    """Those of who are there that perceive a line; of these the speaker always does."""
    around = frozenset(one for one in there if one in names)
    if kind == "thought" or _TO_ONESELF.search(text):
        return around & {speaker}
    if whispered_to is None:
        whispered_to = whispered_for(kind, text, speaker, around, names)
    return around if whispered_to is None else around & {*whispered_to, speaker}


def whispered_for(
    kind: str, text: str, speaker: str, there: Collection[str], names: Mapping[str, str]
) -> frozenset[str] | None:
    """Whom a whisper is for, by id; None where a line is no whisper, or tells of one that nobody in the scene utters.

    In what somebody says aloud only a remark in brackets or between stars makes it one.
    """
    told = text if kind != "dialogue" else " ".join(_ASIDE.findall(text)) or _opening(text)
    found = _WHISPER.search(told)
    if found is None:
        return None
    here = [one for one in there if one in names]
    before, after = told[: found.start()], told[found.start() :]
    if in_ear := _IN_AN_EAR.search(after):
        meant = in_ear[1]
    else:
        clause = _SPEECH_BEGINS.split(after[len(_word(after)) :], maxsplit=1)[0]
        named = _FOR.search(clause)
        meant = _POSSESSIVE.sub(" ", named[1] if named else clause)
    addressed = {one for one in here if one != speaker and _is_named(names[one], meant)}
    if kind == "narration":
        subject = {one for one in here if _is_named(names[one], re.split(r"[.!?\n]", before)[-1])}
        if not addressed and not subject and not _YOU & {*words_of(meant), *words_of(before)}:
            return None
        return frozenset(addressed | subject)
    words = set(words_of(meant))
    if speaker == PLAYER_OWNER and not addressed and len(here) == 1 and (words & _SOMEBODY or words <= _HOW):
        return frozenset(here)
    return frozenset(addressed)


def _opening(text: str) -> str:
    """The words before what is quoted in a line that tells how it is said: `She whispers to Orr: run.`"""
    return text.split(":", 1)[0] + ":" if ":" in text else ""


def _word(text: str) -> str:
    found = re.match(r"\w+", text)
    return found[0] if found else ""


def _is_named(name: str, text: str) -> bool:
    said = set(words_of(text.replace("'s", "").replace("’s", "")))
    return any(word in said for word in words_of(name) if len(word) > 2)
