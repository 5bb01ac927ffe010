"""Hostile sources: whatever is written, the compiler answers with problems, in bounded work and without a crash."""

import pytest

from fabula.ink import analyse, compile_ink

MANY = 20_000
HOSTILE = {
    "open braces": "{" * MANY,
    "open braces on lines": "{\n" * MANY,
    "empty braces": "{}" * MANY,
    "alternatives inside alternatives": "{a|" * MANY,
    "parentheses": "{" + "(" * MANY + "1" + ")" * MANY + "}",
    "negations": "{" + "not " * MANY + "true}",
    "strings in strings": '{"{"' * MANY,
    "one long sum": "{" + "1 + " * MANY + "1}",
    "bullets": "* " * MANY + "x\n",
    "dashes": "- " * MANY + "x\n",
    "gathers in a row": "- x\n" * MANY,
    "stairs": "".join("* " * depth + "x\n" for depth in range(1, 300)),
    "stairs of conditions": "".join("{ true:\n" for _ in range(300)),
    "weaves in blocks": "".join("{true:\n" + "".join("* " * d + "a\n" for d in range(1, 40)) for _ in range(40)),
    "choices in unclosed blocks": "{true:\n* a\n" * 2_000,
    "arrows": "->" * MANY,
    "tunnels": "-> a " * MANY,
    "backslashes": "\\" * MANY,
    "comments": "/*" * MANY,
    "hashes": "#" * MANY,
    "quotes": "{" + '"' * MANY,
    "calls in calls": "{" + "f(" * MANY,
    "long paths": "-> " + "a." * MANY + "a\n",
    "equal signs": "=" * MANY,
    "empty knots": "==\n" * MANY,
    "closing braces": "}" * MANY,
    "unknown places": "".join(f"-> place_{number}\n" for number in range(MANY)),
    "huge number": "{" + "9" * MANY + "}",
    "nothing but zeros": "\0" * MANY,
    "lone surrogates": "\ud800 {\udfff}\n",
    "lone carriage returns": "a\r* b\r- c\r",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_source_ends_in_problems_or_a_story(name: str) -> None:
    result = compile_ink(HOSTILE[name])
    assert (result.story_json is None) == bool(result.errors)
    assert len(result.problems) <= 301
    analyse(result)


def test_a_compiled_story_can_always_be_written_as_bytes() -> None:
    text = compile_ink("lone \ud800 half").story_json
    assert text is not None
    assert text.encode()


def test_a_file_that_includes_itself_is_a_problem() -> None:
    result = compile_ink("INCLUDE a.ink", include={"a.ink": "INCLUDE b.ink", "b.ink": "INCLUDE a.ink"}.get)
    assert [one.message for one in result.errors] == ["Recursive INCLUDE detected: 'a.ink' is already open."]


def test_the_main_file_cannot_be_included_by_its_own_files() -> None:
    result = compile_ink("INCLUDE a.ink", include={"a.ink": "INCLUDE main.ink"}.get, file_name="main.ink")
    assert "already open" in result.errors[0].message


def test_includes_that_double_at_every_step_are_cut_short() -> None:
    files = {f"{step}.ink": f"INCLUDE {step + 1}.ink\nINCLUDE {step + 1}.ink\n" for step in range(30)}
    result = compile_ink("INCLUDE 0.ink", include={**files, "30.ink": "Text.\n"}.get)
    assert any("Too many files" in one.message for one in result.errors)


def test_a_reader_that_fails_is_a_problem() -> None:
    def broken(name: str) -> str | None:
        raise OSError(f"no disk for {name}")

    (error,) = compile_ink("INCLUDE a.ink", include=broken).errors
    assert "no disk for a.ink" in error.message


def test_a_megabyte_of_prose_compiles() -> None:
    line = "It was a dark and stormy night; the rain fell in torrents, except at occasional intervals.\n"
    result = compile_ink(line * 11_000)
    assert result.story_json is not None
    assert len(result.story_json) > 1_000_000
