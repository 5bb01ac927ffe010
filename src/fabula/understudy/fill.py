"""The smallest JSON that fits a schema: what is answered to a question of a role that the understudy does not know."""

from __future__ import annotations

from fabula.story.values import Json, JsonObject

DEEPEST = 12


def smallest(schema: Json, root: JsonObject, depth: int = 0) -> Json:
    """A value that fits, with nothing in it that need not be."""
    if not isinstance(schema, dict) or depth > DEEPEST:
        return None
    if "const" in schema:
        return schema["const"]
    if isinstance(choices := schema.get("enum"), list) and choices:
        return choices[0]
    if isinstance(ref := schema.get("$ref"), str):
        return smallest(_looked_up(ref, root), root, depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(options := schema.get(key), list) and options:
            return smallest(options[0], root, depth + 1)
    return _by_type(schema, root, depth)


def _by_type(schema: JsonObject, root: JsonObject, depth: int) -> Json:
    kind = schema.get("type")
    match kind[0] if isinstance(kind, list) and kind else kind:
        case "object":
            names, properties = schema.get("required"), schema.get("properties")
            wanted = [str(name) for name in names] if isinstance(names, list) else []
            known = properties if isinstance(properties, dict) else {}
            return {name: smallest(known.get(name), root, depth + 1) for name in wanted}
        case "array":
            least = schema.get("minItems")
            count = least if isinstance(least, int) else 0
            return [smallest(schema.get("items"), root, depth + 1) for _ in range(count)]
        case "string":
            least = schema.get("minLength")
            return "-" * (least if isinstance(least, int) else 0)
        case "integer" | "number":
            low = schema.get("minimum")
            return low if isinstance(low, (int, float)) else 0
        case "boolean":
            return False
        case _:
            return None


def _looked_up(ref: str, root: JsonObject) -> Json:
    found: Json = root
    for step in ref.removeprefix("#/").split("/"):
        found = found.get(step) if isinstance(found, dict) else None
    return found
