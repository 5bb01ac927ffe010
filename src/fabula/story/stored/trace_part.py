"""Parts of traces: since 2, answers that could not be used stand apart from checks, which are those of the dice."""

from __future__ import annotations

from fabula.story.values import Json, JsonObject


def from_1_to_2(doc: Json) -> JsonObject:
    assert isinstance(doc, dict)
    if "checks" not in doc:
        return doc
    found = doc["checks"] if isinstance(doc["checks"], list) else []
    rows = [row for row in found if isinstance(row, dict)]
    degraded: list[Json] = [{"agent": row.get("agent"), "reason": row.get("reason")} for row in rows]
    return {**{name: value for name, value in doc.items() if name != "checks"}, "degraded": degraded}
