"""A play as a web page of its own: no script, nothing from elsewhere, its style inside, and every word escaped.

The markup of chapters is XHTML, so that a book is made of the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from fabula.formats.play_texts.document import Chapter, PlayDocument, WrittenLine, WrittenTurn, one_line, paragraphs

STYLE = """\
body { max-width: 38rem; margin: 3rem auto; padding: 0 1rem; font: 1.2rem/1.6 Alegreya, Georgia, serif;
  color: #231d18; background: #fbf8f1; }
h1 { font-size: 1.9em; line-height: 1.2; border-bottom: 3px double #8f2f22; padding-bottom: .4em; }
h2 { font-size: 1.3em; font-variant: small-caps; color: #8f2f22; margin-top: 2.5em; text-align: center; }
p { margin: 0 0 .7em; }
.you { color: #1f4e79; margin-top: 1.2em; }
.name { font-variant: small-caps; color: #8f2f22; margin-right: .4em; }
.deed, .thought { font-style: italic; }
.thought { color: #6a3d78; }
.note { font-size: .85em; color: #7a5200; }
.offered { font-size: .9em; color: #6a5e52; }
.colophon { font-size: .85em; color: #6a5e52; margin-top: 3em; }
@media (prefers-color-scheme: dark) { body { color: #e9dfd0; background: #1b1816; }
  h1 { border-color: #f0a085; } h2, .name { color: #f0a085; } .you { color: #9cc6ee; } .thought { color: #d6abe3; }
  .note { color: #e6bb66; } .offered, .colophon { color: #958877; } }
@media print { body { color: #000; background: #fff; max-width: none; margin: 0; } h2 { break-after: avoid; } }
"""

# A page from elsewhere may be shown in a window that is trusted: it says itself that it loads and runs nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_web_page(play: PlayDocument) -> str:
    title = text(one_line(play.title))
    body = "\n".join(part for chapter in play.chapters for part in chapter_markup(chapter))
    return (
        f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8"/>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}"/>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        f'<h1 dir="auto">{title}</h1>\n{introduction_markup(play)}{body}\n'
        f'<p class="colophon" dir="auto">{text(one_line(play.story))}</p>\n</body>\n</html>\n'
    )


def chapter_markup(chapter: Chapter) -> Iterator[str]:
    """The blocks of a chapter as XHTML."""
    if chapter.title:
        yield f'<h2 dir="auto">{text(one_line(chapter.title))}</h2>'
    for turn in chapter.turns:
        yield from _turn(turn)


def introduction_markup(play: PlayDocument) -> str:
    """What the story says before the first turn."""
    return "".join(f'<p class="deed" dir="auto">{text(part)}</p>\n' for part in paragraphs(play.introduction))


def text(plain: str) -> str:
    """Words as markup: what looks like markup in them is shown as it was written."""
    return escape(plain, quote=True)


def _turn(turn: WrittenTurn) -> Iterator[str]:
    if turn.note:
        yield f'<p class="note" dir="auto">⚑ {text(one_line(turn.note))}</p>'
    if turn.offered:
        choices = "".join(f'<li dir="auto">{text(one_line(choice))}</li>' for choice in turn.offered)
        yield f'<ol class="offered">{choices}</ol>'
    for line in turn.lines:
        yield from _line(line)


def _line(line: WrittenLine) -> Iterator[str]:
    parts = [text(part) for part in paragraphs(line.text)]
    name = f'<span class="name"><bdi>{text(one_line(line.speaker))}</bdi></span> '
    match line.kind:
        case "player_input":
            yield from (f'<p class="you" dir="auto">{part}</p>' for part in parts)
        case "dialogue":
            for place, part in enumerate(parts):
                opened, closed = "“" if place == 0 else "", "”" if place == len(parts) - 1 else ""
                yield f'<p class="speech" dir="auto">{name if place == 0 else ""}{opened}{part}{closed}</p>'
        case "action":
            yield from (f'<p class="deed" dir="auto">{part}</p>' for part in parts)
        case "thought":
            yield from (f'<p class="thought" dir="auto">{name}{part}</p>' for part in parts)
        case "narration":
            yield from (f'<p dir="auto">{part}</p>' for part in parts)
