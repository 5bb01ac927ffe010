"""The tables of plays, and their queries by name: the tree of turns, its states, its heads, and what was said."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    literal_column,
    select,
    text,
    union,
    update,
)

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, add_or_change, add_or_replace, json_field

PLAYS = Table(
    "plays",
    METADATA,
    Column("session_id", NAME, nullable=False),
    Column("tree_id", NAME, nullable=False),
    Column("head_turn_id", NAME, nullable=False),
    Column("active_turn_id", NAME),
    Column("turn_index", NUMBER, nullable=False),
    Column("status", NAME, nullable=False),
    Column("token_budget", NUMBER),
    Column("updated_at_ms", NUMBER, nullable=False),
    Column("owner_token_id", NAME),
    PrimaryKeyConstraint("session_id", name="plays_pk"),
    Index("plays_by_tree", "tree_id", "session_id"),
    Index("plays_by_change", "updated_at_ms", "session_id"),
    Index("plays_by_owner", "owner_token_id", "session_id"),
)

INVITATIONS = Table(
    "play_invitations",
    METADATA,
    Column("token_id", NAME, nullable=False),
    Column("session_id", NAME, nullable=False),
    PrimaryKeyConstraint("token_id", "session_id", name="play_invitations_pk"),
    Index("play_invitations_by_session", "session_id"),
)

KEY_INDEX = "turns_by_key"
"""What keeps a key to one turn of a session, whoever begins it."""

TURNS = Table(
    "turns",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("tree_id", NAME, nullable=False),
    Column("session_id", NAME, nullable=False),
    Column("parent_id", NAME),
    Column("jump_id", NAME),
    Column("depth", NUMBER, nullable=False),
    Column("turn_index", NUMBER, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("status", NAME, nullable=False),
    Column("player_input", Text, nullable=False),
    Column("request_id", NAME, nullable=False),
    Column("seed", NUMBER, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state_hash", NAME),
    Column("error", Text),
    Column("owner", NAME, nullable=False),
    Column("lease_until_ms", NUMBER, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    Column("finished_at_ms", NUMBER),
    Column("key", NAME, nullable=False, server_default=""),
    Column("asked", NAME, nullable=False, server_default=""),
    Column("cut", Integer, nullable=False, server_default="0"),
    Column("wish", Text),
    PrimaryKeyConstraint("turn_id", name="turns_pk"),
    Index("turns_by_tree", "tree_id", "turn_id"),
    Index("turns_by_parent", "parent_id", "turn_id"),
    Index("turns_by_request", "session_id", "request_id"),
    Index(
        KEY_INDEX,
        "session_id",
        "key",
        unique=True,
        sqlite_where=text("key <> ''"),
        postgresql_where=text("key <> ''"),
    ),
    Index(
        "turns_running", "turn_id", sqlite_where=text("status = 'running'"), postgresql_where=text("status = 'running'")
    ),
)

UNUSED = {"owner": "", "lease_until_ms": 0, "attempt": 1}
"""Columns of turns from before there was a table of work, which now says who plays a turn."""

TURN_STATES = Table(
    "turn_states",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("state", Text, nullable=False),
    Column("result", Text),
    PrimaryKeyConstraint("turn_id", name="turn_states_pk"),
    ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="turn_states_turn_fk", ondelete="CASCADE"),
)

SUMMARIES = Table(
    "turn_summaries",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("summary", Text, nullable=False),
    PrimaryKeyConstraint("turn_id", name="turn_summaries_pk"),
    ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="turn_summaries_turn_fk", ondelete="CASCADE"),
)

WORLD_RECORDS = Table(
    "world_records",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("record", Text, nullable=False),
    PrimaryKeyConstraint("turn_id", name="world_records_pk"),
    ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="world_records_turn_fk", ondelete="CASCADE"),
)

MESSAGES = Table(
    "messages",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("op", NAME, nullable=False),
    Column("message_id", NAME, nullable=False),
    Column("said_in_turn_id", NAME, nullable=False),
    Column("turn_index", NUMBER, nullable=False),
    Column("sequence", NUMBER, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("speaker_id", NAME, nullable=False),
    Column("speaker_name", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("recorded_at_ms", NUMBER, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    Column("updated_at_ms", NUMBER, nullable=False),
    Column("heard_by", Text),
    PrimaryKeyConstraint("turn_id", "ordinal", name="messages_pk"),
    ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="messages_turn_fk", ondelete="CASCADE"),
    Index("messages_by_id", "message_id"),
)

TURN_MARKS = Table(
    "turn_marks",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("tree_id", NAME, nullable=False),
    Column("name", Text, nullable=False),
    Column("bookmarked", Boolean, nullable=False),
    PrimaryKeyConstraint("turn_id", name="turn_marks_pk"),
    ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="turn_marks_turn_fk", ondelete="CASCADE"),
    Index("turn_marks_by_tree", "tree_id", "turn_id"),
)

_p, _t, _s, _m, _i = PLAYS.c, TURNS.c, TURN_STATES.c, MESSAGES.c, INVITATIONS.c
_this_play = _p.session_id == bindparam("session")
_this_turn = _t.turn_id == bindparam("turn")

GET_PLAY = select(PLAYS).where(_this_play)
LOCK_PLAY = GET_PLAY.with_for_update()
"""The writers of one play wait for each other here. Whoever locks both locks the play before its turns."""
GET_PLAYS = select(PLAYS).where(_p.session_id.in_(bindparam("sessions", expanding=True)))
HEADS = select(PLAYS).where(_p.tree_id == bindparam("tree")).order_by(_p.session_id)
RECENT_PLAYS = select(PLAYS).order_by(_p.updated_at_ms.desc(), _p.session_id.desc()).limit(bindparam("limit"))
REACHED = union(
    select(_p.session_id).where(_p.owner_token_id == bindparam("token")),
    select(_i.session_id).where(_i.token_id == bindparam("token")),
).subquery("reached")
REACHED_BY = select(REACHED.c.session_id).where(REACHED.c.session_id > bindparam("after")).order_by("session_id")
COUNT_REACHED = select(func.count()).select_from(REACHED)
RECENT_REACHED = (
    select(PLAYS)
    .where(_p.session_id.in_(select(REACHED.c.session_id)))
    .order_by(_p.updated_at_ms.desc(), _p.session_id.desc())
    .limit(bindparam("limit"))
)
_this_invitation = (_i.token_id == bindparam("token")) & (_i.session_id == bindparam("session"))
IS_INVITED = select(_i.session_id).where(_this_invitation)
INVITE = add_or_change(INVITATIONS, None)
UNINVITE = delete(INVITATIONS).where(_this_invitation)
UNINVITE_ALL = delete(INVITATIONS).where(_i.session_id == bindparam("session"))
ADD_PLAY = insert(PLAYS)
REMOVE_PLAY = delete(PLAYS).where(_this_play)
OTHERS_ON_TREE = select(func.count()).select_from(PLAYS).where(_p.tree_id == bindparam("tree"))
REMOVE_TREE = delete(TURNS).where(_t.tree_id == bindparam("tree"))
GET_TURN = select(TURNS).where(_this_turn)
LOCK_TURN = (
    select(TURNS).join(PLAYS, _p.session_id == _t.session_id).where(_this_turn).with_for_update(of=[PLAYS, TURNS])
)
"""A turn of a play that still exists, to be ended: the play is locked, then the turn."""
LOCK_TREE = select(_t.turn_id).where(_t.turn_id == bindparam("tree")).with_for_update()
KEEP_TREE = select(_t.turn_id).where(_t.turn_id == bindparam("tree")).with_for_update(read=True, key_share=True)
ADD_TURN = insert(TURNS)
ADD_STATE = insert(TURN_STATES)
ADD_MESSAGES = insert(MESSAGES)
TREE = (
    select(TURNS)
    .where(_t.tree_id == bindparam("tree"), _t.turn_id > bindparam("after"), _t.status != "running")
    .order_by(_t.turn_id)
)
_these_turns = _t.turn_id.in_(bindparam("turns", expanding=True))
SHAPE = (
    select(_t.turn_id, _t.parent_id, _t.session_id, _t.kind, _t.status)
    .where(_t.tree_id == bindparam("tree"), _t.status != "running")
    .order_by(_t.turn_id)
)
"""The columns stand before the player's words in their row, so that long words are not read."""
GET_TURNS = select(TURNS).where(_these_turns)
TELLINGS = (
    select(TURNS)
    .where(
        _t.parent_id.in_(bindparam("parents", expanding=True)),
        _t.kind == "play",
        _t.status.not_in(("running", "failed", "cancelled")),
    )
    .order_by(_t.turn_id)
)
BEGINNINGS = (
    select(_m.turn_id, func.substr(_m.text, 1, bindparam("letters", type_=Integer())).label("text"))
    .where(
        _m.turn_id.in_(bindparam("turns", expanding=True)),
        _m.op == "say",
        _m.kind != "player_input",
    )
    .order_by(_m.turn_id, _m.ordinal)
)
MESSAGES_OF = select(_m.message_id).where(_m.turn_id == bindparam("turn")).order_by(_m.ordinal)
_k, _own = TURN_MARKS.c, PLAYS.alias("own")
MARK = add_or_replace(TURN_MARKS)
UNMARK = delete(TURN_MARKS).where(_k.turn_id == bindparam("turn"))
MARKS = (
    select(_k.turn_id, _k.name, _k.bookmarked)
    .where(_k.tree_id == bindparam("tree"), _k.turn_id > bindparam("after"))
    .order_by(_k.turn_id)
)
NAMED_TURNS = (
    select(_k.turn_id, _t.session_id, _k.name, _t.created_at_ms)
    .join_from(TURN_MARKS, TURNS, _t.turn_id == _k.turn_id)
    .join(PLAYS, _p.session_id == _t.session_id)
    .where(_k.name != "")
    .order_by(_k.turn_id.desc())
    .limit(bindparam("limit"))
)
_of_reached = select(REACHED.c.session_id)
REACHED_NAMED_TURNS = NAMED_TURNS.where(
    _p.session_id.in_(_of_reached),
    _k.tree_id.in_(select(_own.c.tree_id).where(_own.c.session_id.in_(_of_reached))),
)
"""By their trees, which are few; not by asking of every named turn whose it is."""
MARKS_OF = select(_k.turn_id, _k.name, _k.bookmarked).where(_k.turn_id.in_(bindparam("turns", expanding=True)))
_heads = select(_p.session_id).join(TURN_STATES, _s.turn_id == _p.head_turn_id)
_heads = _heads.where(_p.session_id.in_(bindparam("sessions", expanding=True)))
PROFILES = _heads.add_columns(json_field(_s.state, literal_column("'player_profile_id'")).label("profile"))
STATE = select(_s.state).where(_s.turn_id == bindparam("turn"))
RESULT = select(_s.result).where(_s.turn_id == bindparam("turn"))
LAST_FAILED = (
    select(TURNS)
    .where(
        _t.parent_id == bindparam("parent"),
        _t.session_id == bindparam("session"),
        _t.status.in_(("failed", "cancelled")),
    )
    .order_by(_t.turn_id.desc())
    .limit(1)
)
BY_REQUEST = (
    select(TURNS)
    .where(_t.session_id == bindparam("session"), _t.request_id == bindparam("request"))
    .order_by(_t.turn_id.desc())
    .limit(1)
)
LARGEST_SEED = select(func.max(_t.seed)).where(
    _t.parent_id == bindparam("parent"), _t.player_input == bindparam("words")
)
# The condition is written out, because an engine uses a partial index only where it can read its condition.
BY_KEY = select(TURNS).where(_t.session_id == bindparam("session"), _t.key == bindparam("key"), text("key <> ''"))
RUNNING = select(TURNS).where(_t.status == "running").order_by(_t.turn_id)
LOCK_RUNNING = RUNNING.with_for_update()
SET_PLAY = update(PLAYS).where(_this_play)
SET_TURN = update(TURNS).where(_this_turn)
SET_BUDGET = SET_PLAY.values(token_budget=bindparam("budget"))
MOVE_HEAD = SET_PLAY.values(
    head_turn_id=bindparam("head"),
    turn_index=bindparam("index"),
    status=bindparam("ended"),
    updated_at_ms=bindparam("now"),
)
TOUCH = SET_PLAY.values(updated_at_ms=bindparam("now"))
LEAVE = SET_PLAY.values(active_turn_id=None, updated_at_ms=bindparam("now"))
FAIL_TURN = SET_TURN.values(status=bindparam("how"), error=bindparam("why"), finished_at_ms=bindparam("now"))
OCCUPY = SET_PLAY.values(active_turn_id=bindparam("active"), updated_at_ms=bindparam("now"))
COMMIT_TURN = SET_TURN.values(
    status="committed", cut=bindparam("is_cut"), state_hash=bindparam("hash"), finished_at_ms=bindparam("now")
)
MOVE_ON = SET_PLAY.values(
    head_turn_id=bindparam("head"),
    active_turn_id=None,
    turn_index=bindparam("index"),
    status=bindparam("ended"),
    updated_at_ms=bindparam("now"),
)

# Each step up a line leads to a turn that is less deep: every turn of ours stands deeper than its parent and its jump.
# In a tree that was damaged, or that somebody else wrote, steps could else lead round in a circle without end.

_path = (
    select(_t.turn_id, _t.parent_id, _t.depth, literal(0).label("steps")).where(_this_turn).cte("path", recursive=True)
)
_path = _path.union_all(
    select(_t.turn_id, _t.parent_id, _t.depth, _path.c.steps + 1).where(
        _t.turn_id == _path.c.parent_id, _t.depth < _path.c.depth, _path.c.steps < bindparam("furthest")
    )
)
_head, _near, _far = TURNS.alias("head"), TURNS.alias("near"), TURNS.alias("far")
PLACE = (
    select(
        _p.active_turn_id,
        _p.head_turn_id,
        _head.c.turn_id,
        _head.c.tree_id,
        _head.c.depth,
        _near.c.turn_id.label("near_id"),
        _near.c.depth.label("near_depth"),
        _far.c.turn_id.label("far_id"),
        _far.c.depth.label("far_depth"),
    )
    .select_from(PLAYS)
    .join(_head, _head.c.tree_id == _p.tree_id)
    .outerjoin(_near, _near.c.turn_id == _head.c.jump_id)
    .outerjoin(_far, _far.c.turn_id == _near.c.jump_id)
    .where(_this_play, _head.c.turn_id == bindparam("turn"), _head.c.status == "committed")
)
"""A session, the turn below which a new one is placed, and the two jumps from there, in one read."""
LOCK_PLACE = PLACE.with_for_update(of=PLAYS)

_walk = (
    select(_t.turn_id, _t.parent_id, _t.jump_id, _t.turn_index, _t.depth).where(_this_turn).cte("walk", recursive=True)
)
_jumped, _next = TURNS.alias("jumped"), TURNS.alias("next")
_walk = _walk.union_all(
    select(_next.c.turn_id, _next.c.parent_id, _next.c.jump_id, _next.c.turn_index, _next.c.depth)
    .select_from(_walk)
    .join(_jumped, _jumped.c.turn_id == _walk.c.jump_id)
    .join(
        _next,
        _next.c.turn_id == case((_jumped.c.turn_index > bindparam("index"), _walk.c.jump_id), else_=_walk.c.parent_id),
    )
    .where(_walk.c.turn_index > bindparam("index"), _next.c.depth < _walk.c.depth)
)
ANCESTOR = select(_walk.c.turn_id).order_by(_walk.c.depth).limit(1)
"""Up from a turn in jumps, as long as they do not lead too far: a logarithmic number of rows in one read."""

TRANSCRIPT = (
    select(MESSAGES, _path.c.depth)
    .join_from(_path, MESSAGES, _m.turn_id == _path.c.turn_id)
    .order_by(_path.c.depth, _m.ordinal)
)
"""What the last so many turns of a line say, and what they change of what was said before."""
SAID = TRANSCRIPT.where(_m.op == "say")

_changes = select(MESSAGES, _t.depth).join_from(MESSAGES, TURNS, _t.turn_id == _m.turn_id)
_named = _m.message_id.in_(bindparam("messages", expanding=True))
WORDINGS = _changes.where(_named).order_by(_t.depth, _m.ordinal)
"""All that became of some messages, on every line."""
CHANGES = WORDINGS.where(_m.op != "say")
"""Only what was changed of them: of most lines nothing was, and then no turn is read."""

_end, _wanted = TURNS.alias("end_of_line"), TURNS.alias("wanted")
_climb = (
    select(
        _wanted.c.turn_id.label("wanted_id"),
        _wanted.c.depth.label("wanted_depth"),
        _end.c.turn_id,
        _end.c.parent_id,
        _end.c.jump_id,
        _end.c.depth,
    )
    .join_from(_wanted, _end, (_end.c.tree_id == _wanted.c.tree_id) & (_end.c.depth >= _wanted.c.depth))
    .where(_end.c.turn_id == bindparam("turn"), _wanted.c.turn_id.in_(bindparam("wanted", expanding=True)))
    .cte("climb", recursive=True)
)
_leap, _step = TURNS.alias("leap"), TURNS.alias("step")
_climb = _climb.union_all(
    select(
        _climb.c.wanted_id,
        _climb.c.wanted_depth,
        _step.c.turn_id,
        _step.c.parent_id,
        _step.c.jump_id,
        _step.c.depth,
    )
    .select_from(_climb)
    .join(_leap, _leap.c.turn_id == _climb.c.jump_id)
    .join(
        _step,
        _step.c.turn_id == case((_leap.c.depth >= _climb.c.wanted_depth, _climb.c.jump_id), else_=_climb.c.parent_id),
    )
    .where(_climb.c.depth > _climb.c.wanted_depth, _step.c.depth < _climb.c.depth)
)
ON_LINE = select(_climb.c.wanted_id).where(_climb.c.turn_id == _climb.c.wanted_id)
"""Those of the wanted turns that are on the line which ends at a turn: for each a logarithmic number of rows."""

_rise = select(_t.turn_id, _t.parent_id, _t.jump_id, _t.depth).where(_this_turn).cte("rise", recursive=True)
_jump, _risen = TURNS.alias("jump"), TURNS.alias("risen")
_rise = _rise.union_all(
    select(_risen.c.turn_id, _risen.c.parent_id, _risen.c.jump_id, _risen.c.depth)
    .select_from(_rise)
    .join(_jump, _jump.c.turn_id == _rise.c.jump_id)
    .join(
        _risen,
        _risen.c.turn_id == case((_jump.c.depth >= bindparam("depth"), _rise.c.jump_id), else_=_rise.c.parent_id),
    )
    .where(_rise.c.depth > bindparam("depth"), _risen.c.depth < _rise.c.depth)
)
AT_DEPTH = select(_rise.c.turn_id).order_by(_rise.c.depth).limit(1)
"""The turn of a line that is so many turns below its beginning, or its end where it is shorter."""

_ends = (
    select(_t.turn_id.label("head"), _t.turn_id, _t.parent_id, _t.depth, literal(0).label("steps"))
    .where(_t.turn_id.in_(bindparam("heads", expanding=True)))
    .cte("ends", recursive=True)
)
_ends = _ends.union_all(
    select(_ends.c.head, _t.turn_id, _t.parent_id, _t.depth, _ends.c.steps + 1).where(
        _t.turn_id == _ends.c.parent_id, _t.depth < _ends.c.depth, _ends.c.steps < bindparam("furthest")
    )
)
WAYS_BACK = select(_ends.c.head, _ends.c.turn_id).order_by(_ends.c.head, _ends.c.depth)
"""The last few turns before each of some heads."""
LINES_OF_TURNS = (
    select(
        *(column for column in _m if column.name != "text"),
        func.substr(_m.text, 1, bindparam("letters")).label("text"),
    )
    .where(_m.turn_id.in_(bindparam("turns", expanding=True)))
    .order_by(_m.turn_id, _m.ordinal)
)
"""What some turns say and change, in one read; of long lines only the beginning."""

KEEP_SUMMARY = add_or_change(SUMMARIES, {"summary": bindparam("new_summary")})
_line = (
    select(_t.turn_id, _t.parent_id, _t.depth, literal(0).label("steps"))
    .where(_this_turn)
    .cte("line_up", recursive=True)
)
_line = _line.union_all(
    select(_t.turn_id, _t.parent_id, _t.depth, _line.c.steps + 1).where(
        _t.turn_id == _line.c.parent_id, _t.depth < _line.c.depth, _line.c.steps < bindparam("within")
    )
)
NEAREST_SUMMARY = (
    select(SUMMARIES.c.turn_id, SUMMARIES.c.summary)
    .join(_line, _line.c.turn_id == SUMMARIES.c.turn_id)
    .order_by(_line.c.steps)
    .limit(1)
)
"""The summary of the nearest turn at or above a turn, so many steps up at most."""

KEEP_WORLD = add_or_change(WORLD_RECORDS, None)
NEAREST_WORLD = (
    select(WORLD_RECORDS.c.turn_id, WORLD_RECORDS.c.record)
    .join(_line, _line.c.turn_id == WORLD_RECORDS.c.turn_id)
    .order_by(_line.c.steps)
    .limit(1)
)
"""What followers made of the world after the nearest turn at or above a turn, so many steps up at most."""
