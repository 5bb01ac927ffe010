"""Tags in a stream of model text: one tolerant parser for session turns, swift turns and the game socket.

Whatever arrives and however it is cut into pieces, the same events come out, and no markup reaches delivered text:

1. A tag of a known name opens; it closes the one before it, for tags are never nested.
2. Text outside any tag belongs to the default tag. Unknown tags vanish, their text stays.
3. What is never closed is closed at the end. A `<` that never becomes a tag is text.
4. Where an answer has more tags than anybody writes, it ends: each of them becomes a line that is kept.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from fabula.story.tag_text import OpenTag, attributes, end_of_tag

LONGEST_MARKUP: Final = 256
MOST_TAGS: Final = 256
_LONGEST_FENCE: Final = 64

_SPECIAL: Final = re.compile(r"[<&`]")
_SPECIAL_IN_RAW: Final = re.compile(r"[<`]")
_ENTITY: Final = re.compile(r"&#?[A-Za-z0-9]{0,8}")
_NAME: Final = re.compile(r"</?([A-Za-z][\w.-]*)")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{0,10}")
_FENCE_LANGUAGES: Final = frozenset({"xml", "html", "text", "txt", "json", "markdown", "md", "plaintext"})


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A tag begins; `index` counts the tags of a turn from 0."""

    tag: str
    attrs: dict[str, str] = field(default_factory=dict)
    index: int


@dataclass(frozen=True, kw_only=True)
class Text:
    """More text of the open tag."""

    tag: str
    delta: str


@dataclass(frozen=True, kw_only=True)
class Closed:
    """A tag ends. `text` is all of it; `complete` is False when the stream ended before the tag did."""

    tag: str
    attrs: dict[str, str] = field(default_factory=dict)
    index: int
    text: str
    complete: bool


TagEvent = Opened | Text | Closed


@dataclass(frozen=True, kw_only=True)
class TagSet:
    """Which tags are understood. Text of `raw` tags (JSON) is passed on with its entities and unknown tags."""

    names: tuple[str, ...]
    default: str
    raw: frozenset[str] = frozenset()


ACTOR_TAGS: Final = TagSet(names=("thought", "action", "dialogue"), default="dialogue")
TALK_TAGS: Final = TagSet(names=(*ACTOR_TAGS.names, "feels"), default="dialogue", raw=frozenset({"feels"}))
SWIFT_TAGS: Final = TagSet(
    names=("narration", "dialogue", "action", "thought", "update"), default="narration", raw=frozenset({"update"})
)
GAME_TAGS: Final = TagSet(
    names=("say", "think", "emote", "action", "silence", "tool"), default="say", raw=frozenset({"tool"})
)


class TagParser:
    """Feeds on pieces of text and answers what they opened, said and closed."""

    def __init__(self, tags: TagSet) -> None:
        self._tags = tags
        self._names = {name.lower(): name for name in (*tags.names, tags.default)}
        self._buffer = ""
        self._events: list[TagEvent] = []
        self._open: OpenTag | None = None
        self._opened = 0
        self._is_over = False

    def feed(self, chunk: str) -> list[TagEvent]:
        """What this piece brought about; text that may still become markup is held back."""
        if self._is_over:
            return []
        self._buffer += chunk
        self._scan(final=False)
        return self._taken()

    def close(self) -> list[TagEvent]:
        """What is left when the stream has ended: an open tag is closed."""
        self._scan(final=True)
        self._close_open(complete=False)
        return self._taken()

    def _taken(self) -> list[TagEvent]:
        events, self._events = self._events, []
        return events

    def _scan(self, *, final: bool) -> None:
        place = 0
        while place < len(self._buffer) and not self._is_over:
            special = (_SPECIAL_IN_RAW if self._is_raw() else _SPECIAL).search(self._buffer, place)
            if special is None:
                self._say(self._buffer[place:])
                place = len(self._buffer)
                break
            self._say(self._buffer[place : special.start()])
            place = special.start()
            length = self._resolve(self._buffer[place : place + LONGEST_MARKUP], final=final)
            if length == 0:
                break
            place += length
        self._buffer = self._buffer[place:]

    def _resolve(self, text: str, *, final: bool) -> int:
        """How much of `text` is understood, having acted on it; 0 when more must arrive first."""
        match text[0]:
            case "<":
                return self._resolve_markup(text, final=final)
            case "&":
                return self._resolve_entity(text, final=final)
            case _:
                return self._resolve_fence(text, final=final)

    def _resolve_entity(self, text: str, *, final: bool) -> int:
        found = _ENTITY.match(text)
        assert found is not None
        if found.end() == len(text) and found.end() < 10 and not final:
            return 0
        whole = text[: found.end() + 1]
        decoded = html.unescape(whole) if whole.endswith(";") else whole
        if decoded == whole:
            self._say("&")
            return 1
        self._say(decoded)
        return len(whole)

    def _resolve_fence(self, text: str, *, final: bool) -> int:
        run = min(len(text) - len(text.lstrip("`")), _LONGEST_FENCE)
        if run == len(text) and run < _LONGEST_FENCE and not final:
            return 0
        if run < 3:
            self._say(text[:run])
            return run
        language = _LANGUAGE.match(text, run)
        assert language is not None
        if language.end() == len(text) and language.end() - run < 10 and not final:
            return 0
        return language.end() if language.group().lower() in _FENCE_LANGUAGES else run

    def _resolve_markup(self, text: str, *, final: bool) -> int:
        if len(text) == 1 and not final:
            return 0
        if not (text[1:2].isascii() and (text[1:2].isalpha() or text[1:2] in ("/", "!", "?"))) or text == "<":
            self._say("<")
            return 1
        next_markup = text.find("<", 1)
        region = text if next_markup < 0 else text[:next_markup]
        end = end_of_tag(region)
        if end < 0 and (final or next_markup >= 0 or len(text) == LONGEST_MARKUP):
            end = region.find(">")
            if end < 0:
                return self._give_up(region, final=final and next_markup < 0)
        if end < 0:
            return 0
        return self._act_on(text[: end + 1])

    def _act_on(self, markup: str) -> int:
        found = _NAME.match(markup)
        name = self._names.get(found.group(1).lower()) if found else None
        if name is None or found is None:
            return self._pass_over(markup)
        if markup.startswith("</"):
            self._close_open(complete=True)
            return len(markup)
        self._open_tag(name, attributes(markup[found.end() : -1].removesuffix("/")))
        if markup.endswith("/>"):
            self._close_open(complete=True)
        return len(markup)

    def _pass_over(self, markup: str) -> int:
        """An unknown tag: dropped, except where text is passed on as it is."""
        if self._is_raw():
            self._say("<")
            return 1
        return len(markup)

    def _give_up(self, region: str, *, final: bool) -> int:
        """A `<` that never became a tag. A known name in it still counts; what was cut off at the end is dropped."""
        found = _NAME.match(region)
        name = self._names.get(found.group(1).lower()) if found else None
        if found is not None and name is not None:
            if region.startswith("</"):
                self._close_open(complete=True)
            elif not final:
                self._open_tag(name, {})
            return len(region) if final else found.end()
        if final and self._may_be_cut_off(region, found):
            return len(region)
        if found is not None and region.startswith("</") and not self._is_raw():
            return found.end()
        self._say("<")
        return 1

    def _may_be_cut_off(self, region: str, found: re.Match[str] | None) -> bool:
        if found is None or region.startswith("</"):
            return True
        return found.end() == len(region) and any(name.startswith(found.group(1).lower()) for name in self._names)

    def _is_raw(self) -> bool:
        return self._open is not None and self._open.name in self._tags.raw

    def _say(self, text: str) -> None:
        if not text:
            return
        if self._open is None:
            text = text.lstrip()
            if not text:
                return
            self._open_tag(self._tags.default, {}, implicit=True)
        if self._open is None:
            return
        self._emit(self._open, self._open.add(text))

    def _emit(self, open_tag: OpenTag, delta: str) -> None:
        if not delta:
            return
        open_tag.text.append(delta)
        last = self._events[-1] if self._events else None
        if isinstance(last, Text):
            self._events[-1] = Text(tag=last.tag, delta=last.delta + delta)
        else:
            self._events.append(Text(tag=open_tag.name, delta=delta))

    def _open_tag(self, name: str, attrs: dict[str, str], *, implicit: bool = False) -> None:
        self._close_open(complete=True)
        if self._opened >= MOST_TAGS:
            self._is_over = True
            return
        self._open = OpenTag(
            name=name, attrs=attrs, index=self._opened, implicit=implicit, forbidden=tuple(self._names)
        )
        self._opened += 1
        self._events.append(Opened(tag=name, attrs=attrs, index=self._open.index))

    def _close_open(self, *, complete: bool) -> None:
        if self._open is None:
            return
        closing = self._open
        self._emit(closing, closing.last())
        self._open = None
        self._events.append(
            Closed(
                tag=closing.name,
                attrs=closing.attrs,
                index=closing.index,
                text="".join(closing.text),
                complete=complete or closing.implicit,
            )
        )


def parse_tags(text: str, tags: TagSet) -> list[Closed]:
    """All tags of a finished text, in order."""
    parser = TagParser(tags)
    events = [*parser.feed(text), *parser.close()]
    return [event for event in events if isinstance(event, Closed)]


def tag_set(names: Collection[str], *, default: str = "say", raw: Collection[str] = ("tool",)) -> TagSet:
    """The tags that a game declares."""
    return TagSet(names=tuple(names), default=default, raw=frozenset(raw))
