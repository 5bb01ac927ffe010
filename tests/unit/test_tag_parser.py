"""Tags in a stream: however the text is cut, the same things are said, and no markup is delivered."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.story.tags import (
    ACTOR_TAGS,
    GAME_TAGS,
    MOST_TAGS,
    SWIFT_TAGS,
    Closed,
    Opened,
    TagEvent,
    TagParser,
    TagSet,
    Text,
    parse_tags,
)


def said(text: str, tags: TagSet = ACTOR_TAGS) -> list[tuple[str, str]]:
    return [(closed.tag, closed.text) for closed in parse_tags(text, tags)]


def events_of(pieces: list[str], tags: TagSet = SWIFT_TAGS) -> list[TagEvent]:
    parser = TagParser(tags)
    found = [event for piece in pieces for event in parser.feed(piece)] + parser.close()
    merged: list[TagEvent] = []
    for event in found:
        if isinstance(event, Text) and merged and isinstance(merged[-1], Text):
            event = Text(tag=event.tag, delta=merged.pop().delta + event.delta)
        merged.append(event)
    return merged


def test_an_actor_thinks_acts_and_speaks() -> None:
    reply = "<thought>He lies.</thought>\n<action>She nods.</action>\n<dialogue>Go on.</dialogue>\n"
    assert said(reply) == [("thought", "He lies."), ("action", "She nods."), ("dialogue", "Go on.")]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Just words.", [("dialogue", "Just words.")]),
        ("  \n ", []),
        (
            "Well. <action>She nods.</action> Yes?",
            [("dialogue", "Well."), ("action", "She nods."), ("dialogue", "Yes?")],
        ),
        ("<action>nods", [("action", "nods")]),
        (
            "<thought>hm <dialogue>Hi</dialogue> so</thought>",
            [("thought", "hm"), ("dialogue", "Hi"), ("dialogue", "so")],
        ),
        ("<dialogue>a <b>bold</b> <br/>word</dialogue>", [("dialogue", "a bold word")]),
        ("<dialogue>1 < 2 &amp; 3 &gt; 2 &lt;3 R&D</dialogue>", [("dialogue", "1 < 2 & 3 > 2 <3 R&D")]),
        ("```xml\n<dialogue>Hi</dialogue>\n```", [("dialogue", "Hi")]),
        ("<DIALOGUE>Hi</Dialogue>", [("dialogue", "Hi")]),
        ("<thought>typo</dialogue><dialogue>b</dialogue>", [("thought", "typo"), ("dialogue", "b")]),
        ("</dialogue>x", [("dialogue", "x")]),
        ("<dialogue>cut off</dial", [("dialogue", "cut off")]),
        ("<dialogue>cut off<act", [("dialogue", "cut off")]),
        ("<dialogue>a <- b <3</dialogue>", [("dialogue", "a <- b <3")]),
        ("<dialogue><!-- note -->Hi</dialogue>", [("dialogue", "Hi")]),
        ('<dialogue who="a>b">Hi</dialogue>', [("dialogue", "Hi")]),
        ('<dialogue who="mira>Hi</dialogue>', [("dialogue", "Hi")]),
        ("<dialogue Hi there <action>nods</action>", [("dialogue", "Hi there"), ("action", "nods")]),
        ("<di<x>alogue>hi", [("dialogue", "dialogue>hi")]),
        ("<dialogue>&lt;dialogue&gt;</dialogue>", [("dialogue", "dialogue>")]),
        ("<dialogue></dialogue>", [("dialogue", "")]),
    ],
)
def test_what_models_write_is_understood(reply: str, expected: list[tuple[str, str]]) -> None:
    assert said(reply) == expected


def test_attributes_and_self_closing_tags() -> None:
    found = parse_tags("<action name=\"wave\" target='Bob &amp; Al' fast/><say>Hi</say><silence/>", GAME_TAGS)
    assert [closed.tag for closed in found] == ["action", "say", "silence"]
    assert found[0].attrs == {"name": "wave", "target": "Bob & Al", "fast": ""}
    assert [closed.index for closed in found] == [0, 1, 2]


def test_text_streams_before_its_tag_is_closed() -> None:
    parser = TagParser(ACTOR_TAGS)
    assert parser.feed("<dialogue>Come ") == [Opened(tag="dialogue", index=0), Text(tag="dialogue", delta="Come")]
    assert parser.feed("in") == [Text(tag="dialogue", delta=" in")]
    last = parser.close()
    assert last == [Closed(tag="dialogue", index=0, text="Come in", complete=False)]


def test_json_inside_a_raw_tag_arrives_as_it_was_written() -> None:
    ops = '{"ops": [{"type": "SetState", "key": "note", "value": "a <b>c</b> &amp; d"}]}'
    assert said(f"<update>```json\n{ops}\n```</update>", SWIFT_TAGS) == [("update", ops)]


def test_a_bracket_that_never_closes_is_text_after_a_while_and_memory_stays_small() -> None:
    parser = TagParser(ACTOR_TAGS)
    parser.feed("<dialogue>a <b")
    heard = "".join(e.delta for _ in range(1000) for e in parser.feed(" word") if isinstance(e, Text))
    assert heard.startswith(" <b word word")
    parser.feed("`" * 10_000 + "\n" * 10_000 + "&" * 10_000)
    assert len(parser._buffer) <= 256


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
def test_an_answer_of_very_many_tags_ends_where_nobody_writes_more(size: int) -> None:
    text = "".join(f"<action>Act {n}.</action><thought>Of {n}.</thought> " for n in range(2_000))
    events = events_of([text[start : start + size] for start in range(0, len(text), size)])
    closed = [event.text for event in events if isinstance(event, Closed)]
    assert len(closed) == MOST_TAGS and closed[-1] == f"Of {MOST_TAGS // 2 - 1}."
    assert isinstance(events[-1], Closed)


TRICKS = ["<", ">", "/", "&", "`", "```", "=", '"', "'", "<b>", "<!--", "<x y='", "é", "a", "json"]
TAGS = ["<dialogue", "</dialogue>", "<action>", "</act", "say", "<update>", "</update>", "dialogue", "thought>"]
fragments = st.sampled_from([*TRICKS, *TAGS, "&lt;", "&amp;", "&#60;", " ", "\n"])
hostile = st.lists(fragments | st.text(max_size=3), max_size=40).map("".join)


@examples(600)
@given(hostile, st.lists(st.integers(0, 200), max_size=12))
@example("<dialogue>" + "<a " + "x" * 300 + "</dialogue>", [3, 100, 258, 259])
@example("<dialogue><</<dialogue>", [])
@example("`" * 70 + "xml", [2, 60, 65])
def test_any_split_gives_the_same_events(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[a:b] for a, b in pairwise(places)]
    assert events_of(pieces) == events_of([text]) == events_of(list(text))


@examples(600)
@given(hostile)
@example("<<dialoguesay</<thoughtx")
def test_hostile_text_never_raises_leaks_or_nests(text: str) -> None:
    for tags in (ACTOR_TAGS, SWIFT_TAGS, GAME_TAGS):
        leak = re.compile("</?(" + "|".join(tags.names) + ")", re.IGNORECASE)
        open_tag: Opened | None = None
        heard = ""
        for event in events_of([text], tags):
            match event:
                case Opened():
                    assert open_tag is None
                    open_tag, heard = event, ""
                case Text():
                    assert open_tag is not None and event.tag == open_tag.tag
                    heard += event.delta
                case Closed():
                    assert open_tag is not None and event.text == heard and event.index == open_tag.index
                    assert not leak.search(heard)
                    assert heard == heard.strip()
                    open_tag = None
        assert open_tag is None
