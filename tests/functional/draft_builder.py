"""A process that calls one method of a server's protocol on a data folder, to be killed while it works."""

from __future__ import annotations

import asyncio
import json
import sys

from fabula.actions.drafts.build_story import (
    ContinueDraft,
    GenerateStory,
    StartDraft,
    continue_draft,
    generate_story,
    start_draft,
)
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.wiring import open_house


async def main(settings: str, verb: str, name: str) -> None:
    async with open_house(Settings.model_validate_json(settings)) as house:
        match verb:
            case "story_draft.start":
                await start_draft(house, OPERATOR, StartDraft(resource_id=name))
            case "story_draft.continue":
                await continue_draft(house, OPERATOR, ContinueDraft(draft_id=name))
            case "story.generate":
                await generate_story(house, OPERATOR, GenerateStory(resource_id=name))
    print(json.dumps("done"))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
