"""A play as a book: EPUB 3, a ZIP whose first entry is its media type, stored as it is, with a contents page.

Each chapter is a file; what is long without scenes is cut into parts, because readers open a chapter at once.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabula.formats.play_texts.document import Chapter, PlayDocument, moment, one_line
from fabula.formats.play_texts.web_page import STYLE, chapter_markup, introduction_markup, text

EPUB_MEDIA_TYPE = "application/epub+zip"
TURNS_OF_A_PART = 60

# The oldest date of a ZIP: the same play is written as the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)
_CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""


def write_book(play: PlayDocument) -> bytes:
    parts = list(_parts(play.chapters))
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as book:
        _put(book, "mimetype", EPUB_MEDIA_TYPE, zipfile.ZIP_STORED)
        _put(book, "META-INF/container.xml", _CONTAINER)
        _put(book, "EPUB/book.opf", _package(play, len(parts)))
        _put(book, "EPUB/contents.xhtml", _contents(play, parts))
        _put(book, "EPUB/style.css", STYLE)
        for number, part in enumerate(parts):
            _put(book, f"EPUB/part-{number + 1}.xhtml", _page(play, part, is_first=number == 0))
    return written.getvalue()


def _put(book: zipfile.ZipFile, name: str, content: str, method: int = zipfile.ZIP_DEFLATED) -> None:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = method
    book.writestr(entry, content.encode())


def _parts(chapters: Sequence[Chapter]) -> Iterator[Chapter]:
    """Chapters that are no longer than a part; a book has at least one."""
    for chapter in chapters or [Chapter(title="", turns=())]:
        yield replace(chapter, turns=chapter.turns[:TURNS_OF_A_PART])
        for start in range(TURNS_OF_A_PART, len(chapter.turns), TURNS_OF_A_PART):
            yield Chapter(title="", turns=chapter.turns[start : start + TURNS_OF_A_PART])


def _heading(part: Chapter, number: int) -> str:
    """What the contents call a part: its scene, or the turns that are in it."""
    if part.title:
        return one_line(part.title)
    if not part.turns:
        return str(number)
    first, last = part.turns[0].turn_index, part.turns[-1].turn_index
    return str(first) if first == last else f"{first}–{last}"


def _package(play: PlayDocument, parts: int) -> str:
    items = "".join(
        f'<item id="part-{n}" href="part-{n}.xhtml" media-type="application/xhtml+xml"/>\n' for n in range(1, parts + 1)
    )
    spine = "".join(f'<itemref idref="part-{n}"/>\n' for n in range(1, parts + 1))
    modified = moment(play.written_at_ms).strftime("%Y-%m-%dT%H:%M:%SZ")
    creator = f"<dc:creator>{text(one_line(play.player))}</dc:creator>\n" if one_line(play.player) else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">\n'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">\n'
        f'<dc:identifier id="id">fabula:{text(one_line(play.session_id))}</dc:identifier>\n'
        f"<dc:title>{_title(play)}</dc:title>\n<dc:language>und</dc:language>\n{creator}"
        f'<meta property="dcterms:modified">{modified}</meta>\n</metadata>\n<manifest>\n'
        '<item id="contents" href="contents.xhtml" media-type="application/xhtml+xml" properties="nav"/>\n'
        '<item id="style" href="style.css" media-type="text/css"/>\n'
        f"{items}</manifest>\n<spine>\n{spine}</spine>\n</package>\n"
    )


def _contents(play: PlayDocument, parts: Sequence[Chapter]) -> str:
    entries = "\n".join(
        f'<li><a href="part-{number}.xhtml">{text(_heading(part, number))}</a></li>'
        for number, part in enumerate(parts, start=1)
    )
    body = f'<nav epub:type="toc" id="toc"><h1>{_title(play)}</h1>\n<ol>\n{entries}\n</ol></nav>'
    return _document(play, body, namespaces=' xmlns:epub="http://www.idpf.org/2007/ops"')


def _page(play: PlayDocument, part: Chapter, *, is_first: bool) -> str:
    title = f'<h1 dir="auto">{_title(play)}</h1>\n{introduction_markup(play)}' if is_first else ""
    blocks = "\n".join(chapter_markup(part))
    return _document(play, f"<section>{title}{blocks}</section>")


def _document(play: PlayDocument, body: str, *, namespaces: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n'
        f'<html xmlns="http://www.w3.org/1999/xhtml"{namespaces}>\n<head>\n<title>{_title(play)}</title>\n'
        f'<link rel="stylesheet" type="text/css" href="style.css"/>\n</head>\n<body>\n{body}\n</body>\n</html>\n'
    )


def _title(play: PlayDocument) -> str:
    return text(one_line(play.title) or one_line(play.story) or "Fabula")
