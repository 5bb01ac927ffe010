"""A process that commits the import of a data package, and dies when it has taken some of it in."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from fabula.actions.library.packages import CommitImport, commit_import
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.story.events import Progress
from fabula.wiring import open_house


async def main(settings: str, import_id: str, dies_at: int) -> None:
    def die(event: Progress) -> None:
        if event.done == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_house(Settings.model_validate_json(settings)) as house:
        await commit_import(house, OPERATOR, CommitImport(import_id=import_id), die)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
