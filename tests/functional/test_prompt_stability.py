"""Each prompt of a real play extends the last one of its role; played as `python -m bench context` does."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.context import TOLL, TOWN, Assembly, Tale, grown_house, kept, kept_of_all, measure

PRESETS = [pytest.param("builtin", marks=pytest.mark.all), "swift"]
ALL_SECTIONS = {"lorebook_base", "memories", "canon", "story_so_far", "minds"}


async def played(folder: Path, tale: Tale, preset_id: str, *, past: int, later: int) -> tuple[Assembly, Assembly]:
    async with grown_house(folder, tale) as house:
        return await measure(house, tale, preset_id, 30, past=past, later_turns=later)


def figures(assembly: Assembly) -> dict[str, float]:
    return {role: round(kept(prompts), 4) for role, prompts in assembly.prompts.items()}


@pytest.mark.all
@pytest.mark.parametrize("preset_id", ["builtin", "swift"])
async def test_over_thirty_turns_with_321_lore_entries_95_percent_of_each_prompt_stand_again(
    tmp_path: Path, preset_id: str
) -> None:
    """Over the first thirty turns, and over thirty later ones with all sections in the prompts, memories among them.

    Those lie between two cuts of the history, which come about every forty-five turns and cost a prompt each.
    """
    first, later = await played(tmp_path, TOLL, preset_id, past=58, later=30)
    shown = figures(first)
    assert min(shown.values()) >= 0.95, shown
    told = {one.key for prompts in later.prompts.values() for prompt in prompts for one in prompt.sections if one.text}
    assert told >= ALL_SECTIONS
    shown = figures(later)
    assert min(shown.values()) >= 0.95 and kept_of_all(later.prompts.values()) >= 0.965, shown


@pytest.mark.parametrize("preset_id", PRESETS)
async def test_prompts_extend_each_other_where_the_player_goes_about_and_people_come_and_go(
    tmp_path: Path, preset_id: str
) -> None:
    first, _ = await played(tmp_path, TOWN, preset_id, past=30, later=0)
    shown = {role: share for role, share in figures(first).items() if not role.startswith("actor")}
    assert min(shown.values()) >= 0.93, shown
