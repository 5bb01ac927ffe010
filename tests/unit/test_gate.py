"""The gate before a model's word: the story moves only by what was said and meant in this turn."""

from __future__ import annotations

import pytest
from tests.growth import calls_of

from fabula.agents.closed_question import closed_question, read_letter
from fabula.agents.replies.keeper import read_state_update
from fabula.agents.replies.shapes import output_schema
from fabula.language.plain_words import PlainWords, words_in
from fabula.story.changes import Bounds
from fabula.story.conditions import Comparison
from fabula.story.gate import (
    ANOTHER_WAY,
    NO_REASON,
    NOT_MEANT,
    Gated,
    Heard,
    ProposedUpdate,
    gate,
    is_quoted,
    is_unsure,
    moving_places,
)
from fabula.story.graph import Graph, Node, Transition
from fabula.story.readings import AskBack, Decision, Intent, IntentKind, Mood, Stay, TakeWay, Unclear, Understood
from fabula.story.state import SetCharacterState, SetState, StateOp, WorldState


def way(to: str, key: str, value: str | int, op: str = "eq", character: str | None = None) -> Transition:
    scope = "global" if character is None else "character"
    condition = Comparison.model_validate(
        {"scope": scope, "character": character, "key": key, "op": op, "value": value}
    )
    return Transition(to=to, condition=condition)


INN = Node(
    id="inn",
    title="The inn",
    scene="Rain on the window. Tobias dries a glass.",
    goal="Find out why the lamp is dark, or win Tobias over.",
    characters=["tobias"],
    transitions=[way("tower", "lamp_tonight", "lit"), way("cellar", "trust", 2, op="gte", character="tobias")],
)
GRAPH = Graph(start_node="inn", nodes=[INN])
WORLD = WorldState(
    current_node="inn", custom={"lamp_tonight": "dark", "weather": "rain"}, character_state={"tobias": {"trust": 0}}
)
LIT: StateOp = SetState(key="lamp_tonight", value="lit")
TRUST: StateOp = SetCharacterState(character="tobias", key="trust", value=1)


def understood(kind: IntentKind, mood: Mood = "act", decision: Decision | None = None, **more: bool) -> Understood:
    intent = Intent(kind=kind, text="", mood=mood, negated=more.get("negated", False))
    return Understood(line="", node_id="inn", intents=[intent], decision=decision or Stay())


def judged(op: StateOp, because: str, read: Understood | None, *, line: str, beats: tuple[str, ...] = ()) -> Gated:
    return gate(
        ProposedUpdate(ops=[op], because=[because]),
        heard=Heard(line=line, beats=beats),
        read=read,
        node=INN,
        world=WORLD,
        bounds=Bounds(characters={"tobias": None}),
        moving=moving_places(GRAPH),
    )


def reasons(gated: Gated) -> list[str]:
    return [one.reason for one in gated.refused]


def test_variables_that_conditions_read_move_the_story() -> None:
    assert moving_places(GRAPH) == {("global", "lamp_tonight"), ("character", "tobias", "trust")}


def test_a_question_moves_nobody_whatever_a_model_makes_of_it() -> None:
    asked = understood("ask", "question")
    line = "What happened to the lamp?"
    assert reasons(judged(LIT, "what happened to the lamp", asked, line=line)) == [NOT_MEANT]
    assert reasons(judged(TRUST, "what happened to the lamp", asked, line=line)) == [NOT_MEANT]


@pytest.mark.parametrize("mood", ["wish", "maybe", "past", "order", "question"])
def test_what_is_not_done_now_moves_nobody(mood: Mood) -> None:
    assert reasons(judged(LIT, "light the lamp", understood("use", mood), line="I would light the lamp.")) == [
        NOT_MEANT
    ]


def test_a_denial_and_a_harmless_act_move_nobody() -> None:
    denied = understood("use", "act", negated=True)
    assert reasons(judged(LIT, "light the lamp", denied, line="I do not light the lamp.")) == [NOT_MEANT]
    assert reasons(judged(LIT, "look at the lamp", understood("examine"), line="I look at the lamp.")) == [NOT_MEANT]


def test_a_deed_with_its_words_quoted_passes() -> None:
    assert judged(LIT, "I light the lamp", understood("use"), line="I light the lamp.").ops == (LIT,)


@pytest.mark.parametrize("because", ["", "it", "the lamp was lit by the keeper"])
def test_a_reason_that_nobody_gave_is_none(because: str) -> None:
    assert reasons(judged(LIT, because, understood("use"), line="I light the lamp.")) == [NO_REASON]


def test_what_was_told_may_change_a_mind_but_takes_nobody_anywhere_unmeant() -> None:
    asked = understood("ask", "question")
    told = ("Tobias smiles. “You are all right.”", "The lamp flares up by itself.")
    assert judged(TRUST, "You are all right", asked, line="Why?", beats=told).ops == (TRUST,)
    assert reasons(judged(LIT, "The lamp flares up", asked, line="Why?", beats=told)) == [NOT_MEANT]


def test_who_plainly_takes_one_way_does_not_take_another() -> None:
    cellar = understood("talk", decision=TakeWay(way=1))
    assert reasons(judged(LIT, "light the lamp", cellar, line="I will not light the lamp, I trust you.")) == [
        ANOTHER_WAY
    ]
    assert judged(LIT, "light the lamp", understood("use", decision=TakeWay(way=0)), line="I light the lamp.").ops


def test_what_moves_nothing_needs_no_reason() -> None:
    op: StateOp = SetState(key="weather", value="fog")
    assert judged(op, "", understood("ask", "question"), line="Is that fog?").ops == (op,)
    same: StateOp = SetState(key="lamp_tonight", value="dark")
    assert judged(same, "", understood("ask", "question"), line="Is it dark?").ops == (same,)


def test_a_language_that_is_not_read_is_left_to_the_model() -> None:
    read = understood("unknown", decision=Unclear(reason="language"))
    assert judged(LIT, "我点亮了灯", read, line="我点亮了灯。").ops == (LIT,)
    nonsense = understood("unknown", decision=Unclear())
    assert reasons(judged(LIT, "wibble wobble", nonsense, line="Wibble wobble.")) == [NOT_MEANT]


def test_only_a_line_that_may_mean_a_way_is_unsure() -> None:
    assert is_unsure(understood("use")) and is_unsure(understood("use", decision=AskBack(ways=[0, 1])))
    assert not is_unsure(understood("use", decision=TakeWay(way=0))) and not is_unsure(understood("ask", "question"))


def test_a_quotation_is_found_whatever_its_marks() -> None:
    assert is_quoted("“You’re safe…”", Heard(line="", beats=["He says: You’re safe, now."]).words_of_beats)
    assert not is_quoted("safe now then", Heard(line="You are safe now.").words_of_line)
    assert not is_quoted("safe now", Heard(line="", beats=["You are safe", "now."]).words_of_beats)


def test_what_was_told_is_read_once_for_all_operations() -> None:
    told = "So it was, and so it stayed. " * 200

    def work(count: int) -> int:
        update = ProposedUpdate(ops=[LIT] * count, because=[f"wibble {number}" for number in range(count)])
        heard, bounds, moving = Heard(line="I wait.", beats=[told]), Bounds(), moving_places(GRAPH)
        calls = calls_of(
            lambda: gate(update, heard=heard, read=None, node=INN, world=WORLD, bounds=bounds, moving=moving)
        )
        return calls["casefold"]

    # Each reason is held against the player's line, and against what was told.
    assert work(40) - work(20) == 2 * 20


def test_an_operation_brings_its_reason_along_and_the_schema_asks_for_it() -> None:
    update, problems = read_state_update('{"ops": [{"type": "SetState", "key": "a", "value": 1, "because": "I do"}]}')
    assert update is not None and (update.because, problems) == (["I do"], [])
    schema = output_schema("keeper")
    assert schema is not None and '"because"' in str(schema).replace("'", '"')


def test_the_closed_question_names_the_ways_and_its_answer_is_one_letter() -> None:
    asked = closed_question(INN, {"tower": "The tower", "cellar": "The cellar"}, "I give him my hand.")
    assert "A: lamp tonight is lit (leads to: The tower)" in asked[-1].content
    assert asked[-1].content.endswith("Player: I give him my hand.")
    assert [read_letter(text, 2) for text in ("A", "b.", "Answer: B", "Z", "C", "", "A storm is near")] == [
        0,
        1,
        1,
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", ""),
        ("  [ ]\n", ""),
        ("```json\n{}\n```", ""),
        ('{"narration": "The rain goes on."}', "The rain goes on."),
        ('{"beats": [{"type": "x", "text": "A bell rings."}]}', "A bell rings."),
        ('{"ops": [{"key": "lamp_tonight"', ""),
        ("[He laughs.] Come in.", "[He laughs.] Come in."),
        ("The rain {goes} on.", "The rain {goes} on."),
    ],
)
def test_json_is_never_spoken(text: str, told: str) -> None:
    words = PlainWords()
    assert "".join([*(words.take(letter) for letter in text), words.close()]).strip() == told
    assert words_in(text).strip() == told
