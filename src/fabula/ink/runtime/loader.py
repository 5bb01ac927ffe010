"""Reads a compiled story: the reference's JSON, inkVersion 18 to 21, into a resolved content tree.

1. The JSON is parsed. 2. Containers are built from the outside in, with a list of things to do instead of recursion.
3. Every divert, choice and read count is tied to the container it names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from fabula.ink.runtime.content import (
    Assign,
    ChoicePoint,
    Container,
    Divert,
    Literal,
    Node,
    ReadCountOf,
    ReadVariable,
    StoryContent,
    find_place,
    resolve,
)
from fabula.ink.runtime.errors import InkFormatError
from fabula.ink.runtime.lists import ListDefinition, ListDefinitions
from fabula.ink.runtime.tokens import (
    Json,
    TokenError,
    as_int,
    as_list,
    as_object,
    as_text,
    parse_json,
    read_value,
    read_word,
    write_json,
)

VERSION = 21
OLDEST_VERSION = 18

_DIVERTS = ("->", "f()", "->t->", "x()")
_Pending = tuple[Container, list[Json]]
_Unresolved = tuple[Container, Node]


def load_story(story_json: str) -> StoryContent:
    """Builds the content tree of a compiled story.

    >>> story = load_story('{"inkVersion": 21, "root": [["^Hello", "\\\\n", null], "done", null], "listDefs": {}}')
    >>> story.root.content
    [Container('0'), Command('done')]
    """
    try:
        floats: list[float] = []
        story = as_object(parse_json(story_json.removeprefix("\ufeff"), read_float=_noted_in(floats)), "a story")
        _check_version(story)
        lists = _read_lists(story.get("listDefs") or {})
        written = write_json(story, may_have_floats=bool(floats))
        digest = hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        root, unresolved = _build(as_list(story.get("root"), "the story's root"))
    except TokenError as error:
        raise InkFormatError(f"This is not a compiled Ink story: {error}. Compile it again.") from error
    externals = _tie(root, unresolved)
    return StoryContent(root=root, lists=lists, externals=externals, digest=digest)


def _noted_in(floats: list[float]) -> Callable[[str], float]:
    """Reads floats, and notes them."""

    def read(word: str) -> float:
        floats.append(float(word))
        return floats[-1]

    return read


def _check_version(story: dict[str, Json]) -> None:
    version = as_int(story.get("inkVersion"), "inkVersion")
    if not OLDEST_VERSION <= version <= VERSION:
        raise TokenError(f"inkVersion is {version}, but should be {OLDEST_VERSION} to {VERSION}")


def _read_lists(token: Json) -> ListDefinitions:
    definitions = []
    for name, items in as_object(token, "listDefs").items():
        numbers = {item: as_int(number, item) for item, number in as_object(items, name).items()}
        definitions.append(ListDefinition.of(name, numbers))
    return ListDefinitions(definitions)


def _build(root_token: list[Json]) -> tuple[Container, list[_Unresolved]]:
    root = Container()
    todo: list[_Pending] = [(root, root_token)]
    unresolved: list[_Unresolved] = []
    words: dict[str, Node] = {}
    while todo:
        container, tokens = todo.pop()
        terminator = tokens[-1] if tokens else None
        names = {} if terminator is None else as_object(terminator, "the last element of a container")
        _read_flags(container, names)
        _read_content(container, tokens[:-1], todo, unresolved, words)
        _read_named(container, names, todo)
    return root, unresolved


def _read_flags(container: Container, names: dict[str, Json]) -> None:
    flags = as_int(names.get("#f", 0), "#f")
    container.count_visits = bool(flags & 1)
    container.count_turns = bool(flags & 2)
    container.count_at_start_only = bool(flags & 4)


def _read_content(
    container: Container,
    tokens: list[Json],
    todo: list[_Pending],
    unresolved: list[_Unresolved],
    words: dict[str, Node],
) -> None:
    """Instructions that are one word never change: `words` has each of them once for the whole story."""
    content = container.content
    for index, token in enumerate(tokens):
        node: Node | None
        if isinstance(token, str):
            node = words.get(token)
            if node is None:
                node = words[token] = read_word(token)
        elif isinstance(token, list):
            node = _adopt(container, token, index, None)
            todo.append((node, token))
        else:
            node = _read_node(token)
            if isinstance(node, ChoicePoint):
                node.path = f"{container.path}.{index}" if container.path else str(index)
            if isinstance(node, (Divert, ChoicePoint, ReadCountOf)):
                unresolved.append((container, node))
        content.append(node)


def _read_named(container: Container, names: dict[str, Json], todo: list[_Pending]) -> None:
    for name, token in names.items():
        if name in ("#f", "#n"):
            continue
        tokens = as_list(token, f"the content named {name}")
        todo.append((_adopt(container, tokens, -1, name), tokens))


def _adopt(parent: Container, tokens: list[Json], index: int, name: str | None) -> Container:
    child = Container()
    child.parent = parent
    child.index = index
    terminator = tokens[-1] if tokens else None
    if name is None and isinstance(terminator, dict) and "#n" in terminator:
        name = as_text(terminator["#n"], "#n")
    child.name = name or None
    own = name or str(index)
    child.path = f"{parent.path}.{own}" if parent.path else own
    if name:
        parent.named[name] = child
    return child


def _read_node(token: Json) -> Node:
    if not isinstance(token, dict):
        return Literal(read_value(token))
    for key in _DIVERTS:
        if key in token:
            return _read_divert(key, token)
    if "*" in token:
        return ChoicePoint(as_text(token["*"], "a choice's target"), as_int(token.get("flg", 0), "flg"))
    if "VAR?" in token:
        return ReadVariable(as_text(token["VAR?"], "a variable's name"))
    if "CNT?" in token:
        return ReadCountOf(as_text(token["CNT?"], "a read count's target"))
    for key in ("VAR=", "temp="):
        if key in token:
            return Assign(
                as_text(token[key], "a variable's name"), is_global=key == "VAR=", declares=not token.get("re")
            )
    return Literal(read_value(token))


def _read_divert(key: str, token: dict[str, Json]) -> Divert:
    return Divert(
        key,
        as_text(token[key], "a divert's target"),
        variable=bool(token.get("var")),
        conditional=bool(token.get("c")),
        arguments=as_int(token.get("exArgs", 0), "exArgs"),
    )


def _tie(root: Container, unresolved: list[_Unresolved]) -> frozenset[str]:
    externals = set()
    for container, node in unresolved:
        if isinstance(node, Divert):
            if node.key == "x()":
                externals.add(node.target)
            else:
                _tie_divert(root, container, node)
        elif isinstance(node, ChoicePoint):
            node.target = _find_container(root, container, node.target_path)
            node.target_path = node.target.path if node.target is not None else node.target_path
        elif isinstance(node, ReadCountOf):
            node.container = _find_container(root, container, node.target)
    return frozenset(externals)


def _tie_divert(root: Container, container: Container, divert: Divert) -> None:
    place = _seen_from(root, container, divert.target)
    if place is not None:
        divert.container, divert.index = place[0], max(place[1], 0)


def _find_container(root: Container, container: Container, path: str) -> Container | None:
    place = _seen_from(root, container, path)
    found = None if place is None else resolve(*place)
    return found if isinstance(found, Container) else None


def _seen_from(root: Container, container: Container, path: str) -> tuple[Container, int] | None:
    if not path.startswith("."):
        return find_place(root, path)
    if not path.startswith(".^"):
        return None
    return find_place(container, path[2:])
