"""The compiled form, piece by piece, as the reference writes it."""

import json
from typing import Any

from fabula.ink import Builtins, compile_ink


def compiled(source: str, **options: Any) -> Any:
    result = compile_ink(source, **options)
    assert result.story_json is not None, [str(one) for one in result.errors]
    return json.loads(result.story_json)


def opening(source: str) -> Any:
    """What stands before the first gather of the story's opening."""
    return compiled(source)["root"][0][:-2]


def test_a_story_of_one_line() -> None:
    assert compiled("Hello.") == {
        "inkVersion": 21,
        "root": [["^Hello.", "\n", ["done", {"#n": "g-0"}], None], "done", None],
        "listDefs": {},
    }


def test_a_whole_float_stays_a_float() -> None:
    text = compile_ink("VAR x = 1.0\n{x + 2.50}").story_json
    assert text is not None
    assert '"ev",1.0,{"VAR=":"x"}' in text
    assert "2.5," in text


def test_a_choice_has_its_text_twice_and_its_end_once() -> None:
    story = compiled("* one[two]three\n")
    offer, gathered = story["root"][0][0], story["root"][0][-1]
    assert offer[:4] == ["ev", {"^->": "0.0.$r1"}, {"temp=": "$r"}, "str"]
    assert offer[-2:] == [{"*": "0.c-0", "flg": 22}, {"s": ["^one", {"->": "$r", "var": True}, None]}]
    assert gathered["c-0"][-4:] == ["^three", "\n", {"->": "0.g-0"}, {"#f": 5}]


def test_choice_flags_say_condition_start_only_fallback_and_once() -> None:
    text = compile_ink("* {true} a[b]\n+ [c]\n* ->\n").story_json
    assert text is not None
    assert [f'"flg":{flags}' in text for flags in (23, 4, 24)] == [True, True, True]


def test_a_constant_is_written_where_it_is_used() -> None:
    assert opening("CONST N = 3\n{N * 2}") == ["ev", 3, 2, "*", "out", "/ev", "\n"]


def test_an_unlabelled_gather_without_choices_stands_in_the_flow() -> None:
    assert compiled("- one\n- two\n")["root"][0] == [
        ["^one", "\n", ["^two", "\n", ["done", {"#n": "g-2"}], {"#n": "g-1"}], {"#n": "g-0"}],
        None,
    ]


def test_visits_are_counted_only_where_the_story_asks() -> None:
    source = "-> a\n== a\n{a}\n-> b\n== b\nHi.\n-> END\n"
    named = compiled(source)["root"][-1]
    assert named["a"][-1] == {"#f": 1}
    assert named["b"][-1] is None
    assert compiled(source, count_all_visits=True)["root"][-1]["b"][-1] == {"#f": 1}


def test_turns_since_counts_turns_and_not_visits() -> None:
    named = compiled("{TURNS_SINCE(-> a)}\n== a\nHi.\n-> END\n")["root"][-1]
    assert named["a"][-1] == {"#f": 2}


def test_a_reference_is_passed_as_a_pointer() -> None:
    source = "VAR x = 1\n~ f(x)\n== function f(ref y)\n~ y = 2\n"
    story = compiled(source)
    assert story["root"][0][:5] == ["ev", {"^var": "x", "ci": -1}, {"f()": "f"}, "pop", "/ev"]
    assert story["root"][-1]["f"][:5] == [{"temp=": "y"}, "ev", 2, "/ev", {"temp=": "y", "re": True}]


def test_an_external_call_says_how_many_arguments() -> None:
    assert opening("EXTERNAL f(a, b)\n~ f(1, 2)")[:5] == ["ev", 1, 2, {"x()": "f", "exArgs": 2}, "pop"]


def test_tunnels_threads_and_onwards() -> None:
    source = "-> t ->\n<- t\n-> t\n== t\n->-> t\n"
    story = compiled(source)
    assert story["root"][0][:4] == [{"->t->": "t"}, "thread", {"->": "t"}, {"->": "t"}]
    assert story["root"][-1]["t"][:4] == ["ev", {"^->": "t"}, "/ev", "->->"]


def test_lists_are_defined_and_begin_with_their_first_items() -> None:
    story = compiled("LIST l = a, (b) = 5, c\n{l}")
    assert story["listDefs"] == {"l": {"a": 1, "b": 5, "c": 6}}
    assert story["root"][-1]["global decl"] == ["ev", {"list": {"l.b": 5}}, {"VAR=": "l"}, "/ev", "end", None]


def test_every_sort_of_sequence_chooses_in_its_own_way() -> None:
    ways = {
        "stopping": [1, "MIN"],
        "cycle": [2, "%"],
        "once": [2, "MIN"],
        "shuffle": [2, "seq"],
    }
    for word, way in ways.items():
        sequence = opening("{" + word + ":\n- a\n- b\n}\n")[0]
        assert sequence[:5] == ["ev", "visit", *way, "/ev"]
        assert sequence[-1]["#f"] == 5


def test_a_host_gives_names_without_the_story_declaring_them() -> None:
    host = Builtins(externals={"ask": frozenset((1, 2))}, prelude="== pause(-> next)\n# pause\nWaiting.\n-> next\n")
    source = '~ ask("a")\n~ ask("a", "b")\n-> pause(-> end)\n== end\nEnd.\n-> END\n'
    result = compile_ink(source, builtins=host)
    assert not result.problems
    assert compile_ink("~ ask()", builtins=host).errors[0].message.endswith("Expected 1 or 2 but got 0")


def test_a_story_keeps_its_own_knot_of_a_host_name() -> None:
    host = Builtins(externals={"ask": frozenset((1,))}, prelude="== pause\nHost.\n-> END\n")
    result = compile_ink("-> pause\n== pause\nMine.\n{ask()}\n-> END\n== function ask\n~ return 1\n", builtins=host)
    assert [one.line for one in result.warnings] == [2, 6]
    assert result.story_json is not None
    assert "Mine." in result.story_json
    assert "Host." not in result.story_json


def test_a_todo_with_nothing_behind_it_is_not_told() -> None:
    assert opening("Hello.\nTODO\nTODO:\nWorld.\n") == ["^Hello.", "\n", "^World.", "\n"]


def test_a_variable_in_a_knot_may_hold_a_stitch_of_that_knot() -> None:
    story = compiled("-> k\n=== k ===\nVAR x = -> s\n-> x\n= s\nIn s.\n-> END\n")
    assert story["root"][2]["global decl"][:3] == ["ev", {"^->": "k.s"}, {"VAR=": "x"}]


def test_an_empty_else_is_none() -> None:
    assert opening("VAR a = true\n{a:x|}\n") == opening("VAR a = true\n{a:x}\n")


def test_a_tag_in_an_alternative_is_closed_by_the_next_tag_or_after_the_braces() -> None:
    sequence, *after = opening("{one #first|two #second}\n")
    assert sequence[-1]["s0"][:4] == ["pop", "^one ", "#", "^first"]
    assert sequence[-1]["s1"][:5] == ["pop", "^two ", "/#", "#", "^second"]
    assert after == ["/#", "\n"]
