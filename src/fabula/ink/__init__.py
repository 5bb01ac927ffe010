"""The Ink language in pure Python, standard library only."""

from fabula.ink.compiler import Builtins, CompileResult, compile_ink
from fabula.ink.syntax import Problem, Severity

__all__ = ["Builtins", "CompileResult", "Problem", "Severity", "compile_ink"]
