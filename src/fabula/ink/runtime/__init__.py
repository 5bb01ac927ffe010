"""Plays compiled stories: story, state, evaluation, lists, flows."""

from fabula.ink.runtime.errors import (
    InkBudgetExceeded,
    InkDepthExceeded,
    InkEditedError,
    InkError,
    InkExternalError,
    InkFormatError,
    InkRuntimeError,
    InkStateError,
    InkUsageError,
)
from fabula.ink.runtime.lists import InkList
from fabula.ink.runtime.machine import Suspend
from fabula.ink.runtime.story import Choice, FunctionResult, Notice, Story, Variables
from fabula.ink.runtime.transcript import play_transcript
from fabula.ink.runtime.values import DivertTarget

__all__ = [
    "Choice",
    "DivertTarget",
    "FunctionResult",
    "InkBudgetExceeded",
    "InkDepthExceeded",
    "InkEditedError",
    "InkError",
    "InkExternalError",
    "InkFormatError",
    "InkList",
    "InkRuntimeError",
    "InkStateError",
    "InkUsageError",
    "Notice",
    "Story",
    "Suspend",
    "Variables",
    "play_transcript",
]
