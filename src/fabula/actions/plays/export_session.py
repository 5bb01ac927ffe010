"""Write a play down in a file to be read elsewhere: one line of turns, from the beginning to where it ends.

1. The lines are read in portions, each in a unit of its own: what a line of turns says does not change. What is too
   long for one file is written in parts, each beginning behind the last turn of the one before.
2. A thread puts them into chapters by the scenes that were entered on the way, and writes the file.
3. It waits for half an hour to be downloaded by whoever asked for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import play_of, read_state, state_at, stored_state_at
from fabula.actions.plays.reached_turns import completed_turn_of
from fabula.actions.repositories import ALL_STORIES, SESSIONS, checked_name
from fabula.actions.views import Command, View
from fabula.formats.play_texts.document import Chapter, LineKind, PlayDocument, WrittenLine, WrittenTurn
from fabula.formats.play_texts.writers import WRITERS, PlayFormat, play_file_name, write_play
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.plays import SpokenMessage, TurnMark
from fabula.ports.store import Unit, Upload
from fabula.ports.threads import run_in_thread
from fabula.story.plays import PlayState, SceneMark
from fabula.story.values import JsonObject, Value

EXPORT_LIFETIME_MS = 30 * 60 * 1000
PORTION = 500
MOST_LETTERS = 5_000_000
"""Some ten novels; while it is written, a play takes several times its letters of memory."""
MOST_TURNS = 20_000
"""Turns without many words take their time to be read, too."""
MOST_SCENE_READS = 1000


class ExportIncludes(Value):
    """What is written beside the lines: what characters only thought (authors), the choices that were on offer, and
    names and bookmarks of turns."""

    thoughts: bool = False
    choices: bool = False
    notes: bool = False


class ExportSession(Command):
    """`turn_id` writes the line that ends at that turn, which is the head unless told; with `after_turn_id` only what
    comes after that turn of the line. `in_parts` takes what one file holds, and refuses no play as too long."""

    format: PlayFormat
    turn_id: str | None = None
    after_turn_id: str | None = None
    in_parts: bool = False
    include: ExportIncludes = ExportIncludes()


class ExportPlace(Value):
    """Where a written play is downloaded from."""

    resource_id: str
    file_id: Literal["file"] = "file"


class SessionExportPrepared(View):
    """The file waits at `archive` for half an hour, for whoever asked for it. Where it is one of several parts and not
    the last, the next one is asked for with `goes_on_after` as its `after_turn_id`."""

    type: Literal["session_export_prepared"] = "session_export_prepared"
    export_id: str
    archive: ExportPlace
    file_name: str
    content_type: str
    size_bytes: int
    goes_on_after: str | None = None


@dataclass(frozen=True, kw_only=True)
class WrittenPlay:
    """A play as a file."""

    data: bytes
    file_name: str
    content_type: str
    goes_on_after: str | None = None


@allowed("player")
async def prepare_session_export(
    house: House, actor: Actor, session_id: str, command: ExportSession
) -> SessionExportPrepared:
    """Writes a play down as Markdown, a web page, plain text, a book or a chat; the file waits to be downloaded."""
    written = await write_session(house, actor, session_id, command)
    export_id = f"{session_id}.{command.format}.{actor.token_id or 'house'}"
    note: JsonObject = {
        "export_id": export_id,
        "session_id": session_id,
        "file_name": written.file_name,
        "content_type": written.content_type,
    }

    async def write(unit: Unit) -> None:
        await play_of(unit, actor, session_id)
        await unit.uploads.sweep()
        blob = await unit.blobs.put(written.data)
        upload = Upload(
            upload_id=_place_of(export_id),
            purpose="session_export",
            blob=blob,
            expires_at_ms=house.clock.now_ms() + EXPORT_LIFETIME_MS,
            note={**note, "token_id": actor.token_id or ""},
        )
        await unit.uploads.put(upload)

    await house.store.write(write)
    return SessionExportPrepared(
        export_id=export_id,
        archive=ExportPlace(resource_id=f"session_export:{export_id}"),
        file_name=written.file_name,
        content_type=written.content_type,
        size_bytes=len(written.data),
        goes_on_after=written.goes_on_after,
    )


@allowed("player")
async def give_session_export(house: House, actor: Actor, export_id: str) -> WrittenPlay:
    """Gives a written play out to whoever asked for it, as long as they reach the session."""
    async with house.store.reading() as unit:
        upload = await unit.uploads.get(_place_of(checked_name(export_id, "session export")))
        if (
            upload is None
            or upload.purpose != "session_export"
            or upload.note.get("export_id") != export_id
            or upload.note.get("token_id") != (actor.token_id or "")
        ):
            raise _no_export(export_id)
        await play_of(unit, actor, str(upload.note["session_id"]))
        data = None if upload.blob is None else await unit.blobs.get(upload.blob)
    if data is None:
        raise _no_export(export_id)
    return WrittenPlay(
        data=data, file_name=str(upload.note["file_name"]), content_type=str(upload.note["content_type"])
    )


@allowed("player")
async def write_session(house: House, actor: Actor, session_id: str, command: ExportSession) -> WrittenPlay:
    """A play as a file in a format."""
    if command.include.thoughts and not actor.sees_plans:
        actor.must_be("author", "Writing down what characters only think")
    # A long play takes much memory, and all that ask at once would take it together.
    async with house.exports.turn_of(actor):
        found = await _gather(house, actor, session_id, command)
        async with house.long_texts.turn_of(actor):
            data = await run_in_thread(lambda: write_play(_document(found), command.format))
    return WrittenPlay(
        data=data,
        file_name=play_file_name(found.title, command.format),
        content_type=WRITERS[command.format].media_type,
        goes_on_after=found.goes_on_after,
    )


def _place_of(export_id: str) -> str:
    """Where a file waits: one for each format and reader, whatever the play, so that nobody fills the store.

    The next one takes the place of the last, whose id is then known no more.
    """
    return f"session_export.{export_id.partition('.')[2]}"


def _no_export(export_id: str) -> NotFound:
    return NotFound(f"There is no session export named '{export_id}', or it has expired. Prepare it again.")


@dataclass(kw_only=True)
class _Gathered:
    """All that is read of a play before it is written."""

    session_id: str
    title: str
    story: str
    introduction: str
    end: str
    state: PlayState
    written_at_ms: int
    lines: list[SpokenMessage] = field(default_factory=list)
    scenes: Sequence[SceneMark] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, TurnMark] = field(default_factory=dict)
    thoughts: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    offered: dict[str, list[str]] = field(default_factory=dict)
    after: str | None = None
    goes_on_after: str | None = None


async def _gather(house: House, actor: Actor, session_id: str, command: ExportSession) -> _Gathered:
    include = command.include
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        turn = await completed_turn_of(unit, actor, play, command.turn_id)
        end = play.head_turn_id if turn is None else turn.turn_id
        after = await _last_line_until(unit, end, command.after_turn_id)
        session = await SESSIONS.get(unit, session_id)
        story = await ALL_STORIES.find(unit, session.story_id)
        found = _Gathered(
            session_id=session_id,
            title=session.display_name,
            story="" if story is None else story.display_name,
            introduction="" if story is None or after is not None else story.introduction,
            end=end,
            state=await state_at(unit, end),
            written_at_ms=house.clock.now_ms(),
            after=command.after_turn_id,
        )
        found.scenes = await _scenes(unit, end, found.state)
        found.titles = await kind_of_play(found.state).scene_titles(house, unit, found.state)
        if include.notes:
            found.marks = {mark.turn_id: mark for mark in await unit.plays.marks(play.tree_id)}
    found.lines, found.goes_on_after = await _lines(house, end, after, in_parts=command.in_parts)
    if found.lines and (found.after or found.goes_on_after):
        found.title += f" ({found.lines[0].turn_index}-{found.lines[-1].turn_index})"
    # Only Ink stories offer choices.
    choices = include.choices and found.state.ink is not None
    if include.thoughts or choices:
        await _read_results(house, found, thoughts=include.thoughts, choices=choices)
    return found


def _document(found: _Gathered) -> PlayDocument:
    return PlayDocument(
        session_id=found.session_id,
        title=found.title,
        story=found.story,
        introduction=found.introduction,
        player=found.state.player_name,
        begun_at_ms=found.lines[0].recorded_at_ms if found.lines else 0,
        written_at_ms=found.written_at_ms,
        chapters=_chapters(found),
    )


async def _last_line_until(unit: Unit, end: str, turn_id: str | None) -> str | None:
    """The last line that is not to be written, where the line of turns begins behind a turn."""
    if turn_id is None:
        return None
    if not await unit.plays.on_line(end, [checked_name(turn_id, "turn")]):
        raise InvalidRequest(f"The turn '{turn_id}' (`after_turn_id`) is not on the line that is written.")
    last = await unit.plays.transcript(turn_id, last=1)
    return last[-1].message_id if last else None


async def _lines(
    house: House, end: str, after: str | None, *, in_parts: bool
) -> tuple[list[SpokenMessage], str | None]:
    """Every line behind another, read in portions so that others are not held up; and, where they are too many for
    one file, the turn after which they go on."""
    found: list[SpokenMessage] = []
    turns, letters = set[str](), 0
    while True:
        async with house.store.reading() as unit:
            last = found[-1].message_id if found else after
            part = await unit.plays.lines_after(end, last, limit=PORTION) or []
            for line in part:
                letters += len(line.text)
                turns.add(line.turn_id)
                found.append(line)
                if letters <= MOST_LETTERS and len(turns) <= MOST_TURNS:
                    continue
                if not in_parts:
                    raise _too_long(f"{MOST_LETTERS:,} letters" if letters > MOST_LETTERS else f"{MOST_TURNS:,} turns")
                # A turn that no file holds is a part of its own: without it a play could not be told to its end.
                if whole := _whole_turns(found):
                    return whole, await _last_turn_before(unit, found[len(whole)])
        if len(part) < PORTION:
            return found, None


def _too_long(most: str) -> InvalidRequest:
    return InvalidRequest(
        f"This play is too long for one file of {most}. Ask for it in parts: `in_parts`, and for each next one "
        "`after_turn_id`."
    )


def _whole_turns(lines: Sequence[SpokenMessage]) -> list[SpokenMessage]:
    """Those before the turn of the last line, of which there may be more."""
    return list(takewhile(lambda line: line.turn_id != lines[-1].turn_id, lines))


async def _last_turn_before(unit: Unit, line: SpokenMessage) -> str:
    """The last turn that says nothing from this line on, which is the first one of its turn there.

    A line that was added by hand names the turn at whose end it was added, and is told by the change that follows that
    turn. So what goes on is not found by the turn of the last line that was written, which would tell such lines again.
    """
    turn_id = line.turn_id
    while (last := await unit.plays.transcript(turn_id, last=1)) and last[-1].sequence >= line.sequence:
        turn = await unit.plays.turn(turn_id)
        assert turn is not None and turn.parent_id is not None, "before this line others are told"
        turn_id = turn.parent_id
    return turn_id


async def _scenes(unit: Unit, end: str, state: PlayState) -> Sequence[SceneMark]:
    """All scenes on the way to a turn. A state remembers the last ones; the state before those remembers more."""
    found = deque(state.scenes)
    for _ in range(MOST_SCENE_READS):
        if not state.earlier_scenes or not state.scenes or state.scenes[0].turn_index == 0:
            break
        turn = await unit.plays.ancestor(end, state.scenes[0].turn_index - 1)
        # A state that holds much takes a moment to be read, and there may be very many.
        state = await run_in_thread(read_state, await stored_state_at(unit, turn.turn_id), turn.turn_id)
        first = found[0].turn_index
        found.extendleft(mark for mark in reversed(state.scenes) if mark.turn_index < first)
    return found


async def _read_results(house: House, found: _Gathered, *, thoughts: bool, choices: bool) -> None:
    """What the results of the turns know beyond the lines: thoughts, and the choices that came after each turn."""
    turn_ids = list(dict.fromkeys([*([found.after] if found.after else []), *(line.turn_id for line in found.lines)]))
    for start in range(0, len(turn_ids), 50):
        async with house.store.reading() as unit:
            for turn_id in turn_ids[start : start + 50]:
                result = await unit.plays.result(turn_id)
                if choices:
                    told = result or _waiting(await stored_state_at(unit, turn_id))
                    found.offered[turn_id] = _choices(told)
                if thoughts and result is not None:
                    found.thoughts[turn_id] = _thoughts(result)


def _waiting(state: JsonObject) -> JsonObject:
    """What an Ink story waited for after a turn that kept no result. A whole state is not read for so little."""
    ink = state.get("ink")
    return {"ink": ink.get("waiting") if isinstance(ink, dict) else None}


def _choices(result: Mapping[str, object]) -> list[str]:
    """The choices that a turn of an Ink story ended with; stored results are plain JSON, and may be old."""
    ink = result.get("ink")
    choices = ink.get("choices") if isinstance(ink, dict) else None
    return [str(one["text"]) for one in choices if isinstance(one, dict) and "text" in one] if choices else []


def _thoughts(result: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """Who thought what: id, name and thought."""
    found: list[tuple[str, str, str]] = []
    beats = result.get("completed_beats")
    for beat in beats if isinstance(beats, list) else []:
        response = beat.get("response") if isinstance(beat, dict) else None
        segments = response.get("segments") if isinstance(response, dict) else None
        for segment in segments if isinstance(segments, list) else []:
            if isinstance(segment, dict) and segment.get("kind") == "thought":
                assert isinstance(response, dict)
                speaker = (str(response.get("speaker_id", "")), str(response.get("speaker_name", "")))
                found.append((*speaker, str(segment.get("text", ""))))
    return found


def _chapters(found: _Gathered) -> list[Chapter]:
    """The turns, cut where scenes begin: behind the player's words that led there."""
    scenes = deque(mark for mark in found.scenes if found.titles.get(mark.node_id))
    chapters: list[Chapter] = []
    title, turns = "", list[WrittenTurn]()
    offered: Sequence[str] = found.offered.get(found.after, ()) if found.after else ()
    for turn_index, group in groupby(found.lines, key=lambda line: line.turn_index):
        lines = list(group)
        entered = list[SceneMark]()
        while scenes and scenes[0].turn_index <= turn_index:
            entered.append(scenes.popleft())
        if entered:
            words = list(takewhile(lambda line: line.kind == "player_input", lines))
            if turns and words and entered[-1].turn_index == turn_index:
                turns.append(_turn(found, turn_index, words, offered))
                lines, offered = lines[len(words) :], ()
            if turns:
                chapters.append(Chapter(title=title, turns=turns))
            title, turns = found.titles[entered[-1].node_id], []
        if lines:
            turns.append(_turn(found, turn_index, lines, offered))
            offered = found.offered.get(lines[0].turn_id, ())
    return [*chapters, Chapter(title=title, turns=turns)] if turns else chapters


def _turn(found: _Gathered, turn_index: int, lines: Sequence[SpokenMessage], offered: Sequence[str]) -> WrittenTurn:
    turn_ids = dict.fromkeys(line.turn_id for line in lines)
    marks = [found.marks[turn_id] for turn_id in turn_ids if turn_id in found.marks]
    thoughts: dict[int, list[WrittenLine]] = {}
    told = [] if all(line.kind == "player_input" for line in lines) else list(turn_ids)
    for speaker_id, name, thought in (one for turn_id in told for one in found.thoughts.get(turn_id, ())):
        # A thought stands before the first thing that its thinker does or says in the turn.
        place = next((at for at, line in enumerate(lines) if line.speaker_id == speaker_id), len(lines))
        thoughts.setdefault(place, []).append(WrittenLine(kind="thought", speaker=name, text=thought))
    written = [one for at, line in enumerate(lines) for one in (*thoughts.get(at, ()), _line(line))]
    written += thoughts.get(len(lines), [])
    note = "; ".join(mark.name or "bookmark" for mark in marks)
    return WrittenTurn(turn_index=turn_index, lines=written, note=note, offered=offered)


def _line(line: SpokenMessage) -> WrittenLine:
    kind: LineKind = line.kind
    return WrittenLine(kind=kind, speaker=line.speaker_name, text=line.text, recorded_at_ms=line.recorded_at_ms)
