"""What authors are told about AI knots: mistakes in their own words, and warnings of what would play badly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabula.cli.ink import app
from fabula.knots.published import publish

GUARD = "== guard\nNobody passes.\n-> DONE\n"
GATE = "== gate\nThe gate opens.\n-> END\n"
REST = GUARD + GATE


def told(folder: Path, command: str, source: str, **files: str) -> list[str]:
    """What a command says of a story on the error stream, line by line."""
    for name, text in {"inn": source, **files}.items():
        (folder / f"{name}.ink").write_text(text, "utf-8")
    done = CliRunner().invoke(app, [command, str(folder / "inn.ink")])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.stderr.splitlines()


def the_one(lines: list[str], start: str) -> str:
    """The sentence after a severity and a line; there has to be one like it, and no other of that place."""
    found = [line.removeprefix(start) for line in lines if line.startswith(start)]
    assert len(found) == 1, lines
    return found[0]


# Plain Ink


@pytest.mark.parametrize("command", ["play", "compile"])
def test_plain_ink_says_where_a_story_with_ai_knots_is_played(tmp_path: Path, command: str) -> None:
    source = '~ temp name = input("Your name?")\n~ SEED_AI(3)\n{generate("an omen")}\n-> agent(-> guard, -> gate)\n'
    lines = told(tmp_path, command, source + REST)
    assert "ERROR: 'inn.ink' line 4: Divert target not found: '-> agent'" in lines
    assert lines[-1] == (
        "This story uses AI knots (agent, generate, input, SEED_AI): "
        f"play it with `fabula play --ink {tmp_path / 'inn.ink'}`."
    )


PLAIN = {
    "another name is missing": "-> nowhere\n",
    "its own knot has a mistake": "-> agent(-> guard)\n== agent(-> who)\n-> nowhere\n",
    "the variable of that name holds no place": "-> k(-> k)\n== k(-> agent)\n-> agent\n* -> nowhere\n",
}


@pytest.mark.parametrize("reason", PLAIN)
def test_plain_ink_speaks_of_no_ai_knots_when(tmp_path: Path, reason: str) -> None:
    assert not [line for line in told(tmp_path, "play", PLAIN[reason] + REST) if "AI knots" in line]


# Mistakes


def test_an_agent_called_as_a_function_is_told_how_it_is_written(tmp_path: Path) -> None:
    lines = told(tmp_path, "check", "~ agent(-> guard, -> gate)\n~ continue()\n-> END\n" + REST)
    assert lines == [
        "ERROR: 'inn.ink' line 1: agent is a knot and no function: write -> agent(-> character, -> target)",
        "ERROR: 'inn.ink' line 2: continue is a knot and no function: write -> continue(-> target)",
    ]


def test_a_storys_own_agent_called_as_a_function_gets_the_advice_of_plain_ink(tmp_path: Path) -> None:
    lines = told(tmp_path, "check", "~ agent()\n-> END\n== agent\nHello.\n-> END\n")
    assert "'== function agent =='" in the_one(lines, "ERROR: 'inn.ink' line 1: ")


@pytest.mark.parametrize("goal", ["-> agent(-> guard, -> END)", "-> continue(-> DONE)"])
def test_a_goal_that_is_an_ending_is_told_to_be_a_knot(tmp_path: Path, goal: str) -> None:
    problem = the_one(told(tmp_path, "check", goal + "\n" + REST), "ERROR: 'inn.ink' line 1: ")
    assert problem.startswith("Can't use -> DONE or -> END as variable divert targets. The goal ")
    assert problem.endswith("must be a knot: name one that ends the story, such as == the_end with -> END in it")


def test_a_character_that_is_an_ending_is_told_to_be_a_knot(tmp_path: Path) -> None:
    problem = the_one(told(tmp_path, "check", "-> agent(-> END, -> gate)\n" + REST), "ERROR: 'inn.ink' line 1: ")
    assert problem.endswith("The character of agent must be a knot: name one with what the character says")


UNQUOTED = {
    "~ generate(an omen in the snow)": 'Put the prompt in quotes: generate("an omen in the snow")',
    "{generate(omen)} {1}": 'Put the prompt in quotes: generate("omen")',
    "~ generate(“an omen”)": 'Put the prompt in quotes: generate("an omen")',
    "~ temp name = input(What is it?)": 'Put the question in quotes: input("What is it?")',
    '~ input(your name, "x")': 'Put the question in quotes: input("...")',
}


@pytest.mark.parametrize("written", UNQUOTED)
def test_a_prompt_without_quotes_is_told_to_have_them(tmp_path: Path, written: str) -> None:
    lines = told(tmp_path, "check", f"VAR x = 1\n{written}\n-> END\n")
    assert [line for line in lines if line.endswith(f". {UNQUOTED[written]}")] and "quotes" not in " ".join(lines[2:])


def test_other_mistakes_near_a_prompt_are_told_as_they_are(tmp_path: Path) -> None:
    lines = told(tmp_path, "check", '~ y = generate("a door")\n{generate(f())} {z}\n-> END\n')
    assert len(lines) == 3 and not [line for line in lines if "quotes" in line]


@pytest.mark.parametrize(
    "name", ["VAR character = 1\nVAR target = 2\n", "== target\nHi.\n-> END\n== character\n-> END\n"]
)
def test_the_names_in_our_own_knots_are_free_for_authors(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, "check", "-> agent(-> guard, -> gate)\n" + name + REST) == []


def test_a_player_of_a_file_can_be_told_every_error_with_its_file() -> None:
    published = publish("INCLUDE more.ink\n-> nowhere_at_all\n", {"more.ink": "\n-> nowhere_else\n"})
    assert published.errors_in("inn.ink") == [
        "ERROR: 'inn.ink' line 2: Divert target not found: '-> nowhere_at_all'",
        "ERROR: 'more.ink' line 2: Divert target not found: '-> nowhere_else'",
    ]


# Warnings

CAUTIONS: dict[str, tuple[str, int, str]] = {
    "an answer is kept in a variable that is not there": (
        'Hi.\n~ input("Your name", "who")\n-> END\n',
        2,
        "There is no variable 'who' to keep the answer in, so the story fails here: declare it with VAR who = \"\"",
    ),
    "an answer is kept in a constant": (
        'CONST who = ""\nHi.\n~ input("Your name", "who")\n-> END\n',
        3,
        "There is no variable 'who' to keep the answer in, so the story fails here: declare it with VAR who = \"\"",
    ),
    "the goal is the character": (
        "Hi.\n-> agent(-> guard, -> guard)\n" + REST,
        2,
        "'guard' is both the character and the goal of this agent, so the talk leads to the character's own lines: "
        "name the knot where the story goes on as the goal",
    ),
    "the character's knot is empty": (
        "-> agent(-> cook, -> gate)\n" + REST + "== cook\n-> DONE\n",
        8,
        "The character 'cook' has no line to speak from, in no run of its knot: write there what the character says",
    ),
    "the character's knot has choices and says nothing": (
        "-> agent(-> cook, -> gate)\n" + REST + "== cook\n* [Soup?]\n* [Bread?]\n- -> DONE\n",
        8,
        "The character 'cook' has no line to speak from, in no run of its knot: write there what the character says",
    ),
    "only a model would write at the goal": (
        "-> continue(-> yard)\n" + REST + '== yard\n~ generate("a yard")\n-> END\n',
        8,
        "Nothing is written at 'yard' before the story stops or asks the player, so nobody can steer to it as a goal: "
        "begin it with a line of text",
    ),
    "nothing is told at the goal": (
        "-> continue(-> yard)\n" + REST + "== yard\n* [Go in] You go in. -> END\n",
        8,
        "Nothing is written at 'yard' before the story stops or asks the player, so nobody can steer to it as a goal: "
        "begin it with a line of text",
    ),
    "the player is asked at the goal first": (
        "-> continue(-> yard)\n" + REST + '== yard\n~ temp name = input("Who?")\nEmpty.\n-> END\n',
        8,
        "Nothing is written at 'yard' before the story stops or asks the player, so nobody can steer to it as a goal: "
        "begin it with a line of text",
    ),
    "a character's knot holds a talk": (
        "-> agent(-> cook, -> gate)\n" + REST + "== cook\nSoup.\n-> agent(-> guard, -> gate)\n",
        10,
        "'cook' is a character, and of its knot only what stands before this agent is known to it: "
        "put this talk into a knot of its own",
    ),
    "a talk is a thread": (
        "<- agent(-> guard, -> gate)\n* [Wait] -> END\n" + REST,
        1,
        "A talk cannot go on beside choices: lines and choices after this thread wait until it has led to its goal. "
        "Write -> agent(...) behind a choice to offer the talk among others",
    ),
    "a tag is nearly context": (
        "The guard lies. # contxt\n-> END\n",
        1,
        "The tag '# contxt' is not '# context', so this line is shown to the reader: "
        "write '# context' if only the characters may know it",
    ),
    "a tag says more than context": (
        "Hi.\nThe guard lies. # mood # Context: secret\n-> END\n",
        2,
        "The tag '# Context: secret' is not '# context', so this line is shown to the reader: "
        "write '# context' if only the characters may know it",
    ),
    "a prompt is empty": (
        'Hi.\n~ generate(" ")\n-> END\n',
        2,
        "The prompt of this generate is empty, so anything may be written here: say in the quotes what to write",
    ),
}


@pytest.mark.parametrize("reason", CAUTIONS)
def test_an_author_is_warned_when(tmp_path: Path, reason: str) -> None:
    source, line, sentence = CAUTIONS[reason]
    assert told(tmp_path, "check", source) == [f"WARNING: 'inn.ink' line {line}: {sentence}"]


FINE = {
    "the character only answers choices": "-> agent(-> cook, -> gate)\n== cook\n* [Soup?] Good soup.\n- -> DONE\n",
    "the character's line depends on chance": "-> agent(-> cook, -> gate)\n== cook\n{~Soup.|Bread.}\n-> DONE\n",
    "the character only has lines of context": "-> agent(-> cook, -> gate)\n== cook\nA liar. # context\n-> DONE\n",
    "the goal leads on to where something is told": "-> continue(-> yard)\n== yard\n-> gate\n",
    "the goal tells something later": "VAR met = false\n-> continue(-> yard)\n== yard\n{met: Again.}\n-> END\n",
    "the goal has a line after a text": '-> continue(-> yard)\n== yard\n~ generate("a")\nEmpty.\n-> END\n',
    "the goal is a label": "Hi.\n-> agent(-> guard, -> on)\n- (on) On we go.\n-> END\n",
    "the talk names stitches beside it": "-> inn\n== inn\n-> agent(-> cook, -> hall)\n= cook\nSoup.\n-> DONE\n"
    "= hall\nThe hall.\n-> END\n",
    "a thread leads to a talk": "<- t\n* [Wait] -> END\n== t\n-> agent(-> guard, -> gate)\n",
    "a tag is another word": "Hi. # content # contest # clear\n-> END\n",
    "the characters are variables": "VAR who = -> guard\n-> agent(who, -> gate)\n",
    "the agent is a variable of the story": "VAR agent = -> gate\n<- agent\n-> END\n",
    "the agent is the story's own": "-> agent(-> cook, -> cook)\n== agent(-> a, -> b)\n-> a\n== cook\n-> DONE\n",
}


@pytest.mark.parametrize("reason", FINE)
def test_an_author_is_not_warned_when(tmp_path: Path, reason: str) -> None:
    lines = told(tmp_path, "check", FINE[reason] + REST)
    assert [line for line in lines if "is built in here" not in line] == []


def test_a_warning_names_the_included_file(tmp_path: Path) -> None:
    source = "INCLUDE people.ink\n-> agent(-> cook, -> gate)\n" + REST
    lines = told(tmp_path, "check", source, people="== cook\n-> DONE\n")
    assert the_one(lines, "WARNING: 'people.ink' line 1: ").startswith("The character 'cook' has no line")


def test_of_many_silent_knots_only_some_are_told_so_that_no_check_takes_long(tmp_path: Path) -> None:
    talks = "".join(f"* -> agent(-> c{number}, -> g{number})\n" for number in range(200))
    knots = "".join(f"== c{number}\n-> c{number}\n== g{number}\nOn. # context\n-> g{number}\n" for number in range(200))
    lines = told(tmp_path, "check", talks + knots)
    assert len([line for line in lines if "has no line to speak from" in line]) == 20
    assert len([line for line in lines if "Nothing is written at" in line]) == 20


# What else a check says


def summary(folder: Path, source: str, **files: str) -> list[str]:
    told(folder, "check", source, **files)
    return CliRunner().invoke(app, ["check", str(folder / "inn.ink")]).stdout.splitlines()


def test_a_story_without_problems_is_told_so(tmp_path: Path) -> None:
    assert summary(tmp_path, "Hi.\n* [Go] -> k\n== k\n-> END\n")[:2] == [
        "No problems.",
        "2 words, 1 knot or stitch, 1 choice",
    ]
    assert "No problems." not in summary(tmp_path, "Hi. # contxt\n-> END\n")


def test_where_a_character_stops_is_no_ending_of_the_story(tmp_path: Path) -> None:
    more = "== cook\nSoup.\n-> cellar\n== cellar\nDark.\n-> DONE\n== attic\nDust.\n-> END\n"
    source = "INCLUDE more.ink\n* -> agent(-> guard, -> gate)\n* -> agent(-> cook, -> gate)\n* -> gate\n" + REST
    lines = summary(tmp_path, source, more=more)
    assert lines[lines.index("Endings:") :] == ["Endings:", "  END on line 10", "  END on line 9 of 'more.ink'"]
    assert "  line 8 of 'more.ink': Dust." in lines


def test_a_character_that_the_story_also_enters_ends_it_as_any_other_knot(tmp_path: Path) -> None:
    lines = summary(tmp_path, "* -> agent(-> guard, -> gate)\n* -> guard\n" + REST)
    assert lines[lines.index("Endings:") :] == ["Endings:", "  DONE on line 5", "  END on line 8"]


def test_the_same_endings_stand_in_the_json(tmp_path: Path) -> None:
    (tmp_path / "inn.ink").write_text("-> agent(-> guard, -> gate)\n" + REST, "utf-8")
    report = json.loads(CliRunner().invoke(app, ["check", "--json", str(tmp_path / "inn.ink")]).stdout)
    assert [(ending["flow"], ending["word"]) for ending in report["endings"]] == [("gate", "END")]


# What only a game could answer

HORN = "EXTERNAL horn(loud, times)\nEXTERNAL unused()\nIt is dark.\n~ horn(true, 2)\n~ horn(true, 3)\n-> END\n"


def test_a_function_that_only_a_game_could_answer_is_an_error_with_what_to_write(tmp_path: Path) -> None:
    lines = told(tmp_path, "check", HORN)
    assert the_one(lines, "ERROR: 'inn.ink' line 4: ") == (
        "'horn' is EXTERNAL, and no game stands behind a story that is played here. "
        "Write what happens instead: === function horn(loud, times)"
    )
    assert len(lines) == 1
    assert told(tmp_path, "check", HORN + "=== function horn(loud, times)\n~ return loud\n") == []


def test_a_story_with_such_a_function_is_not_published_and_an_older_one_still_opens() -> None:
    assert publish(HORN, {}).prototype is None
    assert publish(HORN, {}, forgiving=True).prototype is not None


def test_names_of_ai_knots_may_be_declared_for_other_tools() -> None:
    source = 'EXTERNAL input(question)\n~ temp name = input("Your name?")\n{name}\n-> END\n'
    assert publish(source, {}).problems == ()
