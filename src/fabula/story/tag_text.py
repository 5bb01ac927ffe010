"""The small parts of tag parsing: the text of one open tag, where markup ends, and its attributes."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Final

_LONGEST_GAP: Final = 256
_QUOTE: Final = re.compile(r"=\s*[\"']")
_ATTRIBUTE: Final = re.compile(r"""([A-Za-z_][\w:.-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")


@dataclass(kw_only=True)
class OpenTag:
    """The tag being written: drops white space around its text, and a `<` that would look like a known tag."""

    name: str
    attrs: dict[str, str]
    index: int
    implicit: bool
    forbidden: tuple[str, ...]
    text: list[str] = field(default_factory=list)
    held: str = ""
    gap: str = ""

    def add(self, text: str) -> str:
        return self._trimmed(self._guarded(text))

    def last(self) -> str:
        held, self.held = self.held, ""
        return self._trimmed(held)

    def _guarded(self, text: str) -> str:
        """Pieces that are innocent alone may spell a tag together, so each `<` waits for what follows it."""
        if not self.held and "<" not in text:
            return text
        text, self.held = self.held + text, ""
        passed = []
        place = 0
        while (start := text.find("<", place)) >= 0:
            passed.append(text[place:start])
            follows = text[start + 1 :].removeprefix("/").lower()
            if follows.startswith(("<", *self.forbidden)):
                place = start + (2 if text.startswith("</", start) else 1)
            elif any(name.startswith(follows) for name in self.forbidden):
                self.held = text[start:]
                return "".join(passed)
            else:
                passed.append("<")
                place = start + 1
        passed.append(text[place:])
        return "".join(passed)

    def _trimmed(self, text: str) -> str:
        """White space is passed on only once something follows it."""
        body = text.rstrip()
        if not body:
            self.gap = (self.gap + text)[:_LONGEST_GAP] if self.text else ""
            return ""
        lead = len(body) - len(body.lstrip())
        gap = (self.gap + body[:lead])[:_LONGEST_GAP] if self.text else ""
        self.gap = text[len(body) :][:_LONGEST_GAP]
        return gap + body[lead:]


def end_of_tag(region: str) -> int:
    """Where the `>` stands that is not inside a quoted attribute; -1 when it has not come."""
    place = 1
    while True:
        end = region.find(">", place)
        quote = _QUOTE.search(region, place, end if end >= 0 else len(region))
        if quote is None:
            return end
        closing = region.find(region[quote.end() - 1], quote.end())
        if closing < 0:
            return -1
        place = closing + 1


def attributes(text: str) -> dict[str, str]:
    attrs: dict[str, str] = {}
    for found in _ATTRIBUTE.finditer(text):
        value = next((group for group in found.groups()[1:] if group is not None), "")
        attrs.setdefault(found.group(1).lower(), html.unescape(value))
    return attrs
