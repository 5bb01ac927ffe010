"""Ink text to a syntax tree and problems; it never raises."""

from fabula.ink.syntax.includes import IncludeReader, parse_story
from fabula.ink.syntax.problems import Problem, Severity
from fabula.ink.syntax.sources import Place, ProblemLog, Sources
from fabula.ink.syntax.tree import StoryTree

__all__ = [
    "IncludeReader",
    "Place",
    "Problem",
    "ProblemLog",
    "Severity",
    "Sources",
    "StoryTree",
    "parse_story",
]
