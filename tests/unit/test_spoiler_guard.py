"""The spoiler guard: prompts hold nothing of knots not visited, and replies that tell of them never get out."""

from __future__ import annotations

import json
import random
import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mass import Mass
from tests.shared import INTERCEPT, needs_intercept

import fabula
from fabula.agents.talks.decisions import Decision, read_decision
from fabula.agents.talks.prompts import rewrite_messages, write_agent_prompt
from fabula.ink import Story
from fabula.knots.character_lines import character_lines
from fabula.knots.evaluation import text_evaluator
from fabula.knots.names import request_of
from fabula.knots.published import Published, publish
from fabula.knots.story_steps import lines_of
from fabula.knots.talk_context import TalkContext, gather_talk_context, goal_passage
from fabula.knots.talk_memory import exchanged, told
from fabula.language.spoilers import Guard
from fabula.language.vocabulary import normal, sentences_of
from fabula.story.contexts import InkGenerateContext
from fabula.story.ink_stories import Heard, InkPlay, Talk, Waiting

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
SAMPLES = Path(fabula.__file__).parents[2] / "stories" / "ink"
NAMES = ["Aldous", "Brunhild", "Corvin", "Dagmar", "Edmund", "Frieda", "Gisela", "Hartmut", "Isolde", "Joachim"]


def generated(knots: int, seed: int) -> str:
    """A story of about the size of The Intercept: each knot has its own words, its own name and an agent."""
    dice = random.Random(seed)
    parts = ["-> k0\n"]
    for number in range(knots):
        word, name = f"{dice.choice('bcdfghklm')}{dice.choice('aeiou')}rn{number}", f"{dice.choice(NAMES)}{number}on"
        parts.append(
            f"=== k{number}\nThe {word} hall was colder than the last {number} of them.\n"
            f"Only {name} knew where the {word} stair would lead.\n"
            + "".join(f"Under the {word} lamp number {line} nothing ever moved again.\n" for line in range(6))
            + f"-> agent(-> c{number}, -> k{(number + 1) % knots})\n"
            f"=== c{number}\nI keep the {word} door and nothing but the door.\n"
            f"Ask me about {{~rust|hinges}} if you must.\n-> DONE\n"
        )
    return "\n".join(parts)


def with_agents(source: str) -> str:
    """A story in which a watchman stands before many of its knots."""
    knots = set(re.findall(r"^=+ *(\w+) *=*$", source, flags=re.MULTILINE))

    def guarded(found: re.Match[str]) -> str:
        return f"-> agent(-> watchman, -> {found[1]})" if found[1] in knots else found[0]

    lines = "I watch the door and nothing but the door.\n{~It is cold.|It is late.}\nAsk me about the rust.\n"
    return re.sub(r"-> *(\w+)[ \t]*$", guarded, source, flags=re.MULTILINE) + f"\n=== watchman\n{lines}-> DONE\n"


def play_of(story: Story, history: list[Heard]) -> InkPlay:
    kept, earlier = told([], [], history)
    return InkPlay(state="", ai_seed=1, waiting=Waiting(kind="agent"), history=kept, earlier=earlier)


def moments(published: Published, seed: int, most: int) -> list[tuple[Story, TalkContext]]:
    """Moments of talk met by wandering through a story with seeded choices."""
    dice, story = random.Random(seed), published.fresh(seed=seed)
    history: list[Heard] = []
    talk, found = Talk(), []
    for _ in range(most * 3):
        history += [Heard(kind="context" if line.context else "text", text=line.text) for line in lines_of(story)]
        request = request_of(story)
        if request is not None and request.kind in ("agent", "continue"):
            said = " ".join(dice.sample(["lantern", "door", "key", "rust", "why", "please", "river", "open"], 3))
            ink = play_of(story, history).model_copy(update={"talks": {request.character: talk}})
            lines = character_lines(published, request.character, seed=seed) if request.character else ()
            goal = goal_passage(published, story, request.target)
            found.append((story.fork(), gather_talk_context(published, story, request, ink, lines, goal, said)))
            talk = exchanged(talk, said, Decision(outcome="NEEDS_INPUT", weights={}, reply="Go on."))
            history.append(Heard(kind="said", text=said))
        if len(found) >= most:
            break
        if request is not None:
            history += [Heard(kind="text", text=text.strip()) for text in [story.resume("A stone.")] if text.strip()]
        elif story.current_choices:
            story.choose(dice.randrange(len(story.current_choices)))
        else:
            story = published.fresh(seed=seed)
            history = []
    return found


def forbidden(published: Published, story: Story) -> Guard:
    """What must not be in a prompt: everything of knots not visited, but the goal and the character's own."""
    request = request_of(story)
    assert request is not None
    goal = goal_passage(published, story, request.target)
    return published.spoilers.guard(visited=story.visited, also_open=[request.character], allowed=goal)


@pytest.fixture(scope="module")
def stories() -> list[Published]:
    sources = [file.read_text("utf-8") for file in sorted(SAMPLES.glob("*.ink"))]
    return [publish(source, {}) for source in [*sources, generated(100, 1), generated(160, 2)]]


def prompts_without_a_leak(published: Published, seed: int, most: int) -> int:
    """How many prompts were assembled; none holds anything of a knot that was not visited, but the goal."""
    found = moments(published, seed, most)
    for story, talk_context in found:
        guard, asked = forbidden(published, story), write_agent_prompt(talk_context.context).messages
        for messages in (asked, rewrite_messages(asked)):
            assert guard.leaks("\n".join(one.content for one in messages)) == []
    return 2 * len(found)


def test_a_thousand_prompts_hold_no_text_of_knots_that_were_not_visited(stories: list[Published], mass: Mass) -> None:
    counts = [prompts_without_a_leak(published, seed, mass(42)) for published in stories for seed in range(4)]
    assert sum(counts) >= mass(1_000)


@needs_intercept
def test_prompts_in_a_real_story_of_100_kb_hold_no_text_of_knots_that_were_not_visited(mass: Mass) -> None:
    published = publish(with_agents(INTERCEPT.read_text("utf-8-sig")), {})
    assert published.errors == [] and len(published.talks) >= 20
    assert sum(prompts_without_a_leak(published, seed, max(8, mass(40))) for seed in range(8)) >= mass(500)


def test_five_hundred_generated_texts_that_tell_too_much_never_get_out(stories: list[Published], mass: Mass) -> None:
    tried = 0
    for published in stories:
        for story, talk_context in moments(published, 11, max(4, mass(20))):
            dice = random.Random(tried)
            context = InkGenerateContext(prompt="the weather", story_so_far=talk_context.context.story_so_far)
            watch = text_evaluator(published.spoilers, visited=story.visited, context=context)
            for _ in range(8):
                bad = spoiler_of(watch.guard, dice)
                text = f"The rain falls. {disguised(bad, dice)}. It goes on."
                assert watch.wrong(text) and normal(bad) not in normal(watch.cut(text))
                assert watch.wrong(watch.cut(text)) == []
                tried += 1
    assert tried >= mass(500)


def spoiler_of(guard: Guard, dice: random.Random) -> str:
    """Something that is closed now. Two words alone are known again only where they are a sentence of their own."""
    sentences = sorted(one for one in guard.sentences if one.count(" ") > 3 and guard.leaks(one))
    names = sorted(name.text for name in guard.names)
    return dice.choice(sentences if dice.random() < 0.7 or not names else names).strip()


def disguised(bad: str, dice: random.Random) -> str:
    return dice.choice([bad, bad.upper(), bad.capitalize() + "!", bad.replace(" ", ", "), f"«{bad}»"])


def test_five_hundred_replies_that_tell_too_much_never_get_out(stories: list[Published], mass: Mass) -> None:
    tried = 0
    for published in stories:
        for _, talk_context in moments(published, 7, max(4, mass(18))):
            guard, dice = talk_context.evaluator.guard, random.Random(tried)
            for _ in range(8):
                bad = spoiler_of(guard, dice)
                text = f"I like the rain. Between us: {disguised(bad, dice)}. Ask me something else."
                words = {"reply": text, "bridge_text": text, "guidance": text, "reason": text}
                way = dice.choice(["NEEDS_INPUT", "BRIDGE_AND_CONTINUE", "INVALID_INPUT", "DIRECT_CONTINUE"])
                decision, problems = read_decision(json.dumps({"weights": {way: 1}, **words}))
                assert decision is not None, problems
                assert talk_context.evaluator.findings(decision) or way == "DIRECT_CONTINUE"
                shown = talk_context.evaluator.fit(decision, talk_context.character, "Hm.")
                for told_text in (shown.reply, shown.bridge_text, shown.guidance, shown.reason):
                    assert normal(bad) not in normal(told_text) and guard.leaks(told_text) == []
                tried += 1
    assert tried >= mass(500)


def knots_of(source: str) -> dict[str, list[str]]:
    """The plain lines of each knot, read from the source by nothing but its line ends."""
    knots: dict[str, list[str]] = {}
    for part in source.split("\n=== ")[1:]:
        name, *lines = part.splitlines()
        knots[name] = [line for line in lines if re.fullmatch(r"[A-Z][\w ]+\.", line)]
    return knots


def test_lines_of_the_source_that_were_not_reached_never_get_out_whoever_judges() -> None:
    source = generated(100, 5)
    published, written, tried = publish(source, {}), knots_of(source), 0
    for story, talk_context in moments(published, 3, 40):
        request, dice = request_of(story), random.Random(tried)
        assert request is not None
        near = {*story.visited, request.target, request.character}
        secrets = [line for knot, lines in written.items() if knot not in near for line in lines]
        for bad in dice.sample(secrets, 13):
            text = f"I like the rain. {bad} Ask me something else."
            words = {"reply": text, "bridge_text": text, "guidance": text, "reason": text}
            decision, _ = read_decision(json.dumps({"weights": {"BRIDGE_AND_CONTINUE": 1}, **words}))
            assert decision is not None
            shown = talk_context.evaluator.fit(decision, talk_context.character, "Hm.")
            assert bad not in f"{shown.reply} {shown.bridge_text} {shown.guidance} {shown.reason}"
            tried += 1
    assert tried >= 500


def test_what_was_visited_or_is_the_goal_may_be_told() -> None:
    published = publish(
        "-> a\n== a\nThe bell of Orm rings twice.\n-> END\n== b\nThe bell of Ulf is broken.\n-> END\n", {}
    )
    guard = published.spoilers.guard(visited=["a"])
    assert guard.leaks("The bell of Orm rings twice.") == []
    assert guard.leaks("They say the bell of ULF is broken!") != []
    assert guard.leaks("Ask Ulf.") == ["Ulf"] and guard.cut("Ask Ulf. Or do not.") == "Or do not."
    assert published.spoilers.guard(visited=["a"], allowed=["The bell of Ulf is broken."]).leaks("Ask Ulf.") == []


@given(st.text(max_size=200))
def test_cutting_never_leaves_a_leak(text: str) -> None:
    guard = publish("-> a\n== a\nHello.\n-> END\n== b\nThe bell of Ulf is broken.\n-> END\n", {}).spoilers.guard(
        visited=[]
    )
    assert guard.leaks(guard.cut(f"{text} Ulf {text}. {text}")) == []


@given(st.text(max_size=300) | st.dictionaries(st.text(max_size=8), st.integers()).map(json.dumps))
def test_any_reply_is_a_decision_or_a_problem(text: str) -> None:
    decision, problems = read_decision(text)
    assert (decision is None) == bool(problems)


@given(st.lists(st.floats(0, 1e6), min_size=4, max_size=4))
def test_weights_are_normalised_and_one_outcome_is_chosen(weights: list[float]) -> None:
    names = ("INVALID_INPUT", "NEEDS_INPUT", "DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE")
    text = json.dumps({"weights": dict(zip(names, weights, strict=True)), "reply": "Well."})
    decision, _ = read_decision(text)
    if decision is not None:
        assert abs(sum(decision.weights.values()) - 1) < 1e-6
        assert names.index(decision.outcome) == weights.index(max(weights))


def closed_to(*lines: str, told: str = "Rain falls on the old road.") -> Guard:
    """The guard before a knot of these lines, in a story of which only one line was told."""
    body = "\n".join(lines)
    return publish(f"-> a\n== a\n{told}\n-> END\n== b\n{body}\n-> END\n", {}).spoilers.guard(visited=["a"])


FAR_SCRIPTS = {
    "Chinese": ("莫德雷德在井边等着，袖子里藏着一把刀。", "国王从来没有来过这里。", "雨落在旧路上。"),
    "Japanese": ("モルドレッドは井戸のそばで待っている。", "王は一度もここに来なかった！", "雨が降っている。"),
    "Thai": ("มอร์เดรดรออยู่ข้างบ่อน้ำพร้อมมีด", "พระราชาไม่เคยเสด็จมาที่นี่เลย", "ฝนตกลงบนถนนเก่า"),
    "Korean": ("모드레드가 우물가에서 칼을 숨기고 기다린다.", "왕은 여기에 온 적이 없다.", "비가 내린다."),
    "Hindi": ("मोर्ड्रेड कुएँ के पास छुरी लिए खड़ा है।", "राजा यहाँ कभी नहीं आया।", "पुरानी सड़क पर बारिश हो रही है।"),
    "Arabic": ("موردرد ينتظر قرب البئر وفي كمه سكين.", "هل مات الملك؟", "يهطل المطر على الطريق القديم۔"),
}


@pytest.mark.parametrize("script", FAR_SCRIPTS)
def test_a_sentence_is_known_again_in_any_script(script: str) -> None:
    first, second, rain = FAR_SCRIPTS[script]
    guard = closed_to(first, second, told=rain)
    assert guard.leaks(rain) == []
    for secret in (first, second):
        assert guard.leaks(secret) != []
        assert guard.leaks(f"{rain}{secret}{rain}") != []
        assert guard.leaks(f"«{rain} {secret.strip('।。！.؟')}, {rain}»") != []


def test_a_sentence_that_shares_its_line_with_others_is_known_again_without_spaces() -> None:
    guard = closed_to("雨停了。国王从来没有来过这里。莫德雷德在井边等着！", told="你好。")
    assert guard.leaks("听着，国王从来没有来过这里，明白吗？") != []
    assert guard.leaks("他说莫德雷德在井边等着呢") != []


def test_whole_sentences_are_cut_where_no_space_follows_them() -> None:
    guard = closed_to("国王从来没有来过这里。", told="你好。")
    assert guard.cut("雨在下。“国王从来没有来过这里！”他说。问别的吧。") == "雨在下。他说。问别的吧。"
    assert sentences_of("谁？！国王。走吧") == ["谁？！", "国王。", "走吧"]


def test_everyday_phrases_of_a_closed_knot_may_be_said_in_scripts_without_spaces() -> None:
    phrases = [
        "我不知道。",
        "谢谢你。",
        "你是谁？",
        "好的。",
        "ありがとうございます。",
        "わかりました。",
        "สวัสดีครับ",
        "감사합니다.",
    ]
    guard = closed_to(*phrases, told="你好。")
    for phrase in phrases:
        assert guard.leaks(phrase) == [] and guard.leaks(f"雨。{phrase}雨。") == []


def test_a_short_sentence_without_spaces_is_kept_where_it_stands_alone() -> None:
    guard = closed_to("国王死了。", told="你好。")
    assert guard.leaks("雨在下。国王死了！") != []
    assert guard.leaks("要是国王死了儿子怎么办？") == []


def test_prompts_hold_no_line_of_a_closed_knot_that_a_character_would_recite_in_a_script_without_spaces() -> None:
    published = publish(
        "-> gate\n== gate\n雨落在旧路上。\n-> agent(-> guard, -> gate)\n"
        "== guard\n我在这扇门前站了十一个冬天。\n-> yard\n== yard\n国王从来没有来过这里。\n-> DONE\n",
        {},
    )
    found = moments(published, 1, 3)
    assert found
    for _, talk_context in found:
        prompt = "\n".join(one.content for one in write_agent_prompt(talk_context.context).messages)
        assert "十一个冬天" in prompt and "国王" not in prompt


ELAINE = "Hélène égorgea Édouard près du puits à l'été."


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("said", ["NFC", "NFD", "NFKC", "NFKD"])
def test_accents_count_the_same_however_they_are_put_together(written: Form, said: Form) -> None:
    guard = closed_to(unicodedata.normalize(written, ELAINE), told="Il pleut.")
    assert len(guard.leaks(unicodedata.normalize(said, f"On dit: {ELAINE.upper()}"))) == 3
    assert guard.leaks(unicodedata.normalize(said, "Demande à Hélène")) == [unicodedata.normalize("NFC", "Hélène")]


MORDRED = "Mordred waits beside the well."
DISGUISES = {
    "soft hyphens": "Mor\u00addred waits be\u00adside the well",
    "zero-width spaces": "M\u200bo\u200br\u200bd\u200br\u200be\u200bd waits\u200b beside the well",
    "joiners and marks of direction": "Mor\u2060dr\u200ded \u202ewaits\u202c beside\ufeff the well",
    "full-width letters": "Ｍｏｒｄｒｅｄ　ｗａｉｔｓ　ｂｅｓｉｄｅ　ｔｈｅ　ｗｅｌｌ",
    "letters of mathematics": "𝕸𝖔𝖗𝖉𝖗𝖊𝖉 𝘄𝗮𝗶𝘁𝘀 𝑏𝑒𝑠𝑖𝑑𝑒 𝚝𝚑𝚎 𝓌𝑒𝓁𝓁",
    "letters in circles": "Ⓜⓞⓡⓓⓡⓔⓓ ⓦⓐⓘⓣⓢ ⓑⓔⓢⓘⓓⓔ ⓣⓗⓔ ⓦⓔⓛⓛ",
    "hyphens": "Mor-dred wa-its be‐side the w‑ell",
    "emphasis": "**Mor**dred w_ait_s be~~side~~ the `w`ell",
    "hyphens, and no spaces": "Mor-dred,waits...beside/the*well",
    "Cyrillic look-alikes": "Моrdrеd wаits bеsidе thе wеll",
    "Greek look-alikes": "Μοrdred waiτs βeside τhe well",
    "letters struck through": "M\u0336o\u0336r\u0336d\u0336r\u0336e\u0336d\u0336 waits beside the well",
    "letter by letter": "M o r d r e d waits b.e.s.i.d.e the w-e-l-l",
    "a trade mark": "Mordred™ waits beside the well",
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_sentences_and_names_are_known_again_in_disguise(disguise: str) -> None:
    guard, said = closed_to(MORDRED), DISGUISES[disguise]
    assert guard.leaks(f"I like rain. They say {said}, friend.") == ["mordred waits beside the well", "Mordred"]
    assert guard.cut(f"I like rain. They say {said}, friend. So much.".replace("...", "--")) == "I like rain. So much."
    name = said[: said.index("d w") + 1] if "d w" in said else said.split("waits")[0]
    assert "Mordred" in guard.leaks(f"Ask {name}!")


def test_a_name_written_in_disguise_by_the_author_is_known_again_when_it_is_plain() -> None:
    guard = closed_to("The knife of Mor\u00addred, and of Моrgana, is sharp.")
    assert guard.leaks("Ask Mordred. Ask Morgana.") == ["Mordred", "Morgana"]


def test_names_in_other_alphabets_stay_names() -> None:
    guard = closed_to("Там ждёт Мордред с ножом.", "Εκεί περιμένει ο Νέστωρ.", told="Идёт дождь. Βρέχει.")
    assert guard.leaks("Спроси МОРДРЕДА или Мордред?") != []
    assert guard.leaks("Ρώτα τον ΝΈΣΤΩΡ.") != [] and guard.leaks("там ЖДЁТ мордред с НОЖОМ") != []
    assert guard.leaks("Идёт дождь, мой друг. Βρέχει, φίλε.") == []


def test_words_that_only_look_a_little_like_a_name_may_be_told() -> None:
    guard = closed_to("The knife of Ina and of Theo is sharp.")
    assert guard.leaks("In a talk_context. The o is a letter; in-house, the-old, re-open it at 9 a.m.") == []


@pytest.mark.parametrize(
    "said", ["“Rain,” he said.  “Go.”\n\nThen: so-so\u00ad.", "雨在下。 他说：「好。」", "Re\u0301pe\u0301tez. Ｏｋ！"]
)
def test_what_gives_nothing_away_stays_as_it_was_written(said: str) -> None:
    assert closed_to(MORDRED).cut(said) == said


def test_no_invisible_letter_hides_a_word() -> None:
    every = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cf"]
    assert [letter for letter in every if normal(f"Mor{letter}dred") != " mordred "] == []


CLOSED_LINES = [
    "Under the bridge old Corvin hides the seventh lantern.",
    "Nobody has cast a shadow since the feast",
    ELAINE,
    "莫德雷德在井边等着，袖子里藏着一把刀。",
    "モルドレッドは井戸のそばで待っている。",
]
INVISIBLE = ["", "", "", "\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u202e", "\ufe0f"]
BETWEEN = ["", "", "", " ", "  ", "\n", ", ", " - ", "*", "-", "; «", "\u3000", "、"]


def full_width(letter: str) -> str:
    return chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter


LETTER_DRESSES: st.SearchStrategy[Callable[[str], str]] = st.sampled_from([str, str.upper, str.lower, full_width])
FORMS: st.SearchStrategy[Form] = st.sampled_from(["NFC", "NFD"])


@st.composite
def disguised_lines(draw: st.DrawFn) -> str:
    """A closed line in a mixture of disguises; its words stay apart, or are set apart further."""
    line = unicodedata.normalize(draw(FORMS), draw(st.sampled_from(CLOSED_LINES)))
    said = ""
    for letter in line:
        said += draw(st.sampled_from(BETWEEN)) if said and not unicodedata.combining(letter) else ""
        said += draw(st.sampled_from(INVISIBLE)) + draw(LETTER_DRESSES)(letter)
    return said


@pytest.fixture(scope="module")
def closed_lines() -> Guard:
    return closed_to(*CLOSED_LINES)


@given(
    said=disguised_lines(),
    before=st.sampled_from(["", "Hm. ", "Well: "]),
    after=st.sampled_from(["", " Hm.", "! 好。"]),
)
def test_a_closed_line_is_found_in_any_mixture_of_disguises(
    closed_lines: Guard, said: str, before: str, after: str
) -> None:
    assert closed_lines.leaks(f"{before}{said}{after}") != []
    assert closed_lines.leaks(closed_lines.cut(f"{before}{said}{after}")) == []
