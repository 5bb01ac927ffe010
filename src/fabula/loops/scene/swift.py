"""Narrate, the swift way: one streamed call writes the whole turn as tags, so that the first word comes at once.

Each run of tags of one voice becomes a beat, with the same events as in the ensemble pace. `<update>` carries the
keeper's operations and is never shown.
"""

from __future__ import annotations

from dataclasses import replace

from fabula.agents.replies.keeper import MOST_OPS, read_state_update
from fabula.language.guarded_stream import GuardedStream
from fabula.loops.scene.audience import heard_beat
from fabula.loops.scene.beats import (
    ActorStage,
    Beat,
    NarratorStage,
    agreeing_stream,
    checked_stream,
    instead,
    is_a_model,
    said_in,
    told_again,
)
from fabula.loops.scene.checks import correction_of
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.keeper import note_shape
from fabula.loops.scene.narration import remembered
from fabula.loops.scene.player_line import check_of
from fabula.loops.scene.questions import Question, ask, shown_output, tell_degraded
from fabula.loops.scene.scene_run import SceneRun, during
from fabula.loops.turns.cut import CutShort
from fabula.rules.guardrails import Refuse
from fabula.story.gate import ProposedUpdate
from fabula.story.plans import NarratorBeatPurpose
from fabula.story.plays import PlayState
from fabula.story.state import StateOp
from fabula.story.tags import SWIFT_TAGS, Closed, Opened, TagEvent, TagParser, Text
from fabula.story.values import JsonObject

SWIFT_CALL = "swift"


def swift_question(run: SceneRun, play: PlayState, scene: Scene) -> Question:
    """The one question of a swift turn."""
    return Question(call=SWIFT_CALL, context=run.teller(play, scene).swift())


async def perform_swiftly(
    run: SceneRun, play: PlayState, scene: Scene
) -> tuple[PlayState, list[Beat], ProposedUpdate, JsonObject | None]:
    """Streams the turn; answers state, beats, the proposed update and the model's words.

    Of a turn that is cut short only the updates that were whole by then count.
    """
    writing = _Writing(run, run.teller(play, scene), scene)
    parser = TagParser(SWIFT_TAGS)
    try:
        with during("narrator"):
            asked = await ask(run, swift_question(run, play, scene))
            reply = await asked.read(lambda text: writing.take(parser.feed(text)))
            writing.take(parser.close())
            if writing.denies:
                crossed = writing.crossed
                again = told_again(swift_question(run, play, scene), writing.resume(), crossed)
                parser = TagParser(SWIFT_TAGS)
                reply = await (await ask(run, again)).read(lambda text: writing.take(parser.feed(text)))
                writing.take(parser.close())
    except CutShort:
        beats = [heard_beat(run, play, beat) for beat in writing.cut()]
        for beat in beats:
            play = remembered(run, play, beat)
        return play, beats, _update(run, writing.updates), None
    if writing.is_silent:
        question = swift_question(run, play, scene)
        writing.take(TagParser(SWIFT_TAGS).feed(instead(run, question)))
    beats = writing.finish()
    right = correction_of(check_of(run), beats)
    if right is not None:
        writing.take(TagParser(SWIFT_TAGS).feed(f"<narration>{right}</narration>"))
        beats = writing.finish()
    beats = [heard_beat(run, play, beat) for beat in beats]
    for beat in beats:
        play = remembered(run, play, beat)
    shown = reply if not writing.held else replace(reply, text=_shown(beats))
    return play, beats, _update(run, writing.updates), await shown_output(run, "narrator", shown)


def _shown(beats: list[Beat]) -> str:
    """The turn as it was told, where its own words must not get out."""
    return "\n".join(entry.text for entry in said_in(beats))


def _update(run: SceneRun, texts: list[str]) -> ProposedUpdate:
    """The operations of all updates together; one answer may have as many as one answer of a keeper."""
    ops: list[StateOp] = []
    because: list[str] = []
    wrong: list[str] = []
    for text in texts:
        update, problems = read_state_update(text)
        if problems:
            note_shape(run, "keeper", update is not None)
            wrong += problems
        if update is not None:
            ops += update.ops
            because += update.because
    if len(ops) > MOST_OPS:
        wrong.append(f"only the first {MOST_OPS} operations are used")
    if wrong:
        tell_degraded(run, "keeper", f"its update could not be used: {'; '.join(wrong[:3])}")
    return ProposedUpdate(ops=ops[:MOST_OPS], because=because[:MOST_OPS])


class _Writing:
    """Turns tags into beats: a beat goes on while its voice stays the same."""

    def __init__(self, run: SceneRun, teller: SceneTeller, scene: Scene) -> None:
        self._run, self.teller, self._scene = run, teller, scene
        self._beats: list[Beat] = []
        self._narrator: NarratorStage | None = None
        self._actor: ActorStage | None = None
        self.updates: list[str] = []
        self._guard = self.teller.guard()
        self._asks_again = is_a_model(run, "director")
        self.held = False

    @property
    def denies(self) -> bool:
        """Whether the telling stopped: it claimed the opposite of what the dice decided, or a guardrail refused it."""
        return self.crossed is not None or (self._narrator is not None and self._narrator.denies)

    @property
    def crossed(self) -> Refuse | None:
        """Why a guardrail stopped the telling."""
        told = self._narrator or self._actor
        return None if told is None else told.crossed

    def resume(self) -> str:
        """Makes ready for another telling; what the first one would have changed was founded on what did not happen."""
        self.updates = []
        self._asks_again = False
        told = [entry.text for entry in said_in(self._beats) if entry.kind == "narration"]
        going = self._narrator or self._actor
        return " ".join([*told, going.resume() if going is not None else ""]).strip()

    def take(self, events: list[TagEvent]) -> None:
        for event in events:
            if self.denies:
                return
            match event:
                case Opened():
                    self._open(event)
                case Text():
                    self._more(event)
                case Closed():
                    self._close(event)

    @property
    def is_silent(self) -> bool:
        """Whether nothing that came can be told."""
        if self._narrator is not None:
            self._narrator.flush()
        narrated = self._narrator is not None and not self._narrator.is_silent
        acted = self._actor is not None and (bool(self._actor.segments) or self._actor.held)
        return not (self._beats or narrated or acted)

    def finish(self) -> list[Beat]:
        self._end_beat()
        return self._beats

    def cut(self) -> list[Beat]:
        """The beats up to where the turn was cut."""
        for told in (self._narrator, self._actor):
            beat = None if told is None else told.cut()
            if beat is not None:
                self._beats.append(beat)
        self._narrator = self._actor = None
        return self._beats

    def _open(self, event: Opened) -> None:
        if event.tag == "update":
            return
        speaker = None if event.tag == "narration" else self._speaker(event.attrs.get("who", ""))
        if speaker is None:
            self._begin_narration()
        elif self._actor is None or self._actor.speaker_id != speaker:
            self._begin_acting(speaker)

    def _begin_narration(self) -> None:
        if self._narrator is not None:
            self._narrator.more("\n\n")
            return
        self._end_beat()
        first = self._scene.transitioned and not self._beats
        purpose: NarratorBeatPurpose = "DescribeTransition" if first else "DescribeResult"
        self._narrator = NarratorStage(
            run=self._run,
            index=len(self._beats),
            purpose=purpose,
            watch=GuardedStream(self._guard),
            agreeing=agreeing_stream(self._run),
            checked=checked_stream(self._run, "narrator", asks_again=self._asks_again),
        )
        self._narrator.start()

    def _begin_acting(self, speaker: str) -> None:
        self._end_beat()
        self._actor = ActorStage(
            run=self._run,
            index=len(self._beats),
            purpose="ReactToPlayer",
            speaker_id=speaker,
            speaker_name=self.teller.name_of(speaker),
            guard=self._guard,
            checked=checked_stream(self._run, "actor", speaker, asks_again=self._asks_again),
        )
        self._actor.start()

    def _more(self, event: Text) -> None:
        if event.tag == "update":
            return
        if self._actor is not None:
            self._actor.raw.append(event.delta)
            self._actor.more(event.tag, event.delta)
        elif self._narrator is not None:
            self._narrator.raw.append(event.delta)
            self._narrator.more(event.delta)

    def _close(self, event: Closed) -> None:
        if event.tag == "update":
            self.updates.append(event.text)
        elif self._actor is not None:
            self._actor.close(event.tag)

    def _end_beat(self) -> None:
        for told in (self._narrator, self._actor):
            if told is not None:
                self._beats.append(told.end())
                self.held = self.held or told.held
        self._narrator = self._actor = None

    def _speaker(self, who: str) -> str | None:
        """The character that is meant, by id or by name; what an unknown voice says is told by the narrator."""
        named = who.strip().casefold()
        for id in self.teller.here():
            if named in (id.casefold(), self.teller.name_of(id).casefold()):
                return id
        return None
