"""How the lore of a scene reads on the terminal: each piece with its kind, and below it why it is there."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.plays.scene_lore import ScenePieceShown
from fabula.cli.player.terminal_writer import TerminalWriter


def show_pieces(writer: TerminalWriter, pieces: Sequence[ScenePieceShown]) -> None:
    """Shows the lore of one place."""
    if not pieces:
        writer.row("nothing to say of it", "dim", indent=2)
    for one in pieces:
        told_by = "" if one.teller is None else f" ({one.teller} would tell it)"
        known = f" (known only to {', '.join(one.known_to)})" if one.known_to else ""
        writer.row(f"{one.kind:<8} {one.text}{told_by}{known}", indent=2)
        writer.row(f"{one.source} {one.source_id}: {one.why}", "dim", indent=11)
