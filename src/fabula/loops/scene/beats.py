"""Beats: the narrator tells, an actor thinks, acts and speaks; each is streamed, and ends as a line of the turn.

Nothing gets out that the guardrails refuse or the spoiler guard holds back: what a player sees, a result or a client's
log shows, is what they let pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fabula.language.guarded_stream import GuardedStream
from fabula.language.plain_words import PlainWords
from fabula.language.spoilers import Guard
from fabula.loops.guardrails import CheckedStream, note_objections
from fabula.loops.scene.contexts import SceneTeller
from fabula.loops.scene.questions import Question, ask, call_seed
from fabula.loops.scene.scene_run import PendingAnswer, SceneRun, during
from fabula.loops.turns.cut import CutShort
from fabula.rules.agreement import AgreeingStream
from fabula.rules.guardrails import Refuse
from fabula.story.contexts import ActorPurpose, NarratorPurpose, RoleContext
from fabula.story.events import (
    ActorActionComplete,
    ActorCompleted,
    ActorDialogueDelta,
    ActorStarted,
    ActorThoughtDelta,
    AgentDegraded,
    NarratorCompleted,
    NarratorStarted,
    NarratorTextDelta,
    event_fields,
)
from fabula.story.minds import Mind
from fabula.story.plans import ActorBeat, ActorBeatPurpose, NarratorBeat, NarratorBeatPurpose
from fabula.story.resources import AgentRole
from fabula.story.state import MemoryEntry
from fabula.story.tags import ACTOR_TAGS, Closed, Opened, TagEvent, TagParser, TagSet, Text
from fabula.story.turn_results import ActorResponse, NarratorResponse, Segment
from fabula.story.values import JsonObject
from fabula.understudy import answer_by_rule

PlannedBeat = NarratorBeat | ActorBeat

NARRATOR = "narrator"
NARRATOR_NAME = "Narrator"
NOTHING_TO_TELL = "Of that nothing can be told yet."
SILENT = "{name} keeps silent."
_NARRATION = TagSet(names=("narration",), default="narration")
_NARRATOR_PURPOSES: dict[str, NarratorPurpose] = {
    "DescribeTransition": "describe_transition",
    "DescribeScene": "describe_scene",
    "DescribeResult": "describe_result",
}
_ACTOR_PURPOSES: dict[str, ActorPurpose] = {
    "AdvanceGoal": "advance_goal",
    "ReactToPlayer": "react_to_player",
    "CommentOnScene": "comment_on_scene",
}


@dataclass(frozen=True, kw_only=True)
class Beat:
    """A finished beat: how the result shows it, and what was said, done, told and thought in it."""

    view: JsonObject
    entries: list[MemoryEntry]


def is_told(beats: list[Beat]) -> bool:
    """Whether anything was told that stands in a transcript; thoughts do not."""
    return any(entry.kind != "thought" for beat in beats for entry in beat.entries)


def said_in(beats: list[Beat]) -> list[MemoryEntry]:
    """All that was said, done, told and thought, in order."""
    return [entry for beat in beats for entry in beat.entries]


@dataclass(kw_only=True)
class NarratorStage:
    """Tells one narrator beat while its text comes in."""

    run: SceneRun
    index: int
    purpose: NarratorBeatPurpose
    watch: GuardedStream
    agreeing: AgreeingStream | None = None
    checked: CheckedStream | None = None
    words: PlainWords = field(default_factory=PlainWords)
    raw: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def start(self) -> None:
        self.run.stage.tell(NarratorStarted(beat_index=self.index, purpose=self.purpose))

    def more(self, text: str) -> None:
        self._tell(self.watch.take(self._agreed(self._checked(self.words.take(text)))))

    def _checked(self, text: str) -> str:
        return text if self.checked is None else self.checked.take(text)

    def _agreed(self, text: str) -> str:
        return text if self.agreeing is None else self.agreeing.take(text)

    @property
    def denies(self) -> bool:
        """Whether the telling stopped: it claimed the opposite of what the dice decided, or a guardrail refused it."""
        return self.crossed is not None or (self.agreeing is not None and self.agreeing.denied)

    @property
    def crossed(self) -> Refuse | None:
        """Why a guardrail stopped the telling."""
        return None if self.checked is None else self.checked.denied

    @property
    def held(self) -> bool:
        """Whether anything was left out, so that the model's own words must not get out."""
        return self.watch.held or (self.checked is not None and bool(self.checked.objections))

    def resume(self) -> str:
        """Makes ready for another telling, which goes on after what was told; answers that."""
        if self.agreeing is not None:
            self.agreeing.resume()
        if self.checked is not None:
            self.checked.resume()
        self.words = PlainWords()
        self._tell(self.watch.close())
        return "".join(self.texts).strip()

    def _tell(self, text: str) -> None:
        if text:
            self.texts.append(text)
            self.run.stage.tell(NarratorTextDelta(beat_index=self.index, purpose=self.purpose, delta=text))

    @property
    def is_silent(self) -> bool:
        """Whether nothing that came can be told, so far."""
        return not self.held and not "".join(self.texts).strip()

    def flush(self) -> None:
        """Tells what was held back until the end of the text."""
        rest = self._agreed(self._checked(self.words.close()))
        rest += "" if self.checked is None else self._agreed(self.checked.close())
        rest += "" if self.agreeing is None else self.agreeing.close()
        self._tell(self.watch.take(rest) + self.watch.close())

    def end(self) -> Beat:
        self.flush()
        if self.agreeing is not None and self.agreeing.left_out and self.agreeing.correction_due:
            self._tell(f" {self.agreeing.correction}" if self.texts else self.agreeing.correction)
        if self.held and not "".join(self.texts).strip():
            self._tell(NOTHING_TO_TELL)
        text = "".join(self.texts).strip()
        _note_objections(self.run, NARRATOR, self.checked)
        return self._ended(NarratorResponse(text=text, raw_output=text if self.held else "".join(self.raw)))

    def cut(self) -> Beat | None:
        """Ends the beat at what was told; what was held back is left out."""
        _note_objections(self.run, NARRATOR, self.checked)
        text = "".join(self.texts).strip()
        return self._ended(NarratorResponse(text=text, raw_output=text)) if text else None

    def _ended(self, response: NarratorResponse) -> Beat:
        text = response.text
        completed = NarratorCompleted(beat_index=self.index, purpose=self.purpose, response=response)
        self.run.stage.tell(completed)
        entry = MemoryEntry(speaker_id=NARRATOR, speaker_name=NARRATOR_NAME, kind="narration", text=text)
        return Beat(view={"type": "narrator", **event_fields(completed)}, entries=[entry] if text else [])


def plain_beat(run: SceneRun, teller: SceneTeller, text: str, index: int) -> Beat:
    """A beat of the narrator with this text, which nobody was asked for."""
    stage = NarratorStage(
        run=run,
        index=index,
        purpose="DescribeResult",
        watch=GuardedStream(teller.guard()),
        checked=checked_stream(run, "narrator", asks_again=False),
    )
    stage.start()
    stage.raw.append(text)
    stage.more(text)
    return stage.end()


@dataclass(kw_only=True)
class ActorStage:
    """Tells one actor beat while its tags come in."""

    run: SceneRun
    index: int
    purpose: ActorBeatPurpose
    speaker_id: str
    speaker_name: str
    guard: Guard
    checked: CheckedStream | None = None
    raw: list[str] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    watch: GuardedStream | None = None
    words: PlainWords = field(default_factory=PlainWords)
    held: bool = False
    told: list[str] = field(default_factory=list)
    tag: str = ""

    def start(self) -> None:
        self.run.stage.tell(ActorStarted(beat_index=self.index, speaker_id=self.speaker_id, purpose=self.purpose))

    def more(self, tag: str, text: str) -> None:
        """Thoughts and speech are streamed; an action is told when it is whole."""
        if self.watch is None:
            self.watch, self.words, self.tag = GuardedStream(self.guard), PlainWords(), tag
            if self.checked is not None:
                self.checked.think(tag == "thought")
        self._tell(tag, self.watch.take(self._checked(self.words.take(text))))

    def _checked(self, text: str) -> str:
        return text if self.checked is None else self.checked.take(text)

    @property
    def crossed(self) -> Refuse | None:
        """Why a guardrail stopped what the character says and does."""
        return None if self.checked is None else self.checked.denied

    def resume(self) -> str:
        """Makes ready for another answer, which goes on after what was told; answers that."""
        if self.checked is not None:
            self.checked.resume()
        if self.watch is not None:
            self.close(self.tag)
        return self._shown()

    def _tell(self, tag: str, text: str) -> None:
        if not text:
            return
        self.told.append(text)
        match tag:
            case "thought":
                self.run.stage.tell(ActorThoughtDelta(beat_index=self.index, speaker_id=self.speaker_id, delta=text))
            case "dialogue":
                self.run.stage.tell(ActorDialogueDelta(beat_index=self.index, speaker_id=self.speaker_id, delta=text))

    def close(self, tag: str) -> None:
        if self.watch is not None:
            rest = self._checked(self.words.close())
            rest += "" if self.checked is None else self.checked.close()
            self._tell(tag, self.watch.take(rest) + self.watch.close())
            self.held = self.held or self.watch.held or (self.checked is not None and bool(self.checked.objections))
        text = "".join(self.told).strip()
        self.told, self.watch = [], None
        if text:
            self._add(tag, text)

    def _add(self, tag: str, text: str) -> None:
        match tag:
            case "thought" | "action" | "dialogue":
                self.segments.append(Segment(kind=tag, text=text))
        if tag == "action":
            self.run.stage.tell(ActorActionComplete(beat_index=self.index, speaker_id=self.speaker_id, text=text))

    def end(self) -> Beat:
        if self.held and all(segment.kind == "thought" for segment in self.segments):
            self._add("action", SILENT.format(name=self.speaker_name))
        return self._ended(self._shown() if self.held else "".join(self.raw))

    def cut(self) -> Beat | None:
        """Ends the beat at what was told: an action that was not whole was not, nor was anything held back."""
        text = "".join(self.told).strip()
        if text and self.tag != "action":
            self._add(self.tag, text)
        return self._ended(self._shown()) if self.segments else None

    def _shown(self) -> str:
        return "".join(f"<{segment.kind}>{segment.text}</{segment.kind}>" for segment in self.segments)

    def _ended(self, raw_output: str) -> Beat:
        _note_objections(self.run, "actor", self.checked)
        response = ActorResponse(
            speaker_id=self.speaker_id,
            speaker_name=self.speaker_name,
            segments=self.segments,
            raw_output=raw_output,
        )
        completed = ActorCompleted(
            beat_index=self.index, speaker_id=self.speaker_id, purpose=self.purpose, response=response
        )
        self.run.stage.tell(completed)
        entries = [self._entry(segment) for segment in self.segments]
        return Beat(view={"type": "actor", **event_fields(completed)}, entries=entries)

    def _entry(self, segment: Segment) -> MemoryEntry:
        return MemoryEntry(
            speaker_id=self.speaker_id, speaker_name=self.speaker_name, kind=segment.kind, text=segment.text
        )


def beat_question(teller: SceneTeller, beat: PlannedBeat, index: int) -> Question:
    """What whoever has the word is asked."""
    if isinstance(beat, NarratorBeat):
        context: RoleContext = teller.narrator(_NARRATOR_PURPOSES[beat.purpose])
    else:
        context = teller.actor(beat.speaker_id, _ACTOR_PURPOSES[beat.purpose])
    return Question(call=_beat_call(beat, index), context=context)


def _beat_call(beat: PlannedBeat, index: int) -> str:
    return f"{'narrator' if isinstance(beat, NarratorBeat) else 'actor'}:{index}"


async def perform_beat(run: SceneRun, teller: SceneTeller, beat: PlannedBeat, index: int) -> Beat | None:
    """One passage of narration, or one character who thinks, acts and speaks; None if it was cut before a word."""
    if isinstance(beat, NarratorBeat):
        return await _narrator_beat(run, teller, beat, index)
    return await _actor_beat(run, teller, beat, index)


async def _answer(run: SceneRun, teller: SceneTeller, beat: PlannedBeat, index: int) -> PendingAnswer:
    """The answer that is under way, or that of a question sent now."""
    asked = run.handover.answer_to(_beat_call(beat, index))
    return asked or await ask(run, beat_question(teller, beat, index))


async def _narrator_beat(run: SceneRun, teller: SceneTeller, beat: NarratorBeat, index: int) -> Beat | None:
    told = NarratorStage(
        run=run,
        index=index,
        purpose=beat.purpose,
        watch=GuardedStream(teller.guard()),
        agreeing=agreeing_stream(run),
        checked=checked_stream(run, "narrator", asks_again=is_a_model(run, "narrator")),
    )
    told.start()
    try:
        with during("narrator"):
            await _hear(told, await _answer(run, teller, beat, index))
            if told.denies:
                question, crossed = beat_question(teller, beat, index), told.crossed
                await _hear(told, await ask(run, told_again(question, told.resume(), crossed)))
    except CutShort:
        return told.cut()
    told.flush()
    if told.is_silent:
        told.more(instead(run, beat_question(teller, beat, index)))
    return told.end()


async def _hear(told: NarratorStage, answer: PendingAnswer) -> None:
    """Tells an answer of the narrator as it comes."""
    parser = TagParser(_NARRATION)

    def hear(text: str) -> None:
        told.raw.append(text)
        _narrate(told, parser.feed(text))

    await answer.read(hear)
    _narrate(told, parser.close())


def agreeing_stream(run: SceneRun) -> AgreeingStream | None:
    """What holds a telling to the dice, in a turn in which they fell."""
    check = run.handover.check
    return None if check is None else AgreeingStream(check.resolved.resolution)


def is_a_model(run: SceneRun, role: AgentRole) -> bool:
    """Whether a role can be asked again: who plays by rule says the same again."""
    return run.setup.api(role).provider != "understudy"


def checked_stream(run: SceneRun, *who: str, asks_again: bool) -> CheckedStream | None:
    """What holds a telling to the guardrails, at a table that has boundaries, or forbids these to tell something."""
    minds = {} if run.inner is None else run.inner.minds
    hidden = [trait for id in who if id in minds for trait in _still_hidden(minds[id])]
    return run.setup.guardrails(run.before, *who).hiding(hidden).stream(asks_again=asks_again)


def _still_hidden(mind: Mind) -> list[str]:
    """What a character hides in this turn: nothing while its mask slips."""
    return [] if mind.slip is not None else mind.hidden[mind.shown :]


def _note_objections(run: SceneRun, who: str, checked: CheckedStream | None) -> None:
    note_objections(run.stage.recorder, who, () if checked is None else checked.objections)


def told_again(question: Question, told: str, crossed: Refuse | None = None) -> Question:
    """The question once more, after a telling that claimed the opposite of what the dice decided, or crossed a line."""
    context = question.context.model_copy(update={"again": told, "crossed": None if crossed is None else crossed.rule})
    return Question(call=f"{question.call}:again", context=context)


def instead(run: SceneRun, question: Question) -> str:
    """What the understudy says where a model said nothing that can be told."""
    role = question.context.role
    run.stage.tell(AgentDegraded(agent=role, reason="it said nothing that could be told", stand_in="understudy"))
    seed = call_seed(run.turn.seed, question.call)
    return answer_by_rule(question.context, seed)


def _narrate(told: NarratorStage, events: list[TagEvent]) -> None:
    for event in events:
        if isinstance(event, Text):
            told.more(event.delta)


def actor_stage(run: SceneRun, teller: SceneTeller, beat: ActorBeat, index: int) -> ActorStage:
    """Where a character's beat is told."""
    return ActorStage(
        run=run,
        index=index,
        purpose=beat.purpose,
        speaker_id=beat.speaker_id,
        speaker_name=teller.name_of(beat.speaker_id),
        guard=teller.guard(),
        checked=checked_stream(run, "actor", beat.speaker_id, asks_again=is_a_model(run, "actor")),
    )


async def _actor_beat(run: SceneRun, teller: SceneTeller, beat: ActorBeat, index: int) -> Beat | None:
    told = actor_stage(run, teller, beat, index)
    told.start()
    try:
        with during("actor"):
            await hear_actor(told, await _answer(run, teller, beat, index))
            if (crossed := told.crossed) is not None:
                question = beat_question(teller, beat, index)
                await hear_actor(told, await ask(run, told_again(question, told.resume(), crossed)))
    except CutShort:
        return told.cut()
    if not told.segments and not told.held:
        act_whole(told, instead(run, beat_question(teller, beat, index)))
    return told.end()


async def hear_actor(
    told: ActorStage, answer: PendingAnswer, *, tags: TagSet = ACTOR_TAGS, aside: Callable[[Closed], None] | None = None
) -> None:
    """Tells an answer of a character as it comes. What stands in a tag that is no beat's is for `aside`, when it is
    whole."""
    parser = TagParser(tags)

    def hear(text: str) -> None:
        told.raw.append(text)
        _act(told, parser.feed(text), aside)

    await answer.read(hear)
    _act(told, parser.close(), aside)


def act_whole(told: ActorStage, text: str) -> None:
    """Tells what somebody else wrote for a character."""
    parser = TagParser(ACTOR_TAGS)
    _act(told, parser.feed(text))
    _act(told, parser.close())


def _act(told: ActorStage, events: list[TagEvent], aside: Callable[[Closed], None] | None = None) -> None:
    for event in events:
        if not isinstance(event, Opened) and event.tag not in ACTOR_TAGS.names:
            if aside is not None and isinstance(event, Closed):
                aside(event)
        elif isinstance(event, Text):
            told.more(event.tag, event.delta)
        elif isinstance(event, Closed):
            told.close(event.tag)
