"""Revisions of the database, oldest first; each is a file in `versions/` that never changes once released."""

from __future__ import annotations

REVISIONS = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0006",
    "0007",
    "0008",
    "0009",
    "0010",
    "0011",
    "0012",
    "0013",
    "0014",
    "0020",
    "0021",
    "0031",
    "0027",
    "0032",
    "0033",
    "0038",
    "0034",
    "0040",
    "0041",
    "0042",
    "0050",
    "0051",
    "0052",
    "0055",
    "0056",
    "0070",
    "0071",
    "0075",
    "0076",
)

REVISION_TABLE = "fabula_revision"
