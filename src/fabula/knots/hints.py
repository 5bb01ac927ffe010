"""Hints: what the compiler finds wrong with AI knots, said in the words of who writes them.

The compiler knows Ink and nothing else. Where it met an error at an AI knot, its sentence is replaced if it would lead
the author astray, and else followed by what to write.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from fabula.ink import CompileResult, Problem, Severity
from fabula.ink.syntax.sources import Place
from fabula.ink.syntax.tree import Call
from fabula.knots.names import TALKS
from fabula.knots.scan import Named, Scan, TalkCall, scan_story

_ENDINGS = ("END", "DONE")
_UNQUOTED = ("Unresolved variable", "Expected closing")
_WORDS = re.compile(r"\b\w++\s*+\(([^)\n]*)")
_LONGEST_EXAMPLE = 60


def hints_of(scan: Scan) -> Iterator[Problem]:
    """The compiler's problems, each once."""
    instead, beside = _instead(scan), _beside(scan)
    told: set[Place] = set()
    for problem in scan.result.problems:
        place = _place(problem)
        if problem.severity is not Severity.ERROR:
            yield problem
        elif place not in instead:
            sentence = beside.get(place)
            yield replace(problem, message=_followed(problem.message, sentence)) if sentence else problem
        elif place not in told:
            told.add(place)
            yield replace(problem, message=instead[place])


def missing_words(result: CompileResult) -> tuple[str, ...]:
    """The words of AI knots that a story uses and that were not known when it was compiled as plain Ink."""
    scan = scan_story(result)
    wrong = {_place(problem) for problem in result.errors}
    used = [(talk.word, talk.at) for talk in scan.talks] + [(call.name, call.at) for call in scan.calls]
    found = {word for word, at in used if result.sources.place(at) in wrong}
    return tuple(sorted(found, key=str.casefold))


def _instead(scan: Scan) -> dict[Place, str]:
    """What is said at a place instead of what the compiler says."""
    return {
        scan.result.sources.place(call.at): f"{call.name} is a knot and no function: write {TALKS[call.name]}"
        for call in scan.calls
        if call.name in TALKS
    }


def _beside(scan: Scan) -> dict[Place, str]:
    """What is said after the compiler's sentence about a place."""
    found = {
        scan.result.sources.place(named.at): _a_knot_is_needed(talk, named)
        for talk in scan.talks
        for named in talk.named
        if named.name in _ENDINGS
    }
    return found | dict(_where_quotes_are_missing(scan))


def _a_knot_is_needed(talk: TalkCall, named: Named) -> str:
    if named is talk.character:
        return f"The character of {talk.word} must be a knot: name one with what the character says"
    return f"The goal of {talk.word} must be a knot: name one that ends the story, such as == the_end with -> END in it"


def _where_quotes_are_missing(scan: Scan) -> Iterator[tuple[Place, str]]:
    """Where the compiler first stumbled over bare words in the parentheses of a call."""
    stumbles = _stumbles(scan.result)
    for call in scan.calls:
        start = scan.result.sources.place(call.at)
        near = stumbles.get((start.file, start.line), [])
        if near and call.name in ("generate", "input"):
            words = _words_of(scan, call)
            end = start.column + len(f"{call.name}({words})")
            inside = [place for place in near if start.column < place.column <= end]
            if inside and not words.lstrip().startswith('"'):
                yield inside[0], _quotes_are_needed(call, words.strip(" '‘’“”"))


def _stumbles(result: CompileResult) -> dict[tuple[str | None, int], list[Place]]:
    """The places of errors such as bare words make, by file and line."""
    found: dict[tuple[str | None, int], list[Place]] = defaultdict(list)
    for problem in result.errors:
        if problem.message.startswith(_UNQUOTED):
            found[problem.file, problem.line].append(_place(problem))
    return found


def _quotes_are_needed(call: Call, words: str) -> str:
    example = "..." if '"' in words or len(words) > _LONGEST_EXAMPLE else words
    what = "prompt" if call.name == "generate" else "question"
    return f'Put the {what} in quotes: {call.name}("{example}")'


def _words_of(scan: Scan, call: Call) -> str:
    """What stands in the parentheses of a call, as far as one line goes."""
    file = next(file for file in reversed(scan.result.sources.files) if file.base <= call.at)
    found = _WORDS.match(file.text, call.at - file.base)
    return found[1] if found else ""


def _followed(message: str, sentence: str) -> str:
    return f"{message}{' ' if message.endswith(('.', '?', '!')) else '. '}{sentence}"


def _place(problem: Problem) -> Place:
    return Place(file=problem.file, line=problem.line, column=problem.column)
