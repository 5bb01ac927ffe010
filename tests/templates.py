"""Data folders that need no set-up: each is made once per test process, and copied for every test that wants one.

A new database is brought to the newest revision step by step, and the samples are installed into it; both take longer
than most tests. A copy of a folder where that was done is the same to everybody but a test about the set-up itself.
"""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Literal

from fabula.actions.library.samples import install_samples_at_first
from fabula.adapters.stores import open_store
from fabula.settings import Settings
from fabula.testing.world import FixedClock
from fabula.wiring import open_house

Content = Literal["store", "house", "samples"]
"""An empty store; one with the built-ins, as a server leaves it; one with the samples, too."""


def fill_folder(folder: Path, content: Content = "house") -> Path:
    """Gives a new data folder what the first start of a server would; one that holds a database stays as it is."""
    if not (folder / "fabula.db").exists():
        shutil.copytree(_template(content), folder, dirs_exist_ok=True)
    return folder


@cache
def _template(content: Content) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fabula-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # In a thread, because the first to ask may be a test that runs in a loop already.
    with ThreadPoolExecutor() as pool:
        pool.submit(asyncio.run, _set_up(folder, content)).result()
    return folder


async def _set_up(folder: Path, content: Content) -> None:
    settings = Settings(data_dir=folder, samples=content == "samples")
    if content == "store":
        store = open_store(settings, FixedClock())
        await store.open()
        await store.close()
        return
    async with open_house(settings) as house:
        await install_samples_at_first(house)
