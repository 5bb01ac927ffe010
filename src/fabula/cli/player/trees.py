"""Draws the tree of turns as lines of text; pure."""

from __future__ import annotations

from collections.abc import Iterator

from fabula.actions.plays.branches import BranchTurn, SessionBranches


def leaves_of(view: SessionBranches) -> list[BranchTurn]:
    """The ends of all lines, in the order in which the drawing numbers them."""
    children = _children(view)
    return [turn for turn, _ in _walk(view, children) if not children.get(turn.turn_id)]


def drawn_tree(view: SessionBranches) -> Iterator[tuple[str, bool]]:
    """One line for each turn, and whether the session stands there; a side line is set in, its end has a number."""
    children = _children(view)
    line = 0
    for turn, depth in _walk(view, children):
        line += not children.get(turn.turn_id)
        here = turn.turn_id == view.head_turn_id
        number = f"  [{line}]" if not children.get(turn.turn_id) else ""
        mark = "*" if here else "-"
        yield f"{'  ' * depth}{mark} {turn.turn_index}: {turn.label}{number}{'  (you are here)' if here else ''}", here


def _children(view: SessionBranches) -> dict[str, list[BranchTurn]]:
    found: dict[str, list[BranchTurn]] = {}
    for turn in view.turns:
        if turn.parent_id is not None and turn.status == "committed":
            found.setdefault(turn.parent_id, []).append(turn)
    return found


def _walk(view: SessionBranches, children: dict[str, list[BranchTurn]]) -> Iterator[tuple[BranchTurn, int]]:
    """Every turn with the depth of its line; the first child goes on in its parent's line, others branch off."""
    waiting = [(turn, 0) for turn in view.turns if turn.parent_id is None]
    while waiting:
        turn, depth = waiting.pop()
        yield turn, depth
        born = children.get(turn.turn_id, [])
        if born:
            # The first line is followed to its end before the next begins.
            waiting += [(child, depth + 1) for child in reversed(born[1:])]
            waiting.append((born[0], depth))
