"""The Ink language in pure Python, standard library only."""

from fabula.ink.analysis import Analysis, analyse
from fabula.ink.compiler import Builtins, CompileResult, compile_ink
from fabula.ink.runtime import (
    Choice,
    DivertTarget,
    InkBudgetExceeded,
    InkDepthExceeded,
    InkEditedError,
    InkError,
    InkExternalError,
    InkFormatError,
    InkList,
    InkRuntimeError,
    InkStateError,
    InkUsageError,
    Story,
    Suspend,
    play_transcript,
)
from fabula.ink.syntax import Problem, Severity

__all__ = [
    "Analysis",
    "Builtins",
    "Choice",
    "CompileResult",
    "DivertTarget",
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
    "Problem",
    "Severity",
    "Story",
    "Suspend",
    "analyse",
    "compile_ink",
    "play_transcript",
]
