"""Schemas: which variables a world, a player or a character has, and which values they may take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from fabula.story.canon import CanonRule
from fabula.story.knowledge import KnownBy
from fabula.story.values import Id, Json, JsonObject, Sparse, Value, same_json

ValueType = Literal["bool", "int", "float", "string", "array", "object", "null"]
SCALARS: frozenset[ValueType] = frozenset({"bool", "int", "float", "string"})


class SchemaField(Sparse):
    """One variable: its type, its value at the start, and the values that it may take.

    With `canon` a change of it is proposed as canon of the play. `known_by` says which characters know a variable of
    the world; without it everyone does.
    """

    optional = frozenset({"enum_values", "canon", "known_by"})
    value_type: ValueType
    default: Json = None
    description: str | None = None
    enum_values: list[Json] | None = None
    canon: CanonRule | None = None
    known_by: KnownBy | None = None


class Schema(Value):
    """A named set of variables. `additional` tells whether variables beyond it are kept or refused."""

    schema_id: Id
    display_name: str
    tags: list[str] = []
    fields: dict[str, SchemaField]
    additional: bool = True


def fits(value: Json, value_type: ValueType) -> bool:
    """Whether a JSON value is of the type; a whole number is a float too, a bool is never a number."""
    match value_type:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "null":
            return value is None


def field_problems(key: str, field: SchemaField) -> list[str]:
    """What is wrong with one variable's declaration, in sentences."""
    problems = []
    if not key.strip():
        problems.append("a field has an empty name")
    if field.default is not None and not fits(field.default, field.value_type):
        problems.append(f"the default of '{key}' is not of type {field.value_type}")
    if field.enum_values is None:
        return problems
    if field.value_type not in SCALARS:
        problems.append(f"'{key}' has enum_values, but only bool, int, float and string fields may have them")
        return problems
    if not field.enum_values:
        problems.append(f"the enum_values of '{key}' are empty")
    problems += [
        f"the enum value {value!r} of '{key}' is not of type {field.value_type}"
        for value in field.enum_values
        if not fits(value, field.value_type)
    ]
    if field.default is not None and not any(same_json(field.default, value) for value in field.enum_values):
        problems.append(f"the default of '{key}' is not among its enum_values")
    return problems


def schema_problems(fields: Mapping[str, SchemaField]) -> list[str]:
    """What is wrong with a schema's fields, in sentences; empty when all is well."""
    return [problem for key, field in fields.items() for problem in field_problems(key, field)]


def value_problem(key: str, value: Json, schema: Schema | None) -> str | None:
    """Why a variable may not take a value, or None when it may."""
    if schema is None:
        return None
    field = schema.fields.get(key)
    if field is None:
        return None if schema.additional else f"'{key}' is not a variable of schema '{schema.schema_id}'"
    if value is None:
        return None if field.default is None else f"'{key}' may not be null"
    if not fits(value, field.value_type):
        return f"'{key}' takes a value of type {field.value_type}"
    if field.enum_values is not None and not any(same_json(value, allowed) for allowed in field.enum_values):
        return f"'{key}' takes one of {field.enum_values}"
    return None


def defaults_of(schema: Schema | None) -> JsonObject:
    """The variables with which a play starts: every field that has a default."""
    if schema is None:
        return {}
    return {key: field.default for key, field in schema.fields.items() if field.default is not None}


class SchemaFields(Value):
    """The fields alone, as the architect proposes them."""

    fields: dict[str, SchemaField] = Field(default_factory=dict)
