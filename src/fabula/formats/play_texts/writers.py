"""Every format in which a play is written down: its writer, its media type and its suffix."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from fabula.formats.play_texts.book import EPUB_MEDIA_TYPE, write_book
from fabula.formats.play_texts.document import PlayDocument, one_line
from fabula.formats.play_texts.markdown import write_markdown
from fabula.formats.play_texts.plain_text import write_json, write_text
from fabula.formats.play_texts.silly_tavern import write_silly_tavern
from fabula.formats.play_texts.web_page import write_web_page

PlayFormat = Literal["markdown", "html", "text", "epub", "sillytavern_jsonl", "json"]

_UNFIT_FOR_FILES = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


@dataclass(frozen=True, kw_only=True)
class Writer:
    """How one format is written."""

    write: Callable[[PlayDocument], str | bytes]
    media_type: str
    suffix: str


WRITERS: Mapping[PlayFormat, Writer] = {
    "markdown": Writer(write=write_markdown, media_type="text/markdown; charset=utf-8", suffix=".md"),
    "html": Writer(write=write_web_page, media_type="text/html; charset=utf-8", suffix=".html"),
    "text": Writer(write=write_text, media_type="text/plain; charset=utf-8", suffix=".txt"),
    "epub": Writer(write=write_book, media_type=EPUB_MEDIA_TYPE, suffix=".epub"),
    "sillytavern_jsonl": Writer(write=write_silly_tavern, media_type="application/jsonl", suffix=".jsonl"),
    "json": Writer(write=write_json, media_type="application/json", suffix=".json"),
}


def write_play(play: PlayDocument, format: PlayFormat) -> bytes:
    """A play in a format."""
    written = WRITERS[format].write(play)
    return written.encode("utf-8", "replace") if isinstance(written, str) else written


def play_file_name(title: str, format: PlayFormat) -> str:
    """A name for the file that every system takes."""
    plain = _UNFIT_FOR_FILES.sub(" ", one_line(title))
    return f"{' '.join(plain.split()).strip('. ')[:80] or 'play'}{WRITERS[format].suffix}"
