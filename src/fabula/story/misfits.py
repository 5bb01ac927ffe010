"""Misfits: where a value from outside does not fit its shape, told without looking at every place.

Pydantic makes an object of every error, all of them at one stroke while nobody else runs: a megabyte of unknown fields
would hold everybody up for half a second.
"""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

MOST_LISTED: Final = 1_000


def misfits(error: ValidationError) -> list[ErrorDetails]:
    """The errors, at least one; of very many only how many they are."""
    count = error.error_count()
    if count > MOST_LISTED:
        return [ErrorDetails(type="misfits", loc=(), msg=f"It does not fit in {count} places", input=None)]
    return error.errors(include_url=False, include_context=False, include_input=False)


def place_of(misfit: ErrorDetails) -> str:
    """Where it is, as its fields are named; empty for the whole."""
    return ".".join(str(part)[:100] for part in misfit["loc"])


def sentence_of(misfit: ErrorDetails) -> str:
    """What is wrong, and where."""
    return f"{place_of(misfit)}: {misfit['msg']}".removeprefix(": ")
