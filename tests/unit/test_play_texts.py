"""A play is written down in every format with every line, and nothing in it is taken for more than words."""

from __future__ import annotations

import io
import json
import re
import zipfile
from html.parser import HTMLParser
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import given
from tests.mass import examples

from fabula.formats.play_texts.document import Chapter, PlayDocument, WrittenLine, WrittenTurn, one_line, paragraphs
from fabula.formats.play_texts.writers import WRITERS, PlayFormat, play_file_name, write_play

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style><script>1</script>",
    "# a heading\n> a quote\n- a list\n1. another",
    "![pixel](http://elsewhere/pixel.png) [link](javascript:alert(1))",
    "\x1b[2J\x00\x07 bell \ud800",
    "&amp; &lt; ]]> <!-- -->",
    "\u202eright to left",
]


def document(*chapters: Chapter, title: str = "Wet night") -> PlayDocument:
    return PlayDocument(
        session_id="session_1",
        title=title,
        story="The Gate",
        player="Ada",
        begun_at_ms=1_700_000_000_123,
        written_at_ms=1_700_000_000_123,
        chapters=chapters,
        introduction="An old road.",
    )


def turn(index: int, *lines: tuple[str, str, str], note: str = "", offered: tuple[str, ...] = ()) -> WrittenTurn:
    written = [WrittenLine(kind=kind, speaker=speaker, text=text) for kind, speaker, text in lines]  # type: ignore[arg-type]
    return WrittenTurn(turn_index=index, lines=written, note=note, offered=offered)


PLAY = document(
    Chapter(
        title="The Gate",
        turns=[
            turn(0, ("narration", "Narrator", "Rain falls.\n\nThe gate is shut.")),
            turn(
                1,
                ("player_input", "Ada", "I knock."),
                ("thought", "Mara", "Not again."),
                ("action", "Mara", "She looks up."),
                ("dialogue", "Mara", "Who is there?"),
                note="The knock",
                offered=("Knock", "Turn back"),
            ),
        ],
    ),
    Chapter(title="The Garden", turns=[turn(2, ("narration", "Narrator", "Moss & stone."))]),
)


def text_of(play: PlayDocument, format: PlayFormat) -> str:
    return write_play(play, format).decode()


def test_markdown() -> None:
    assert text_of(PLAY, "markdown") == (
        "# Wet night\n\n*An old road.*\n\n## The Gate\n\nRain falls.\n\nThe gate is shut.\n\n**⚑ The knock**\n\n"
        "- Knock\n- Turn back\n\n> I knock.\n\n*(Mara thinks: Not again.)*\n\n"
        "*She looks up.*\n\n**Mara:** “Who is there?”\n\n"
        "## The Garden\n\nMoss & stone.\n"
    )


def test_plain_text() -> None:
    assert text_of(PLAY, "text") == (
        "WET NIGHT\n\nAn old road.\n\n* * *\n\nThe Gate\n\nRain falls.\n\nThe gate is shut.\n\n[The knock]\n\n"
        "  - Knock\n  - Turn back\n\n> I knock.\n\n(Mara thinks: Not again.)\n\nShe looks up.\n\n"
        "Mara: “Who is there?”\n\n"
        "* * *\n\nThe Garden\n\nMoss & stone.\n"
    )


def test_a_chat_of_silly_tavern_has_a_head_and_one_line_for_each_message() -> None:
    head, *messages = [json.loads(line) for line in text_of(PLAY, "sillytavern_jsonl").splitlines()]
    assert (head["user_name"], head["character_name"], head["chat_metadata"]) == ("Ada", "Mara", {})
    assert head["create_date"] == "2023-11-14T22:13:20.123Z"
    assert [(one["name"], one["is_user"], one["mes"]) for one in messages] == [
        ("Narrator", False, "Rain falls.\n\nThe gate is shut."),
        ("Ada", True, "I knock."),
        ("Mara", False, "*(Not again.)*"),
        ("Mara", False, "*She looks up.*"),
        ("Mara", False, '"Who is there?"'),
        ("Narrator", False, "Moss & stone."),
    ]
    assert all(set(one) == {"name", "is_user", "is_system", "send_date", "mes", "extra"} for one in messages)


class Elements(HTMLParser):
    """What a browser would make of a page: its elements with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_play() -> PlayDocument:
    lines = [(kind, bad, bad) for bad in HOSTILE for kind in ("narration", "dialogue", "player_input", "action")]
    every = turn(1, *lines, note=HOSTILE[0], offered=tuple(HOSTILE))
    return document(Chapter(title=HOSTILE[1], turns=[every]), title=HOSTILE[2])


def test_a_web_page_has_no_script_loads_nothing_and_shows_hostile_words_as_words() -> None:
    page = text_of(hostile_play(), "html")
    seen = Elements(page)
    assert {tag for tag, _ in seen.found} <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "span", "bdi", "ol", "li",
    }  # fmt: skip
    names = {name for _, attributes in seen.found for name in attributes}
    assert names <= {"charset", "http-equiv", "content", "name", "class", "dir"}
    assert "<script>alert(1)</script>" in seen.text and "![pixel](http://elsewhere/pixel.png)" in seen.text
    policy = next(attributes["content"] for _, attributes in seen.found if "http-equiv" in attributes)
    assert policy is not None and policy.startswith("default-src 'none'")


def test_markdown_makes_no_heading_link_picture_or_html_of_words() -> None:
    written = text_of(hostile_play(), "markdown")
    assert re.search(r"(?<!\\)<|(?<!\\)\[|(?<!\\)!\[", written) is None
    headings = [line for line in written.splitlines() if line.startswith("#")]
    assert len(headings) == 2
    assert not any(line.startswith(("> #", "> -", "1.")) for line in written.splitlines())


@pytest.mark.parametrize("format", WRITERS)
def test_no_control_character_reaches_a_reader(format: PlayFormat) -> None:
    data = write_play(hostile_play(), format)
    if format not in ("epub", "json"):
        assert re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", data) is None


def opened(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        first = book.infolist()[0]
        assert (first.filename, first.compress_type, first.extra) == ("mimetype", zipfile.ZIP_STORED, b"")
        assert data[30:58] == b"mimetypeapplication/epub+zip"
        return {name: book.read(name) for name in book.namelist()}


OPF, DC, XHTML = (
    "{http://www.idpf.org/2007/opf}",
    "{http://purl.org/dc/elements/1.1/}",
    "{http://www.w3.org/1999/xhtml}",
)


def test_a_book_is_an_epub_whose_parts_are_all_there() -> None:
    files = opened(write_play(PLAY, "epub"))
    container = ElementTree.fromstring(files["META-INF/container.xml"])
    (root,) = container.iter("{urn:oasis:names:tc:opendocument:xmlns:container}rootfile")
    package = ElementTree.fromstring(files[root.attrib["full-path"]])
    assert package.attrib["version"] == "3.0"
    identifier = package.find(f".//{DC}identifier")
    assert identifier is not None and identifier.attrib["id"] == package.attrib["unique-identifier"]
    assert package.findtext(f".//{DC}title") == "Wet night" and package.findtext(f".//{DC}language") == "und"
    modified = package.find(f".//{OPF}meta[@property='dcterms:modified']")
    assert modified is not None and modified.text == "2023-11-14T22:13:20Z"
    items = {item.attrib["id"]: item.attrib for item in package.iter(f"{OPF}item")}
    assert {f"EPUB/{item['href']}" for item in items.values()} | {
        "mimetype",
        "META-INF/container.xml",
        "EPUB/book.opf",
    } == set(files)
    spine = [ref.attrib["idref"] for ref in package.iter(f"{OPF}itemref")]
    assert spine == ["part-1", "part-2"]
    (nav,) = [item for item in items.values() if item.get("properties") == "nav"]
    contents = ElementTree.fromstring(files[f"EPUB/{nav['href']}"])
    links = [(link.attrib["href"], link.text) for link in contents.iter(f"{XHTML}a")]
    assert links == [("part-1.xhtml", "The Gate"), ("part-2.xhtml", "The Garden")]
    assert b"Moss &amp; stone." in files["EPUB/part-2.xhtml"]


def test_the_same_play_is_the_same_book() -> None:
    assert write_play(PLAY, "epub") == write_play(PLAY, "epub")


def test_a_long_play_without_scenes_is_cut_into_parts() -> None:
    turns = [turn(n, ("narration", "Narrator", f"Line {n}.")) for n in range(150)]
    files = opened(write_play(document(Chapter(title="", turns=turns)), "epub"))
    contents = ElementTree.fromstring(files["EPUB/contents.xhtml"])
    assert [link.text for link in contents.iter(f"{XHTML}a")] == ["0–59", "60–119", "120–149"]
    empty = opened(write_play(document(), "epub"))
    assert "EPUB/part-1.xhtml" in empty


TEXTS = st.text(max_size=80)
KINDS = st.sampled_from(["player_input", "narration", "dialogue", "action", "thought"])


@examples(200)
@given(lines=st.lists(st.tuples(KINDS, TEXTS, TEXTS), max_size=6), title=TEXTS)
def test_any_words_make_a_book_that_can_be_read_and_hold_every_line(
    lines: list[tuple[str, str, str]], title: str
) -> None:
    play = document(Chapter(title=title, turns=[turn(1, *lines)]), title=title)
    files = opened(write_play(play, "epub"))
    for name, data in files.items():
        if name.endswith((".xhtml", ".opf", ".xml")):
            ElementTree.fromstring(data)
    words = "".join(ElementTree.fromstring(files["EPUB/part-1.xhtml"]).itertext())
    page = Elements(text_of(play, "html")).text
    for _, speaker, text in lines:
        for part in paragraphs(text):
            assert part in words
            assert part in page
        assert one_line(speaker) == one_line(one_line(speaker))
    for format in ("markdown", "text", "json"):
        assert write_play(play, format)
    assert len(text_of(play, "sillytavern_jsonl").splitlines()) >= len(lines) + 1


@pytest.mark.parametrize(
    ("title", "name"), [("Wet night", "Wet night.md"), ("a/b\\c:*?", "a b c.md"), ("..", "play.md"), ("灯", "灯.md")]
)
def test_a_file_has_a_name_that_every_system_takes(title: str, name: str) -> None:
    assert play_file_name(title, "markdown") == name
