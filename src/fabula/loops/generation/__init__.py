"""The generation loop: one run per section of a draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.loops.generation.graph import BuildSection


def section_builder() -> BuildSection:
    """What builds a section. LangGraph takes a second to import, so it is loaded here, at the first call."""
    from fabula.loops.generation.graph import build_section

    return build_section
