"""A syntax tree to the documented runtime JSON, inkVersion 21."""

from fabula.ink.compiler.compile import Builtins, CompileResult, compile_ink

__all__ = ["Builtins", "CompileResult", "compile_ink"]
