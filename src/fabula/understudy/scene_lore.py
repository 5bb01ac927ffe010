"""What is said and felt in a scene, told by rule: gossip in somebody's mouth, a custom or a tension in the teller's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabula.language.english import closed
from fabula.story.scene_lore import SceneLoreKind, ScenePiece
from fabula.understudy.voice import FreshVoice

GOSSIP = (
    "{who} has been waiting to tell somebody: “{text}”",
    "{who} leans over. “{text}”",
    "“{text}” It is {who} who says so, to nobody in particular.",
    "{who} says it before anybody asks: “{text}”",
    "There is talk. “{text}” That is {who}.",
)
OVERHEARD = (
    "What you hear is {who}: “{text}”",
    "Half of it is lost. The other half is {who}: “{text}”",
    "{who} does not lower the voice: “{text}”",
    "People talk. “{text}” That was {who}.",
)


def tell_scene_lore(
    pieces: Sequence[ScenePiece],
    called: Mapping[str, str],
    voice: FreshVoice,
    *kinds: SceneLoreKind,
    overheard: bool = False,
) -> str:
    """The first piece of these kinds that was not told yet, or nothing. `called` are those who are there, by id."""
    for piece in _fresh(pieces, voice, kinds):
        if piece.kind != "gossip":
            return voice.say(closed(piece.text))
        if piece.teller is not None and piece.teller in called:
            forms = OVERHEARD if overheard else GOSSIP
            told = voice.pick(forms, {"who": called[piece.teller], "text": closed(piece.text)})
            voice.say(piece.text)
            return told
    return ""


def tell_gossip(pieces: Sequence[ScenePiece], voice: FreshVoice) -> str:
    """What somebody tells who is asked for news."""
    piece = next(_fresh(pieces, voice, ("gossip",)), None)
    return "" if piece is None else voice.say(closed(piece.text))


def _fresh(pieces: Sequence[ScenePiece], voice: FreshVoice, kinds: tuple[SceneLoreKind, ...]) -> Iterator[ScenePiece]:
    """In the order of the kinds. What the journal says is worded for who keeps it, and nobody speaks like that."""
    for kind in kinds:
        for piece in pieces:
            if piece.kind == kind and piece.source.kind != "quest" and not voice.was_said(piece.text):
                yield piece
