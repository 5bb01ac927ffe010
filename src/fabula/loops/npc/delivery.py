"""Makes events of an NPC's reply as it streams in, and remembers what was sent.

1. The one tag parser reads the pieces, however they are cut.
2. Tags that are not visible stay here; atomic ones are sent whole when they close.
3. What is sent passes the guardrails of the game. The first refusal ends the reply: the NPC is asked once more.
   In its second reply marks stand in the place of what is refused, and a tool call with such words is not made.
4. A line that may be a repetition is held back until it differs, or turns out to be one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from fabula.loops.guardrails import NO_GUARDRAILS, CheckedStream, Guardrails
from fabula.loops.npc.repetition import Words, is_one_of, may_become
from fabula.rules.guardrails import Objection
from fabula.story.npc import SAY, TOOL, NpcState, PlayedStatus, PlayedTag, TagSpec
from fabula.story.npc_events import NpcEvent, TagClosed, TagOpened, TagText
from fabula.story.tags import Closed, Opened, TagEvent, TagParser, Text


@dataclass(kw_only=True)
class _Sent:
    """A tag of which something was sent."""

    tag_id: str
    tag: str
    attrs: dict[str, str]
    text: list[str] = field(default_factory=list)
    closed: bool = False


class Delivery:
    """One turn's events. `repeats` tells that the reply says an old line again, `crossed` which line of the game's
    boundaries it crosses; what follows is not read."""

    def __init__(
        self,
        *,
        agent_id: str,
        turn_id: str,
        state: NpcState,
        old_lines: tuple[Words, ...] = (),
        guardrails: Guardrails = NO_GUARDRAILS,
    ) -> None:
        self._agent_id, self._turn_id = agent_id, turn_id
        self._tags = state.tag_set()
        self._specs = {tag.name.lower(): tag for tag in state.known_tags()}
        self._old_lines = old_lines
        self._sent: list[_Sent] = []
        self._waiting: Opened | None = None
        self._held = ""
        self.repeats = False
        self.crossed: str | None = None
        self._guardrails, self._asks_again = guardrails, True
        self._checked: CheckedStream | None = None
        self._objections: list[Objection] = []
        self._left_out = False
        self._parser = TagParser(self._tags)

    @property
    def tag_count(self) -> int:
        return len(self._sent)

    @property
    def open_tag_id(self) -> str | None:
        last = self._sent[-1] if self._sent else None
        return None if last is None or last.closed else last.tag_id

    def played(self) -> list[PlayedTag]:
        """What was sent so far, as if all of it had been played."""
        return [
            PlayedTag(tag=one.tag, attrs={**one.attrs}, text="".join(one.text), status=_status(one))
            for one in self._sent
        ]

    def feed(self, text: str) -> list[NpcEvent]:
        """The events that a piece of the reply brings about."""
        return self._events(self._parser.feed(text))

    def close(self) -> list[NpcEvent]:
        """The events that are left when the reply has ended."""
        return self._events(self._parser.close())

    def begin_again(self) -> list[NpcEvent]:
        """Reads another reply in the same turn; tags that were sent stay, and an open one is closed."""
        self._parser = TagParser(self._tags)
        self.repeats, self._waiting, self._held = False, None, ""
        self.crossed, self._asks_again, self._checked, self._left_out = None, False, None, False
        return self._close_sent(complete=False) if self.open_tag_id is not None else []

    def stay_silent(self) -> list[NpcEvent]:
        """The events of an NPC that says nothing rather than the same again."""
        events = self.begin_again()
        if "silence" not in self._specs:
            return events
        return [*events, self._open("silence", {}), *self._close_sent(complete=True)]

    def _events(self, tags: list[TagEvent]) -> list[NpcEvent]:
        events: list[NpcEvent] = []
        for tag in tags:
            if self.stops:
                break
            events += self._of(tag)
        return events

    @property
    def stops(self) -> bool:
        """Whether the rest of the reply is not read."""
        return self.repeats or self.crossed is not None

    def objections(self) -> list[Objection]:
        """What guardrails objected to since this was last asked."""
        found, self._objections = self._objections, []
        return found

    def _of(self, event: TagEvent) -> list[NpcEvent]:
        spec = self._spec(event.tag)
        if not spec.visible:
            return []
        match event:
            case Opened():
                return self._allowed(event, spec)
            case Text():
                return self._passed("" if self._left_out else self._check(event.delta))
            case Closed():
                return self._finished(event)
            case _:
                assert_never(event)

    def _allowed(self, event: Opened, spec: TagSpec) -> list[NpcEvent]:
        """Opens a tag, unless its attributes have what may not be told."""
        self._left_out = self._object(self._guardrails.objection_to(*event.attrs.values()))
        # A tool call is JSON, in which no mark may stand: it is looked at when it is whole.
        self._checked = None if event.tag == TOOL else self._guardrails.stream(asks_again=self._asks_again)
        return [] if self._left_out else self._opened(event, spec)

    def _check(self, delta: str, *, ends: bool = False) -> str:
        """What of a tag's text may be sent now."""
        checked = self._checked
        if checked is None:
            return delta
        text = checked.take(delta) + (checked.close() if ends else "")
        if checked.denied is not None:
            self.crossed = checked.denied.rule
        if ends or checked.denied is not None:
            self._objections += checked.objections
            self._checked = None
        return text

    def _passed(self, text: str) -> list[NpcEvent]:
        return self._text(text) if text else []

    def _finished(self, event: Closed) -> list[NpcEvent]:
        """Closes a tag with what is left of its text; one that was left out has nothing to close."""
        if self._left_out:
            self._left_out = False
            return []
        if event.tag == TOOL and self._object(self._guardrails.objection_to(event.text)):
            self._waiting, self._held = None, ""
            return []
        events = self._passed(self._check("", ends=True))
        return events if self.stops else [*events, *self._closed(event)]

    def _object(self, found: Objection | None) -> bool:
        """Notes an objection; the NPC is asked once more for what was refused."""
        if found is None:
            return False
        self._objections.append(found)
        if self._asks_again:
            self.crossed = found.rule
        return True

    def _opened(self, event: Opened, spec: TagSpec) -> list[NpcEvent]:
        held_back = event.tag == SAY and bool(self._old_lines)
        if spec.mode == "atomic" or event.tag == TOOL or held_back:
            self._waiting, self._held = event, ""
            return []
        return [self._open(event.tag, event.attrs)]

    def _text(self, delta: str) -> list[NpcEvent]:
        if self._waiting is None:
            return [self._chunk(delta)]
        self._held += delta
        if self._is_whole(self._waiting.tag) or may_become(self._held, self._old_lines):
            return []
        return self._released()

    def _closed(self, event: Closed) -> list[NpcEvent]:
        if self._waiting is None:
            return self._close_sent(complete=event.complete)
        if event.tag == SAY and is_one_of(event.text, self._old_lines):
            self.repeats = True
            return []
        return [*self._released(), *self._close_sent(complete=event.complete)]

    def _released(self) -> list[NpcEvent]:
        """What was held back: the tag opens, with one chunk."""
        waiting, text = self._waiting, self._held
        self._waiting, self._held = None, ""
        assert waiting is not None
        opened = self._open(waiting.tag, waiting.attrs)
        return [opened, self._chunk(text)] if text else [opened]

    def _is_whole(self, tag: str) -> bool:
        return tag == TOOL or self._spec(tag).mode == "atomic"

    def _spec(self, tag: str) -> TagSpec:
        return self._specs.get(tag.lower()) or TagSpec(name=tag)

    def _open(self, tag: str, attrs: dict[str, str]) -> NpcEvent:
        index = len(self._sent)
        sent = _Sent(tag_id=f"{self._turn_id}.{index}", tag=tag, attrs=attrs)
        self._sent.append(sent)
        return TagOpened(
            agent_id=self._agent_id, turn_id=self._turn_id, tag_id=sent.tag_id, index=index, tag=tag, attrs=attrs
        )

    def _chunk(self, text: str) -> NpcEvent:
        sent = self._sent[-1]
        sent.text.append(text)
        return TagText(agent_id=self._agent_id, turn_id=self._turn_id, tag_id=sent.tag_id, tag=sent.tag, text=text)

    def _close_sent(self, *, complete: bool) -> list[NpcEvent]:
        sent = self._sent[-1]
        sent.closed = True
        return [
            TagClosed(
                agent_id=self._agent_id,
                turn_id=self._turn_id,
                tag_id=sent.tag_id,
                tag=sent.tag,
                text="".join(sent.text),
                complete=complete,
            )
        ]


def _status(sent: _Sent) -> PlayedStatus:
    return "played" if sent.closed else "partial"
