"""`fabula` with turns that nothing follows, so that what follows turns can be seen in what they cost."""

from __future__ import annotations

from fabula.cli.main import main
from fabula.loops.turns import follow
from fabula.story.followers import FollowerKind
from fabula.story.plays import PlayState


def none_of(before: PlayState, after: PlayState, *, wants_lore: bool = False) -> tuple[FollowerKind, ...]:
    return ()


if __name__ == "__main__":
    follow.followers_of = none_of  # type: ignore[attr-defined]
    main()
