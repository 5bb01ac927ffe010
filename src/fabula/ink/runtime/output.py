"""The output stream: text, glue and tags of the current line, and the rules for white space.

Line breaks are kept only where there is text to break, glue eats them, and functions do not add any at their ends.
"""

from __future__ import annotations

import re
from typing import Final

from fabula.ink.runtime.callstack import Thread
from fabula.ink.runtime.content import Command, FrameKind, Glue, Literal, Node, Op, Text
from fabula.ink.runtime.values import ChoiceTag

BEGIN_STRING: Final = Command("str")
BEGIN_TAG: Final = Command("#")
END_TAG: Final = Command("/#")

_INLINE_SPACE = re.compile(r"[ \t]+")


def clean_white_space(text: str) -> str:
    """Runs of blanks become one, and those at the edges of lines vanish.

    >>> clean_white_space("  a \\t b  \\n c ")
    'a b\\nc'
    """
    if "  " not in text and "\t" not in text and " \n" not in text and "\n " not in text:
        return text.strip(" ")
    return "\n".join(_INLINE_SPACE.sub(" ", line).strip(" ") for line in text.split("\n"))


class Output:
    """What has been said since the last line was handed out."""

    __slots__ = ("_done_before_strings", "_line_done", "glue_count", "items", "string_starts")

    def __init__(self, items: list[Node] | None = None) -> None:
        self.items: list[Node] = []
        self.glue_count = 0
        self.string_starts: list[int] = []
        self._line_done: bool | None = False
        """Whether the stream ends in a line break, None when that has to be looked up again."""
        self._done_before_strings: list[bool | None] = []
        for item in items or ():
            self._append(item)

    def copy(self) -> Output:
        """A stream that may grow without touching this one."""
        twin = Output()
        twin.items = self.items.copy()
        twin.glue_count = self.glue_count
        twin.string_starts = self.string_starts.copy()
        twin._line_done = self._line_done
        twin._done_before_strings = self._done_before_strings.copy()
        return twin

    def _append(self, item: Node) -> None:
        if isinstance(item, Text):
            self._append_text(item)
            return
        if item.op == Op.GLUE:
            self.glue_count += 1
        elif item.op == Op.BEGIN_STRING:
            self.string_starts.append(len(self.items))
            self._done_before_strings.append(self._line_done)
        if isinstance(item, Command):
            self._line_done = False
        self.items.append(item)

    def _append_text(self, text: Text) -> None:
        # One empty piece says that text was written; a loop that writes them for ever would make every look slower.
        if not text.value and self.items and isinstance(last := self.items[-1], Text) and not last.value:
            return
        if text.is_visible:
            self._line_done = False
        elif text.is_newline:
            self._line_done = True
        self.items.append(text)

    def push_command(self, command: Command) -> None:
        """Marks the start of a string, or the start or end of a tag."""
        self._append(command)

    def push_tag(self, tag: ChoiceTag) -> None:
        """Adds a finished tag."""
        self._append(Literal(tag))

    def push_glue(self, glue: Node) -> None:
        """Removes the line breaks just written, and forbids those that follow."""
        self._trim_newlines()
        self._append(glue)

    def push_text(self, text: Text, thread: Thread) -> None:
        """Adds text, if the white space rules let it in."""
        if text.parts:
            for part in text.parts:
                self._push_piece(part, thread)
        else:
            self._push_piece(text, thread)

    def _push_piece(self, text: Text, thread: Thread) -> None:
        frame = thread.frames[-1]
        function_start = frame.output_start if frame.kind == FrameKind.FUNCTION else -1
        glue_at = -1
        if self.glue_count or self.string_starts:
            glue_at, string_at = self._last_glue_or_string()
            if string_at >= function_start and string_at != -1:
                function_start = -1
        if glue_at == -1 and function_start == -1:
            if text.is_newline and (self.ends_in_newline() or not self.has_text()):
                return
        elif text.is_newline:
            return
        elif text.is_visible:
            if glue_at != -1:
                self._remove_glue()
            if function_start != -1:
                _stop_trimming(thread)
        self._append_text(text)

    def _last_glue_or_string(self) -> tuple[int, int]:
        for index in range(len(self.items) - 1, -1, -1):
            op = self.items[index].op
            if op == Op.GLUE:
                return index, -1
            if op == Op.BEGIN_STRING:
                return -1, index
        return -1, -1

    def _trim_newlines(self) -> None:
        if not self.ends_in_newline():
            return
        start = -1
        for index in range(len(self.items) - 1, -1, -1):
            item = self.items[index]
            if isinstance(item, Text):
                if item.is_visible:
                    break
                if item.is_newline:
                    start = index
            elif isinstance(item, Command):
                break
        self.items[start:] = [item for item in self.items[start:] if not isinstance(item, Text)]
        self._line_done = False

    def _remove_glue(self) -> None:
        for index in range(len(self.items) - 1, -1, -1):
            item = self.items[index]
            if isinstance(item, Glue):
                del self.items[index]
                self.glue_count -= 1
            if not self.glue_count or isinstance(item, Command):
                break

    def _recount_strings(self) -> None:
        self.string_starts = [index for index, item in enumerate(self.items) if item.op == Op.BEGIN_STRING]

    def cut(self, length: int) -> list[Node]:
        """Takes off and returns everything from an index on."""
        removed = self.items[length:]
        del self.items[length:]
        self._line_done = None
        self.glue_count -= sum(item.op == Op.GLUE for item in removed)
        while self.string_starts and self.string_starts[-1] >= length:
            done = self._done_before_strings.pop()
            self._line_done = done if self.string_starts.pop() == length else None
        return removed

    def trim_function_end(self, start: int) -> None:
        """Takes off the white space that a function left at its end."""
        for index in range(len(self.items) - 1, max(start, 0) - 1, -1):
            item = self.items[index]
            if not isinstance(item, Text):
                continue
            if item.is_visible:
                return
            del self.items[index]
            self._line_done = None
            if self.string_starts and self.string_starts[-1] > index:
                self._recount_strings()

    def ends_in_newline(self) -> bool:
        """Whether a line is complete, apart from blanks after it."""
        if self._line_done is None:
            self._line_done = self._look_for_newline()
        return self._line_done

    def _look_for_newline(self) -> bool:
        for item in reversed(self.items):
            if isinstance(item, Text):
                if item.is_newline:
                    return True
                if item.is_visible:
                    return False
            elif isinstance(item, Command):
                return False
        return False

    def last_newline(self) -> int:
        """The index of the last line break."""
        for index in range(len(self.items) - 1, -1, -1):
            item = self.items[index]
            if isinstance(item, Text) and item.is_newline:
                return index
        return -1

    def kept_newline(self, index: int) -> bool:
        """Whether the line break at an index is still there."""
        if index >= len(self.items):
            return False
        item = self.items[index]
        return isinstance(item, Text) and item.is_newline

    def goes_beyond(self, index: int) -> bool:
        """Whether something that counts, text or a tag, stands after an index."""
        in_tag = False
        for item in self.items[index + 1 :]:
            if isinstance(item, Text):
                if item.is_visible or item.is_newline or (in_tag and item.value):
                    return True
            elif isinstance(item, Literal):
                return True
            elif item.op == Op.BEGIN_TAG:
                in_tag = True
            elif item.op == Op.END_TAG:
                in_tag = False
        return False

    def has_text(self) -> bool:
        """Whether any text was written yet."""
        return any(isinstance(item, Text) for item in self.items)

    def in_string(self) -> bool:
        """Whether a string is being put together."""
        return bool(self.string_starts)

    def text(self) -> str:
        """The readable text, without tags."""
        pieces: list[str] = []
        in_tag = False
        for item in self.items:
            if isinstance(item, Text):
                if not in_tag:
                    pieces.append(item.value)
            elif item.op == Op.BEGIN_TAG:
                in_tag = True
            elif item.op == Op.END_TAG:
                in_tag = False
        return clean_white_space("".join(pieces))

    def tags(self) -> list[str]:
        """The tags of the line."""
        tags: list[str] = []
        pieces: list[str] = []
        in_tag = False
        for item in self.items:
            if item.op in (Op.BEGIN_TAG, Op.END_TAG):
                _close_tag(pieces, tags)
                in_tag = item.op == Op.BEGIN_TAG
            elif isinstance(item, Text):
                if in_tag:
                    pieces.append(item.value)
            elif isinstance(item, Literal) and isinstance(item.value, ChoiceTag) and item.value.text and not in_tag:
                tags.append(item.value.text)
        _close_tag(pieces, tags)
        return tags


def _close_tag(pieces: list[str], tags: list[str]) -> None:
    text = "".join(pieces)
    if text:
        tags.append(clean_white_space(text))
    pieces.clear()


def _stop_trimming(thread: Thread) -> None:
    for index in range(len(thread.frames) - 1, -1, -1):
        frame = thread.frames[index]
        if frame.kind != FrameKind.FUNCTION:
            break
        if frame.output_start != -1:
            thread.writable(index).output_start = -1
