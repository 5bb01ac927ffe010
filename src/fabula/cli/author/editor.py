"""The author's own editor: `$VISUAL` or `$EDITOR`, with the text in it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fabula.ports.errors import InvalidRequest

USUAL = ("nano", "vim", "vi")


def edit_text(text: str) -> str:
    """The text as it was when the editor ended; raises InvalidRequest with a sentence when none can be used."""
    command = _command()
    with tempfile.TemporaryDirectory(prefix="fabula-") as folder:
        file = Path(folder) / "plan.txt"
        file.write_text(f"{text}\n", "utf-8")
        try:
            ended = subprocess.run([*command, str(file)], check=False)
        except OSError as error:
            raise InvalidRequest(f"The editor '{command[0]}' cannot be started: {error.strerror}.") from None
        if ended.returncode != 0:
            raise InvalidRequest(f"The editor '{command[0]}' ended with an error; the text stays as it was.")
        return file.read_text("utf-8", "replace").strip()


def _command() -> list[str]:
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if chosen:
        return shlex.split(chosen)
    if sys.platform == "win32":
        return ["notepad"]
    found = next((name for name in USUAL if shutil.which(name)), None)
    if found is None:
        raise InvalidRequest("No editor was found. Set EDITOR to yours.")
    return [found]
