"""Plays a story as a transcript of plain lines, in the form of inklecate's play mode.

Text lines, `# tags: a, b`, an empty line and `N: choice` lines, the prompt `?> `, and the numbers that are typed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fabula.ink.runtime.errors import InkError
from fabula.ink.runtime.story import Choice, Story

Write = Callable[[str], None]


def play_transcript(story: Story, input_lines: Iterator[str], write: Write) -> None:
    """Plays until the story ends, the input ends, or an error stops it.

    >>> story = Story('{"inkVersion": 21, "root": [["^Hello.", "\\\\n", "done", null], "done", null]}')
    >>> play_transcript(story, iter([]), lambda text: print(text, end=""))
    Hello.
    """
    try:
        _play(story, input_lines, write)
    except InkError as error:
        write(f"RUNTIME ERROR: {error}\n")


def _play(story: Story, input_lines: Iterator[str], write: Write) -> None:
    while True:
        while story.can_continue:
            _write_line(story, write)
        choices = story.current_choices
        if not choices:
            return
        write("\n" + "".join(_choice_line(choice) for choice in choices))
        number = _ask(len(choices), input_lines, write)
        if number is None:
            return
        story.choose(number)


def _write_line(story: Story, write: Write) -> None:
    write(story.continue_())
    tags = story.current_tags
    if tags:
        write(f"# tags: {', '.join(tags)}\n")
    for notice in story.notices:
        if notice.severity == "error":
            write(f"RUNTIME ERROR: {notice.message}\n")


def _choice_line(choice: Choice) -> str:
    return f"{choice.index + 1}: {choice.text}\n"


def _ask(count: int, input_lines: Iterator[str], write: Write) -> int | None:
    """Asks until a number in range is typed; None when the input ends."""
    while True:
        write("?> ")
        line = next(input_lines, None)
        if line is None:
            return None
        word = line.strip()
        if word.isascii() and word.isdigit() and len(word) < 10 and 1 <= int(word) <= count:
            return int(word) - 1
        write("Choice out of range\n" if word.lstrip("-").isdigit() else "Please type the number of a choice\n")
