"""Containers to the runtime JSON, inkVersion 21.

1. Every container and every object that needs one gets its path.
2. Each object becomes its JSON value; paths are written relative where that is shorter.
"""

import json

from fabula.ink.compiler.objects import (
    ChoicePoint,
    Container,
    Divert,
    Json,
    Nop,
    Plain,
    ReadCount,
    TargetValue,
)

INK_VERSION = 21


def story_json(root: Container, list_definitions: dict[str, dict[str, int]]) -> str:
    """The whole story as one line of JSON."""
    _give_paths(root)
    lists: dict[str, Json] = {name: dict(items) for name, items in list_definitions.items()}
    story: Json = {
        "inkVersion": INK_VERSION,
        "root": _container(root, named=True),
        "listDefs": lists,
    }
    return json.dumps(story, ensure_ascii=False, separators=(",", ":"))


def _give_paths(root: Container) -> None:
    waiting = [root]
    while waiting:
        container = waiting.pop()
        path = container.path
        for name, child in container.named.items():
            child.path = (*path, name)
            waiting.append(child)
        for index, item in enumerate(container.content):
            if isinstance(item, Container):
                if item.name is None:
                    item.path = (*path, str(index))
                    waiting.append(item)
            elif isinstance(item, Divert | ChoicePoint | ReadCount | Nop):
                item.path = (*path, str(index))


def _container(container: Container, *, named: bool = False) -> list[Json]:
    """`named` says that the name is already the key under which the container is kept."""
    values: list[Json] = []
    for item in container.content:
        values.append(_container(item) if isinstance(item, Container) else _value(item))
    inside = {item.name for item in container.content if isinstance(item, Container)}
    end: dict[str, Json] = {}
    for name, child in container.named.items():
        if name not in inside:
            end[name] = _container(child, named=True)
    if container.flags:
        end["#f"] = container.flags
    if container.name is not None and not named:
        end["#n"] = container.name
    values.append(end or None)
    return values


def _value(item: Plain) -> Json:
    if isinstance(item, Divert):
        return _divert(item)
    if isinstance(item, ChoicePoint):
        return {"*": _short(item.path, item.target.path), "flg": item.flags}
    if isinstance(item, TargetValue):
        return {"^->": ".".join(item.target.path)}
    if isinstance(item, ReadCount):
        return {"CNT?": _short(item.path, item.target.path)}
    if isinstance(item, Nop):
        return "nop"
    return item


def _divert(divert: Divert) -> dict[str, Json]:
    value: dict[str, Json] = {divert.key: _divert_to(divert)}
    if divert.variable is not None:
        value["var"] = True
    if divert.conditional:
        value["c"] = True
    if divert.external is not None and divert.arguments:
        value["exArgs"] = divert.arguments
    return value


def _divert_to(divert: Divert) -> str:
    if divert.variable is not None:
        return divert.variable
    if divert.external is not None:
        return divert.external
    return "" if divert.target is None else _short(divert.path, divert.target.path)


def _short(own: tuple[str, ...], target: tuple[str, ...]) -> str:
    """The target's path, relative to the one who asks when that is shorter."""
    whole = ".".join(target)
    shared = 0
    for mine, theirs in zip(own, target, strict=False):
        if mine != theirs:
            break
        shared += 1
    if shared == 0:
        return whole
    relative = "." + ".".join([*["^"] * (len(own) - shared), *target[shared:]])
    return relative if len(relative) < len(whole) else whole
