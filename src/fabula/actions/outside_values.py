"""Values from outside that came in a file, or are made of what a request names: read with the bounds of requests."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from fabula.ports.errors import InvalidRequest
from fabula.story.field_bounds import bounded
from fabula.story.misfits import misfits, sentence_of
from fabula.story.values import Value

V = TypeVar("V", bound=Value)


def outside_value(model: type[V], document: object, what: str) -> V:
    """The typed value of a document; raises InvalidRequest that names it and its first fault."""
    try:
        value: V = bounded(model).validate_python(document)
    except ValidationError as error:
        raise InvalidRequest(f"{what} cannot be used: {sentence_of(misfits(error)[0])}.") from None
    return value
