"""What every value of a story is made of: frozen, closed to unknown fields, strict in its types."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args

import orjson
from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    JsonValue,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

JSON_REF = "fabula.story.values.JsonValue"
"""The name of any JSON value in the schemas of models."""

if not TYPE_CHECKING:

    class JsonValue:
        """Takes any JSON value as it is. Pydantic's own type calls a Python function for every single value in it and
        copies all of them, in every context of every role: variables of many small values made everybody wait."""

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
            check = core_schema.no_info_plain_validator_function(_check_json)
            return core_schema.json_or_python_schema(core_schema.any_schema(), check, ref=JSON_REF)

        @classmethod
        def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
            return {}


Json = JsonValue
JsonObject = dict[str, Json]

Id = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9\-_.:]+$")]
"""The name of a thing: 1 to 128 letters, digits, `-`, `_`, `.` or `:`."""


class Value(BaseModel):
    """A frozen value; decoding it from JSON refuses unknown fields and wrong types.

    What reads and writes it is built at its first use: there are hundreds of models, a start uses few of them, and all
    would take a third of a second. `build_models` builds them ahead.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, validate_default=True, allow_inf_nan=False, defer_build=True
    )

    @classmethod
    def model_rebuild(
        cls,
        *,
        force: bool = False,
        raise_errors: bool = True,
        _parent_namespace_depth: int = 2,
        _types_namespace: Mapping[str, Any] | None = None,
    ) -> bool | None:
        """Builds the model, and before it the models in its fields.

        A model that is built inside of another one is written without a look at its type. In a choice among kinds that
        have a writer of their own, the first kind would then write what belongs to the others.
        """
        if cls.__pydantic_complete__ and not force:
            return None
        for part in _parts_first(cls, {}):
            # Names in annotations are known since the class was made: those of whoever calls must not replace them.
            super(Value, part).model_rebuild(raise_errors=raise_errors, _types_namespace={})
        return super().model_rebuild(
            force=force,
            raise_errors=raise_errors,
            _types_namespace={} if _types_namespace is None else _types_namespace,
        )

    def as_json(self) -> JsonObject:
        """The value as plain JSON data, the shape in which it is stored and sent."""
        plain: JsonObject = self.model_dump(mode="json", by_alias=True)
        return plain


def _parts_first(model: type[Value], seen: dict[type[Value], None]) -> list[type[Value]]:
    """The models in the fields of a model that are not built yet, each after those in its own fields."""
    seen[model] = None
    found: list[type[Value]] = []
    left: list[Any] = [field.annotation for field in model.model_fields.values()]
    while left:
        kind = left.pop()
        left += get_args(kind)
        if isinstance(kind, type) and issubclass(kind, Value) and not kind.__pydantic_complete__ and kind not in seen:
            found += [*_parts_first(kind, seen), kind]
    return found


def build_models(*rooms: str) -> None:
    """Builds the models that are defined in these packages, and are known by now."""
    left = Value.__subclasses__()
    while left:
        model = left.pop()
        left += model.__subclasses__()
        if model.__module__.startswith(rooms):
            model.model_rebuild()


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


def texts_in(value: Json) -> list[str]:
    """All texts of a JSON value, keys included."""
    found: list[str] = []
    left = [value]
    while left:
        match left.pop():
            case str(text):
                found.append(text)
            case list(items):
                left += reversed(items)
            case dict(fields):
                left += [one for key, held in reversed(fields.items()) for one in (held, key)]
            case _:
                pass
    return found


def _check_json(value: Any) -> Any:
    """The value itself, if JSON can say it."""
    # Most variables are one of these, and there are many with every turn.
    if type(value) in _PLAIN:
        return value
    try:
        written = orjson.dumps(value, option=_JSON_ALONE)
    except TypeError:
        written = b"null"
    # What is not a number is written as null, and numbers of more than 64 bits and half surrogates are not written.
    if b"null" in written and value is not None:
        _walk_json(value)
    return value


_PLAIN = frozenset([str, int, bool, type(None)])
_JSON_ALONE = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


def _walk_json(value: Any) -> None:
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict) and all(isinstance(name, str) for name in one):
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
        elif isinstance(one, float):
            if not isfinite(one):
                raise PydanticCustomError("finite_number", "Input should be a finite number")
        elif one is not None and not isinstance(one, (str, int)):
            raise PydanticCustomError("invalid_json_value", "input was not a valid JSON value")


def same_json(left: Json, right: Json) -> bool:
    """Strict JSON equality: `1`, `1.0` are equal numbers, but `true` is never `1`."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(value, right[key]) for key, value in left.items())
    return left == right
