/** Lines of a transcript as turns on the page, and the window of turns that is shown. Pure. */

import { PLAYER, type LiveTurn, type Note, type Part, type Piece } from "./frames";

/** A line as the server keeps it, as far as the page needs it. */
export interface Line {
  message_id: string;
  kind: string;
  turn_index: number;
  speaker_id: string;
  speaker_name: string;
  text: string;
  turn_id: string;
  created_at_ms: number;
  updated_at_ms: number;
  /** The words before they were corrected by hand; only where they were. */
  edited?: boolean;
}

/** A finished turn, as it stands on the page. Never changed: an edit makes another one. */
export interface Turn {
  turnId: string;
  turnIndex: number;
  said: { text: string; name: string; messageId: string; edited: boolean } | null;
  pieces: readonly Piece[];
  notes: readonly Note[];
  /** Words that did not belong into a talk stand faint. */
  strayed: boolean;
  lines: readonly Line[];
}

/** Turns in the order of their lines. */
export function turnsOf(lines: readonly Line[]): Turn[] {
  const turns: Line[][] = [];
  for (const line of lines) {
    const last = turns.at(-1);
    if (last !== undefined && last[0]?.turn_id === line.turn_id) last.push(line);
    else turns.push([line]);
  }
  return turns.map(turnOfLines);
}

function turnOfLines(lines: readonly Line[]): Turn {
  const [first] = lines;
  const own = lines.find((line) => line.kind === "player_input");
  return {
    turnId: first?.turn_id ?? "",
    turnIndex: first?.turn_index ?? 0,
    said: own === undefined ? null : saidIn(own),
    pieces: piecesOf(lines),
    notes: [],
    strayed: false,
    lines,
  };
}

function saidIn(line: Line): NonNullable<Turn["said"]> {
  return { text: line.text, name: line.speaker_name, messageId: line.message_id, edited: isEdited(line) };
}

export function isEdited(line: Line): boolean {
  return line.edited ?? line.updated_at_ms > line.created_at_ms;
}

/** What somebody says and does in a row stands together, as it was told. */
export function piecesOf(lines: readonly Line[]): Piece[] {
  const pieces: Piece[] = [];
  for (const line of lines) {
    if (line.kind === "player_input") continue;
    if (line.kind !== "dialogue" && line.kind !== "action") {
      pieces.push({ kind: "narration", key: line.message_id, text: line.text, done: true, messageId: line.message_id });
      continue;
    }
    const part: Part = { kind: line.kind, text: line.text, messageId: line.message_id };
    const last = pieces.at(-1);
    if (last?.kind === "speech" && last.speakerId === line.speaker_id)
      pieces[pieces.length - 1] = { ...last, parts: [...last.parts, part] };
    else
      pieces.push({
        kind: "speech",
        key: line.message_id,
        speakerId: line.speaker_id,
        speaker: line.speaker_name,
        parts: [part],
        done: true,
      });
  }
  return pieces;
}

/** A turn that was told to its end while we watched. */
export function turnOfLive(live: LiveTurn): Turn {
  return {
    turnId: live.turnId,
    turnIndex: live.turnIndex ?? 0,
    said: live.said === "" ? null : { text: live.said, name: "", messageId: "", edited: false },
    pieces: live.pieces,
    notes: live.notes,
    strayed: live.outcome?.outcome === "INVALID_INPUT",
    lines: [],
  };
}

/** The turn with the lines that the server kept of it. What was seen only live (notes, thoughts, scenes) stays, and so
 *  do the keys, so that nothing on the page is drawn anew; where both do not fit, the lines are right. */
export function withLines(turn: Turn, lines: readonly Line[]): Turn {
  const kept = turnOfLines(lines);
  const told = linesWithoutRolls(lines, turn.notes);
  const plain: Turn = { ...kept, pieces: piecesOf(told), notes: turn.notes, strayed: turn.strayed };
  const waiting = told.filter((line) => line.kind !== "player_input");
  const pieces: Piece[] = [];
  for (const piece of turn.pieces) {
    if (piece.kind === "narration") {
      const line = waiting.shift();
      if (line === undefined) return plain;
      const { tags, ...untagged } = piece;
      // Tags are those of the lines as they were told.
      pieces.push({ ...untagged, ...(tags !== undefined && line.text === piece.text ? { tags } : {}), text: line.text, done: true, messageId: line.message_id });
    } else if (piece.kind === "speech") {
      const parts: Part[] = [];
      for (const part of piece.parts) {
        const line = part.kind === "thought" ? undefined : waiting.shift();
        if (part.kind !== "thought" && (line === undefined || line.kind !== part.kind)) return plain;
        parts.push(line === undefined ? part : { kind: part.kind, text: line.text, messageId: line.message_id });
      }
      pieces.push({ ...piece, parts, done: true });
    } else pieces.push(piece);
  }
  if (waiting.length > 0) return plain;
  return { ...turn, said: kept.said, pieces, lines, turnIndex: kept.turnIndex };
}

/** A roll is a line of the transcript, the first of the player's after their words; the page shows it as what it is. */
export function linesWithoutRolls(lines: readonly Line[], notes: readonly Note[]): Line[] {
  let rolls = notes.filter((note) => note.kind === "rolled" && note.resolution !== null).length;
  return lines.filter((line) => {
    const isRoll = rolls > 0 && line.kind === "action" && line.speaker_id === PLAYER;
    if (isRoll) rolls -= 1;
    return !isRoll;
  });
}

export const AT_FIRST = 60;
export const MORE = 40;
export const MOST = 240;

/** The part of a transcript that is on the page. */
export interface Window {
  turns: readonly Turn[];
  hasOlder: boolean;
  hasNewer: boolean;
}

export const EMPTY_WINDOW: Window = { turns: [], hasOlder: false, hasNewer: false };

/** Older turns come in at the top; where there are too many, the far end goes. */
export function withOlder(window: Window, older: readonly Turn[], hasOlder: boolean): Window {
  const joined = join(older, window.turns);
  const turns = joined.slice(0, MOST);
  return { turns, hasOlder, hasNewer: window.hasNewer || turns.length < joined.length };
}

export function withNewer(window: Window, newer: readonly Turn[], hasNewer: boolean): Window {
  const joined = join(window.turns, newer);
  const turns = joined.slice(-MOST);
  return { turns, hasNewer, hasOlder: window.hasOlder || turns.length < joined.length };
}

/** A page of lines may cut a turn in two; its halves are one turn again. */
function join(older: readonly Turn[], newer: readonly Turn[]): Turn[] {
  const [last, first] = [older.at(-1), newer[0]];
  if (last === undefined || first === undefined || last.turnId !== first.turnId) return [...older, ...newer];
  const whole = turnOfLines([...last.lines, ...first.lines.filter((line) => !last.lines.some((own) => own.message_id === line.message_id))]);
  return [...older.slice(0, -1), whole, ...newer.slice(1)];
}

/** The window up to a turn, without it: another telling of it comes in its place. */
export function before(window: Window, turnId: string): Window {
  const at = window.turns.findIndex((turn) => turn.turnId === turnId);
  return at < 0 ? window : { ...window, turns: window.turns.slice(0, at), hasNewer: false };
}

export function withTurn(window: Window, turn: Turn): Window {
  const at = window.turns.findIndex((one) => one.turnId === turn.turnId);
  if (at < 0) return { ...window, turns: [...window.turns, turn].slice(-MOST) };
  return { ...window, turns: window.turns.map((one, n) => (n === at ? turn : one)) };
}

function sameLines(one: readonly Line[], other: readonly Line[]): boolean {
  return (
    one.length === other.length &&
    one.every((line, n) => line.message_id === other[n]?.message_id && line.text === other[n]?.text && line.updated_at_ms === other[n]?.updated_at_ms)
  );
}

/** The window with the newest turns as the server has them; what was seen live of them stays. */
export function refreshed(window: Window, newest: readonly Turn[], hasOlder: boolean): Window {
  const known = new Map(window.turns.map((turn) => [turn.turnId, turn]));
  const fresh = newest.map((turn) => {
    const before = known.get(turn.turnId);
    if (before === undefined) return turn;
    // A turn that reads as before stays the same object, so that nothing of it is drawn again.
    return sameLines(before.lines, turn.lines) ? before : withLines(before, turn.lines);
  });
  const first = window.turns.findIndex((turn) => turn.turnId === newest[0]?.turnId);
  if (first < 0 || newest.length === 0) return { turns: fresh, hasOlder, hasNewer: false };
  // The first of the newest may have lost its beginning to the page's limit.
  const whole = window.turns[first];
  const head = whole !== undefined && (newest[0]?.lines.length ?? 0) < whole.lines.length && newest.length > 1 ? [whole] : fresh.slice(0, 1);
  const turns = [...window.turns.slice(0, first), ...head, ...fresh.slice(1)].slice(-MOST);
  return { turns, hasOlder: first > 0 ? window.hasOlder : hasOlder, hasNewer: false };
}
