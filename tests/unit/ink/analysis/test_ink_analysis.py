"""What is known of a story before it is played."""

from tests.shared import INTERCEPT, needs_intercept

from fabula.ink import Analysis, analyse, compile_ink

HOUSE = """
VAR lamp = false
VAR steps = 0
VAR mood = "calm"
VAR next = -> garden
VAR unused = 1
The door is open.
* [Go in] You go in. -> hall
* [Stay] -> END
== hall
~ steps++
~ lamp = true
{mood}
{lamp: The lamp is lit.}
-> next
== garden
-> shed
= shed
A shed. {greet("you")}
-> DONE
= pond
A pond nobody finds.
-> END
== function greet(who)
~ return "Hello, {who}!"
== attic
Dust. -> END
This line comes too late.
"""


def analysed(source: str) -> Analysis:
    return analyse(compile_ink(source, file_name="house.ink"))


def test_flows_are_listed_in_the_authors_order() -> None:
    names = [flow.name for flow in analysed(HOUSE).flows]
    assert names == ["", "hall", "garden", "garden.shed", "garden.pond", "greet", "attic"]


def test_reachable_follows_diverts_calls_and_stored_places() -> None:
    found = analysed(HOUSE)
    assert found.reachable_from() == {"", "hall", "garden", "garden.shed", "greet"}
    assert found.reachable_from("garden.pond") == {"garden.pond"}
    assert found.reachable_from("nowhere") == frozenset()
    assert found.unreachable == ("garden.pond", "attic")


def test_a_knot_of_stitches_leads_to_its_first() -> None:
    found = analysed("-> k\n== k\n= one\nHi.\n-> END\n= two\nHo.\n-> END\n")
    assert found.reachable_from() == {"", "k", "k.one"}


def test_a_divert_to_a_label_reaches_the_flow_around_it() -> None:
    found = analysed("-> k.inner\n== k\n-> DONE\n= s\n- (inner) Hi.\n-> END\n")
    assert found.reachable_from() == {"", "k.s"}
    assert found.unreachable == ()


def test_text_that_nobody_sees_is_found() -> None:
    found = analysed(HOUSE)
    assert [(span.line, span.text) for span in found.never_seen if span.flow == "garden.pond"] == [
        (22, "A pond nobody finds.")
    ]
    late = analysed("-> k\n== k\nSeen.\n-> END\nNot seen.\n* [A] -> END\n  Nor this.\n- Seen again.\n-> END\n")
    assert [(span.line, span.text) for span in late.never_seen] == [(5, "Not seen."), (7, "Nor this.")]


def test_variables_are_counted_by_reading_and_setting() -> None:
    found = analysed(HOUSE)
    assert found.read_but_never_set == ("mood", "next")
    assert found.set_but_never_read == ("steps", "unused")


def test_a_variable_passed_by_reference_counts_as_set() -> None:
    found = analysed("VAR x = 1\n~ f(x)\n{x}\n== function f(ref y)\n~ y = 2\n")
    assert [(one.name, one.reads, one.writes) for one in found.variables] == [("x", 2, 1)]


def test_a_local_name_is_not_a_global_variable() -> None:
    found = analysed("VAR x = 1\n{f(2)}\n== function f(x2)\n~ temp y = x2\n~ return y\n")
    assert found.set_but_never_read == ("x",)


def test_endings_have_their_place() -> None:
    endings = [(end.flow, end.word, end.line) for end in analysed(HOUSE).endings]
    assert endings == [("", "END", 9), ("garden.shed", "DONE", 20), ("garden.pond", "END", 23), ("attic", "END", 27)]


def test_spans_hold_what_a_reader_may_see_with_its_line() -> None:
    source = '-> k\n== k\nText {true: one|two}. # tag\n* start [only] inner\n~ temp s = "said"\n{s}\n-> END\n'
    flow = analysed(source).flow("k")
    assert flow is not None
    assert [(span.kind.value, span.text, span.line) for span in flow.spans] == [
        ("text", "Text", 3),
        ("text", "one", 3),
        ("text", "two", 3),
        ("text", ".", 3),
        ("choice", "start", 4),
        ("choice", "only", 4),
        ("text", "inner", 4),
        ("string", "said", 5),
    ]


def test_words_and_choices_are_counted() -> None:
    found = analysed("One two three.\n* [four] five\n* six\n- seven\n")
    assert (found.words, found.choices) == (7, 2)


def test_a_faulty_story_is_analysed_as_far_as_it_is_understood() -> None:
    found = analysed("-> nowhere\n{\n== k\nHi.\n-> END\n")
    assert found.unreachable == ("k",)


@needs_intercept
def test_a_real_story_is_known() -> None:
    found = analysed(INTERCEPT.read_text("utf-8"))
    assert found.words > 10_000
    assert found.choices > 300
    assert found.unreachable == ()
    assert len(found.endings) > 3
