"""What every value of a story is made of: frozen, closed to unknown fields, strict in its types."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    ConfigDict,
    JsonValue,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
)

Json = JsonValue
JsonObject = dict[str, JsonValue]

Id = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9\-_.:]+$")]
"""The name of a thing: 1 to 128 letters, digits, `-`, `_`, `.` or `:`."""


class Value(BaseModel):
    """A frozen value; decoding it from JSON refuses unknown fields and wrong types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True, allow_inf_nan=False)

    def as_json(self) -> JsonObject:
        """The value as plain JSON data, the shape in which it is stored and sent."""
        plain: JsonObject = self.model_dump(mode="json", by_alias=True)
        return plain


class Sparse(Value):
    """A value whose fields named in `optional` are left out of the JSON form while they have their default.

    The default of such a field is None, False or an empty list.

    Values that are written with every turn are none of these: leaving out takes Python code for every single one.
    """

    optional: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _leave_out_optional(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        plain: dict[str, Any] = write(self)
        if not self.optional:
            return plain
        silent = _defaults(type(self))
        return {name: value for name, value in plain.items() if name not in silent or value != silent[name]}


@cache
def _defaults(kind: type[Sparse]) -> dict[str, Any]:
    """What each optional field of a kind says by being left out."""
    fields = {name: kind.model_fields[name] for name in kind.optional if name in kind.model_fields}
    return {name: None if field.is_required() else field.get_default() for name, field in fields.items()}
