"""Forty texts that are meant to be anything but text, in every place where others' words are shown."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from random import Random

import pytest
from playwright.sync_api import Dialog, Page, expect
from tests.browser.playhouse import Playhouse, newest, open_stage, playhouse, says, send, settled, wait_until
from tests.browser.scene import PATIENCE_MS
from tests.live import GATE_GRAPH

from fabula.testing.model_script import Say

HOSTILE = (
    "<script>document.title = 'taken'</script>",
    "<svg onload=\"document.title='taken'\"></svg>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "<iframe src='javascript:alert(1)'></iframe>",
    "<object data='x'></object><embed src='x'>",
    "<form action='https://example.org'><input name=a></form>",
    "<base href='https://example.org/'>",
    "<meta http-equiv=refresh content='0;url=https://example.org'>",
    "<link rel=stylesheet href='https://example.org/x.css'>",
    "<style>body { display: none }</style>",
    "<b style='position:fixed;inset:0;background:red'>over all</b>",
    "<video src=x onerror=alert(1)></video>",
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<template><script>alert(1)</script></template>",
    "<!-- --><script>alert(1)</script><!-- -->",
    "]]><script>alert(1)</script><![CDATA[",
    "</title></textarea></p></article><h1>out</h1>",
    "&lt;b&gt; &amp; &#60;script&#62; &#x202e;",
    "javascript:alert(1) data:text/html,<script>alert(1)</script>",
    "[a link](javascript:alert(1)) <a href='https://example.org'>out</a>",
    "![picture](https://example.org/x.png) [link](https://example.org)",
    "# heading\n- list\n> quote\n```code```",
    "{#if true}{@html '<i>x</i>'}{/if}",
    "{@html '<b>bold</b>'} {{char}} {{user}} ${window}",
    "<%= 7 * 7 %> #{7 * 7} {{constructor.constructor('alert(1)')()}}",
    "' OR 1=1; DROP TABLE turns; --",
    '\r\nevent: message\r\ndata: {"type": "completed"}\r\n\r\n',
    "id: 99\nretry: 1\n: comment",
    "\u2028line\u2029paragraph\u0085next",
    "\u202eright to left\u202c \u2066isolate\u2069 \u200fmark",
    "zero\u200bwidth\u200cjoin\u200der\ufeff",
    "\u0301\u0302\u0303" * 60 + " combining",
    "🏴\u200d☠️👩‍👩‍👧‍👦" * 40,
    "\x1b[31mred\x1b[0m \x07\x08",
    "*" * 200 + '"' * 200 + "“" * 200,
    "".join(Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=900)),
    "漢字かな交じり文 العربية עברית " + "雾中的港口" * 12,
)
NARRATOR = {"speaker_id": "narrator", "speaker_name": "Narrator"}
# What text is made of here, and what stands beside it; nothing that a hostile text could have brought.
_FOREIGN = """(where) => [...document.querySelectorAll(`:is(${where}) *`)].filter((one) =>
  !one.matches("p, span, em, strong, div, b, s, i, abbr, aside, details, summary, hr, h1, h2, h3, h4, ul, ol, li," +
    "article, section, header, footer, button, form, label, select, option, input:not([name=a]), small, output," +
    "textarea, dialog, a[href^='/'], img[src^='/download/'], svg:not([onload]), svg *") ||
  one.hasAttribute("onerror") || one.hasAttribute("ontoggle")
).map((one) => one.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playhouse]:
    with playhouse(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def good_manners(house: Playhouse, page: Page) -> Iterator[None]:
    house.players.forgive()
    house.players.narration = None
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", answer)
    page.set_viewport_size({"width": 1280, "height": 900})
    yield
    assert asked == []


def plain(text: str) -> str:
    """Letters as far as typesetting and cleaning leave them alone."""
    return re.sub(r"[\s\W_]+", "", text)


def assert_shown(page: Page, where: str, *texts: str) -> None:
    """All the texts stand there as text, nothing of them became an element, and nothing is wider than the page."""
    until = time.monotonic() + PATIENCE_MS / 1000
    # The newest lines of a page are drawn first, the others a moment later.
    while missing := missing_of(texts, plain("".join(page.locator(where).all_text_contents()))):
        assert time.monotonic() < until, missing
        page.wait_for_timeout(50)
    assert page.evaluate(_FOREIGN, where) == []
    assert "taken" not in page.title().replace("'taken'", "")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("main").first.is_visible()


def missing_of(texts: Sequence[str], shown: str) -> list[str]:
    return [text for text in texts if plain(text) not in shown]


def test_there_are_forty() -> None:
    assert len(set(HOSTILE)) == 40


def kept(house: Playhouse, session: str) -> list[str]:
    """What the server kept of what was said: tags that a model wrote are no part of it."""
    return [line["text"] for line in house.lines(session)]


def test_in_what_is_said_told_and_answered(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    house.players.narration = Say(text="\n\n".join(f"{text} It ends." for text in HOSTILE))
    answer = " ".join(text.replace("\n", " ") for text in HOSTILE)
    house.players.misbehave("actor", Say(text=f"<dialogue>{answer}</dialogue>"))
    send(page, "\n".join(HOSTILE))
    settled(page)
    assert_shown(page, "article.turn .said", *HOSTILE)
    assert_shown(page, "article.turn", *kept(house, session))
    expect(newest(page).locator(".speech").first).to_be_visible()


def test_in_lines_that_somebody_wrote_by_hand(page: Page, house: Playhouse) -> None:
    for kind, where in (("narration", ".narration"), ("dialogue", ".speech p"), ("dialogue", ".speech .speaker")):
        session = house.begin()
        for text in HOSTILE:
            names = {"speaker_id": "mara", "speaker_name": text} if "speaker" in where else NARRATOR
            house.call("session_message.create", session, kind=kind, text=text, **names)
        open_stage(page, house, session)
        assert_shown(page, where, *HOSTILE)


def test_in_names_of_stories_plays_people_and_places(page: Page, house: Playhouse) -> None:
    cast = [f"hostile-{number}" for number in range(len(HOSTILE))]
    for id, name in zip(cast, HOSTILE, strict=True):
        content = {"id": id, "name": name, "personality": name, "style": "dry", "system_prompt": ""}
        house.call("character.create", content={**content, "schema_id": "gate-keeper"})
        house.call("story.create_ink", display_name=name, source="Fog.\n-> END\n")
    resource = house.call("story_resources.create", story_concept="Names.", character_ids=cast)
    first, *others = GATE_GRAPH["nodes"]
    scene = {**first, "title": HOSTILE[0] + HOSTILE[11], "characters": cast}
    graph = {**GATE_GRAPH, "nodes": [scene, *({**one, "characters": cast} for one in others)]}
    story = house.call(
        "story.create",
        resource_id=resource["resource_id"],
        display_name=HOSTILE[2],
        graph=graph,
        world_schema_id="gate-world",
        player_schema_id="gate-player",
        introduction="\n\n".join(HOSTILE),
        common_variables=[{"scope": "world", "key": "lamp_oil", "display_name": HOSTILE[4], "pinned": True}],
    )["story_id"]
    session = ""
    for name in HOSTILE:
        started = house.call("story.start_session", story_id=story, api_group_id="troupe", display_name=name)
        session = str(started["session_id"])
    house.call("player_profile.create", player_profile_id="h", display_name=HOSTILE[1], description=HOSTILE[2])
    house.call("session.set_player_profile", session, player_profile_id="h")
    page.goto(house.address)
    expect(page.get_by_role("region", name="On the shelf").locator("h3").nth(len(HOSTILE))).to_be_attached()
    assert_shown(page, "main", *HOSTILE)
    page.goto(f"{house.address}/app/story/{story}")
    expect(page.get_by_role("region", name="The cast").get_by_role("listitem")).to_have_count(len(HOSTILE))
    assert_shown(page, "main", *HOSTILE)
    open_stage(page, house, session)
    page.locator("main").focus()
    page.keyboard.press("c")
    assert_shown(page, "[role=tabpanel]", *HOSTILE)
    page.keyboard.press("s")
    assert_shown(page, "[role=tabpanel]", HOSTILE[4])
    assert_shown(page, "header h1", HOSTILE[0], HOSTILE[11], HOSTILE[-1])


def test_in_an_ink_story_its_choices_and_its_talk(page: Page, house: Playhouse) -> None:
    source = "Fog.\n" + "".join(f"* [Way {n} \\<img src=x onerror\\=alert(1)\\>] -> END\n" for n in range(3))
    source += "* [Talk] -> agent(-> guard, -> over)\n=== over\nIt is over.\n-> END\n"
    source += "=== guard\nI stand here. # speaker: \\<b\\>X\n-> DONE\n"
    story = house.call("story.create_ink", display_name="Fog", source=source)["story_id"]
    session = house.begin(ink=True, story=str(story))
    open_stage(page, house, session)
    expect(page.get_by_role("list", name="What you can do").get_by_role("button")).to_have_count(4)
    assert_shown(page, "footer", "Way 0 <img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Talk").click()
    house.players.talks.append(says("INVALID_INPUT", " ".join(HOSTILE[:28]), guidance=HOSTILE[2]))
    send(page, HOSTILE[0])
    expect(newest(page).get_by_text("did not belong here")).to_be_visible()
    assert_shown(page, "article.turn, footer", HOSTILE[0], *kept(house, session))


def test_a_megabyte_of_text_is_text(page: Page, house: Playhouse) -> None:
    session = house.begin()
    line = "The fog is thick and grey tonight. " * 560
    for _ in range(54):
        house.call("session_message.create", session, kind="narration", text=line, **NARRATOR)
    open_stage(page, house, session)
    wait_until(page, "document.querySelectorAll('.narration').length >= 54")
    assert len("".join(page.locator(".narration").all_text_contents())) > 1_000_000
    send(page, "I wait.")
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
