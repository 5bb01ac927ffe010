"""What an author is told: the right line and column, what was expected, and a near name."""

import pytest

from fabula.ink import Problem, Severity, compile_ink

ERRORS = [
    ("-> kitchn\n== kitchen\nHi.\n-> END", 1, "Did you mean 'kitchen'?"),
    ("VAR score = 1\n{scor}", 2, "Did you mean 'score'?"),
    ("VAR score = 1\n~ scoer = 2", 2, "Variable could not be found to assign to: 'scoer'"),
    ("CONST LIMIT = 1\n~ LIMIT = 2", 2, "Can't re-assign to a constant"),
    ("{doubel(2)}\n== function double(x)\n~ return x * 2", 1, "Did you mean 'double'?"),
    ("-> house.cellr\n== house\n= cellar\nHi.\n-> END", 1, "Did you mean 'house.cellar'?"),
    ("{1 + }", 1, "Expected right side of '+' expression but saw '}'"),
    ("{f(1, 2}\n== function f(a, b)\n~ return a", 1, "Expected closing ')' for function call"),
    ("{x", 1, "closing brace '}'"),
    ("VAR x = 1\n{x:\n  text\n== knot\nHi.\n-> END", 4, "closing brace '}' for the logic that opens on line 2"),
    ("VAR x", 1, "Expected the '='"),
    ("VAR x = 1 + 2", 1, "initial value for a variable must be"),
    ("VAR x = 1\nVAR x = 2", 2, "already declared"),
    ("VAR x = 1\nVAR y = x", 2, "global variable assignments cannot refer to other variables"),
    ("CONST x = 1\nCONST x = 2", 2, "has been redefined with a different value"),
    ('VAR x = "a{1}"', 1, "Constant strings cannot contain any logic"),
    ("~ temp = 5", 1, "Expected variable name"),
    ("~ 5 + 5", 1, "can't be that type of expression"),
    ("~ return 5", 1, "should not have return statement outside of a knot"),
    ("-> k\n== k\n~ return 5", 3, "Return statements can only be used in knots"),
    ("-> k\n== k", 2, "Expected at least one line within the knot 'k'"),
    ("{f()}\n== function f\n-> DONE", 3, "Functions may not contain diverts"),
    ("{f()}\n== function f\n* choice", 3, "Functions may not contain choices"),
    ("-> f\n== function f\n~ return 1", 1, "It can only be called as a function"),
    ("{k()}\n== k\nHi.\n-> END", 1, "hasn't been marked as a function"),
    ("-> k(1)\n== k(a, b)\nHi.\n-> END", 1, "requires 2 arguments, but got 1"),
    ("-> k\n== k(a)\nHi.\n-> END", 1, "but there weren't any passed to it"),
    ("{f(1)}\n== function f(ref x)\n~ x = 1", 1, "Expected variable name to pass by reference"),
    ("-> k(j)\n== k(-> x)\n-> x\n== j\nHi.\n-> END", 1, "You probably meant '-> j'"),
    ("-> k(1)\n== k(-> x)\n-> x", 1, "expects a divert target"),
    ("-> k(-> j)\n== k(x)\n-> x\n== j\nHi.\n-> END", 2, "it should be marked as: -> x"),
    ("->", 1, "Empty diverts (->) are only valid on choices"),
    ("->->-> b", 1, "Unexpected number of arrows"),
    ("* [open", 1, "closing ']'"),
    ("* (label text", 1, "closing ')' for bracketed name"),
    ("* {1 choice", 1, "closing '}' for choice condition"),
    ("- (a) Hi.\n- (a) Hi.", 2, "same label name 'a'"),
    ("== a\nHi.\n-> END\n== a\nHi.\n-> END", 4, "already contains a flow named 'a'"),
    ("VAR a = 1\n== a\nHi.\n-> END", 1, "name has already been used for a knot"),
    ("== true\nHi.\n-> END", 1, "reserved keyword"),
    ("VAR MIN = 1", 1, "built in function"),
    ("LIST l = a, a", 1, "duplicate items"),
    ("LIST a = x\nLIST b = x\n{x}", 3, "Ambiguous item name 'x'"),
    ("LIST a = x\n{(x, z)}", 2, "Could not find list definition that contains item 'z'"),
    ("{RANDOM(1)}", 1, "RANDOM should take 2 parameters"),
    ("{TURNS_SINCE(3)}", 1, "should take one argument: a divert target"),
    ("{MIN(1)}", 1, "MIN should take 2 parameters"),
    ("EXTERNAL f(a)\n{f()}", 2, "Expected 1 but got 0"),
    ("EXTERNAL f", 1, "declaration of arguments for EXTERNAL"),
    ("INCLUDE nowhere.ink", 1, "Failed to load: 'nowhere.ink'"),
    ("{!&~$a|b}", 1, "Sequence type combination not supported"),
    ("{true: a|b|c}", 1, "one or two alternatives"),
    ("VAR x = 1\n{\n- else: a\n- x: b\n}", 3, "should always be the final one"),
    ("VAR x = 1\n{x:\n- - a\n}", 3, "You can't use a gather"),
    ("{x++}\nVAR x = 1", 1, "Can't use increment/decrement here"),
    ("Text ~ x = 1 {~", 1, "Expected"),
    ("{99999999999}", 1, "out of the range"),
    ('{"a -> b"}', 1, "cannot contain diverts"),
    ('{"a # b"}', 1, "Tags aren't allowed inside of strings"),
    ("VAR x = true\n{x:\n* a\n}\n", 3, "need to explicitly divert afterwards"),
    ("VAR a = true\n{not a ? a}", 2, "You need to add parentheses"),
    ("{-> k + 1}\n== k\nHi.\n-> END", 1, "Can't use a divert target like that"),
    ("VAR x = -> DONE", 1, "Can't use -> DONE or -> END"),
    ("~ temp x = 1\n~ temp x = 2", 2, "already declared"),
]

WARNINGS = [
    ("-> k\n== k\nHi.", 3, "Apparent loose end exists where the flow runs out"),
    ("-> k\n== k\nHi.\n= s\nHo.\n-> END", 3, "if you intend to enter 's' next"),
    ("-> k\n== k\n-> t ->\n== t\n->->", 3, "When final tunnel to 't ->' returns"),
    ("*", 1, "Choice is completely empty"),
    ("* [] text", 1, "Blank choice"),
    ("return 5", 1, "Do you need a '~' before 'return'?"),
    ("VAR x = 1\n{x:\nelse: a\n}", 3, "Did you mean '- else:'?"),
    ("{f}\n== function f\n~ return 1", 1, "Perhaps you intended to write f()"),
    ("Text.\n}", 2, "no logic is open here"),
]


def problems(source: str, severity: Severity) -> list[Problem]:
    return [one for one in compile_ink(source, file_name="story.ink").problems if one.severity is severity]


@pytest.mark.parametrize(("source", "line", "words"), ERRORS)
def test_an_error_names_its_line_and_the_cause(source: str, line: int, words: str) -> None:
    found = problems(source, Severity.ERROR)
    assert (line, True) in [(one.line, words in one.message) for one in found], [str(one) for one in found]
    assert compile_ink(source).story_json is None


@pytest.mark.parametrize(("source", "line", "words"), WARNINGS)
def test_a_warning_lets_the_story_compile(source: str, line: int, words: str) -> None:
    found = problems(source, Severity.WARNING)
    assert (line, True) in [(one.line, words in one.message) for one in found], [str(one) for one in found]
    assert compile_ink(source).story_json is not None


def test_several_errors_are_found_in_one_compile() -> None:
    found = problems("-> nowhere\n{unknown}\n~ temp x = (1\nLIST\n", Severity.ERROR)
    assert [one.line for one in found] == [1, 2, 3, 4]


def test_a_problem_names_the_column() -> None:
    (error,) = problems("Some text {unknown} here.", Severity.ERROR)
    assert (error.line, error.column) == (1, 12)


def test_columns_count_comments_that_the_parser_never_saw() -> None:
    (error,) = problems("/* one\ntwo */ Text /* x */ {unknown}", Severity.ERROR)
    assert (error.line, error.column) == (2, 22)


def test_a_problem_in_an_included_file_names_that_file() -> None:
    files = {"a.ink": "Fine.\nINCLUDE b.ink\n", "b.ink": "\n\n-> nowhere\n"}
    result = compile_ink("INCLUDE a.ink\n", include=files.get, file_name="main.ink")
    assert [(one.file, one.line) for one in result.errors] == [("b.ink", 3)]


def test_a_problem_reads_as_the_reference_prints_it() -> None:
    (todo,) = compile_ink("TODO: finish this", file_name="story.ink").problems
    assert str(todo) == "TODO: 'story.ink' line 1: finish this"


def test_a_forgotten_brace_does_not_hide_the_knots_after_it() -> None:
    found = problems("-> hall\n{true:\n  text\n== hall\nIn.\n{\n== yard\nHi.\n-> hall\n", Severity.ERROR)
    assert [one.line for one in found] == [4, 7]


def test_a_todo_at_the_end_excuses_a_loose_end() -> None:
    result = compile_ink("-> k\n== k\nHi.\nTODO: more\n")
    assert [one.severity for one in result.problems] == [Severity.TODO]
