"""JSON text to plain values and back, with care: typed errors, int32, and floats that stay floats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from json.encoder import encode_basestring

from fabula.ink.runtime.arithmetic import INT_MAX, INT_MIN, float32, json_float
from fabula.ink.runtime.content import COMMAND_NAMES, Command, Container, Glue, Literal, Native, Node, Text
from fabula.ink.runtime.lists import InkList, Item, item_name, parse_item
from fabula.ink.runtime.natives import NATIVE_NAMES
from fabula.ink.runtime.values import VOID, ChoiceTag, DivertTarget, Value, VariablePointer, Void

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

_FLOAT_WORD = re.compile(r"-?(?<![0-9])[0-9]++\.[0-9]++f")


class TokenError(ValueError):
    """A piece of JSON that is not what the format says; callers turn it into their own typed error."""


def parse_json(text: str, *, read_float: Callable[[str], float] = float) -> Json:
    """Reads JSON; whatever is wrong with it is one kind of error, however deep or odd it is."""
    try:
        parsed: Json = json.loads(text, parse_constant=_refuse_constant, parse_float=read_float)
    except RecursionError:
        raise TokenError("the JSON is nested too deeply") from None
    except ValueError as error:
        raise TokenError(f"not JSON: {error}") from error
    return parsed


def _refuse_constant(word: str) -> float:
    raise TokenError(f"{word} is not a JSON number")


_WRITE_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_MAY_BE_FLOAT = re.compile(r"[:,\[]-?(?:[0-9]++[.e]|NaN|Inf)")


def write_json(value: Json, *, may_have_floats: bool = True) -> str:
    """Writes JSON without blanks; floats look as the reference writes them. Depth costs no Python stack."""
    if isinstance(value, float):
        return _scalar(value)
    try:
        text = _WRITE_PLAIN(value)
    except RecursionError:
        return _write_carefully(value)
    # What looks like a float may stand in a text; then the careful way writes the same once more.
    return _write_carefully(value) if may_have_floats and _MAY_BE_FLOAT.search(text) else text


def _write_carefully(value: Json) -> str:
    """The same for values that are very deep, or have floats, which the standard library writes otherwise."""
    out: list[str] = []
    todo: list[Json | _Raw] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, _Raw):
            out.append(item.text)
        elif isinstance(item, list):
            todo.append(_Raw("]"))
            for index in range(len(item) - 1, -1, -1):
                todo.append(item[index])
                if index:
                    todo.append(_Raw(","))
            out.append("[")
        elif isinstance(item, dict):
            todo.append(_Raw("}"))
            for number, (key, member) in enumerate(reversed(item.items())):
                todo += [member, _Raw(("," if number < len(item) - 1 else "") + encode_basestring(key) + ":")]
            out.append("{")
        else:
            out.append(_scalar(item))
    return "".join(out)


class _Raw:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _scalar(value: bool | int | float | str | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return json_float(value) if isinstance(value, float) else str(value)


def as_object(token: Json, what: str) -> dict[str, Json]:
    """The token as a JSON object."""
    if not isinstance(token, dict):
        raise TokenError(f"{what} should be an object")
    return token


def as_list(token: Json, what: str) -> list[Json]:
    """The token as a JSON array."""
    if not isinstance(token, list):
        raise TokenError(f"{what} should be a list")
    return token


def as_text(token: Json, what: str) -> str:
    """The token as a string."""
    if not isinstance(token, str):
        raise TokenError(f"{what} should be a text")
    return token


def as_int(token: Json, what: str) -> int:
    """The token as an int32."""
    if not isinstance(token, int) or isinstance(token, bool) or not INT_MIN <= token <= INT_MAX:
        raise TokenError(f"{what} should be a whole number of 32 bits")
    return token


def read_value(token: Json) -> Value:
    """A value as it stands in a save or in a story; void is a value, too."""
    if isinstance(token, bool):
        return token
    if isinstance(token, int):
        return as_int(token, "a number")
    if isinstance(token, float):
        return float32(token)
    if isinstance(token, str):
        return _word_value(token)
    if isinstance(token, dict):
        return _object_value(token)
    raise TokenError(f"not a value: {_shorten(token)}")


def _word_value(word: str) -> Value:
    if word.startswith("^"):
        return word[1:]
    if word == "\n":
        return word
    if word == "void":
        return VOID
    if _FLOAT_WORD.fullmatch(word):
        return float32(float(word[:-1]))
    raise TokenError(f"not a value: {_shorten(word)}")


def _object_value(token: dict[str, Json]) -> Value:
    if "^->" in token:
        return DivertTarget(as_text(token["^->"], "a divert target"))
    if "^var" in token:
        return VariablePointer(as_text(token["^var"], "a variable's name"), as_int(token.get("ci", -1), "ci"))
    if "list" in token:
        return _read_list(token)
    if "#" in token:
        return ChoiceTag(as_text(token["#"], "a tag"))
    raise TokenError(f"not a value: {_shorten(token)}")


def _read_list(token: dict[str, Json]) -> InkList:
    items: dict[Item, int] = {}
    for name, number in as_object(token["list"], "a list").items():
        items[parse_item(name)] = as_int(number, "a list item's number")
    origins = token.get("origins")
    names = None if origins is None else [as_text(name, "an origin") for name in as_list(origins, "origins")]
    return InkList(items, names)


def write_value(value: Value) -> Json:
    """A value in the form of the save format."""
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return value if value == "\n" else "^" + value
    if isinstance(value, InkList):
        return _write_list(value)
    if isinstance(value, DivertTarget):
        return {"^->": value.path}
    if isinstance(value, VariablePointer):
        return {"^var": value.name, "ci": value.frame}
    if isinstance(value, Void):
        return "void"
    return {"#": value.text}


def _write_list(value: InkList) -> Json:
    written: dict[str, Json] = {"list": {item_name(item): number for item, number in value.items.items()}}
    if not value.items and value.origins:
        written["origins"] = list(value.origins)
    return written


def read_word(word: str) -> Node:
    """The instruction that a bare JSON string stands for."""
    if word.startswith("^") or word == "\n":
        return Text(word[1:] if word != "\n" else word)
    if word == "<>":
        return Glue()
    if word in COMMAND_NAMES:
        return Command(word)
    name = "^" if word == "L^" else word
    if name in NATIVE_NAMES:
        return Native(name)
    return Literal(_word_value(word))


def write_node(node: Node) -> Json:
    """An instruction of the output stream in the form of the save format."""
    if isinstance(node, Text):
        return node.value if node.is_newline else "^" + node.value
    if isinstance(node, Command):
        return node.name
    if isinstance(node, Glue):
        return "<>"
    if isinstance(node, Literal):
        return write_value(node.value)
    raise TokenError(f"{type(node).__name__} does not belong in an output stream")


def is_output(node: Node) -> bool:
    """Whether an instruction may stand in an output stream."""
    if isinstance(node, Literal):
        return isinstance(node.value, ChoiceTag)
    return isinstance(node, (Text, Glue)) or (isinstance(node, Command) and node.name in ("str", "#", "/#"))


def _shorten(token: object) -> str:
    text = repr(token)
    return text if len(text) <= 60 else text[:57] + "..."


def describe(node: Node | None) -> str:
    """A node in a few words, for messages."""
    return f"container {node.path}" if isinstance(node, Container) else repr(node)
