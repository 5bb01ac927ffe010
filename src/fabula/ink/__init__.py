"""The Ink language in pure Python, standard library only.

A name is loaded when it is first asked for: who only plays a compiled story does not wait for the compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_ROOMS = {
    "Analysis": "analysis",
    "Builtins": "compiler",
    "CompileResult": "compiler",
    "Problem": "syntax",
    "Severity": "syntax",
    "analyse": "analysis",
    "compile_ink": "compiler",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'fabula.ink' has no name '{name}'")
    value: object = getattr(import_module(f"fabula.ink.{_ROOMS.get(name, 'runtime')}"), name)
    globals()[name] = value
    return value
