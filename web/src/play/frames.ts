/** What a turn's frames add up to: `reduce(live, told)` is pure, and the same frames always give the same turn.
 *
 *  1. A frame that was seen before changes nothing, so that a resumed stream may overlap.
 *  2. A turn told anew after a crash (`turn_…~2`) starts over: what was shown of the first attempt does not count.
 *  3. `completed` replaces what was streamed; if its frames were forgotten meanwhile, the last one alone is enough. */

import type {
  AgentOutcome,
  CheckAsked,
  CompletedActorBeat,
  CompletedNarratorBeat,
  ErrorPayload,
  InkChoiceView,
  InkInput,
  InkTurnResult,
  Json,
  Resolution,
  SceneTurnResult,
  Segment,
  StreamEvent,
  StreamFrame,
  WorldState,
} from "../protocol/protocol.gen";
import type { Told } from "../protocol/sse";

export type { Told };

/** A part of what somebody says; `messageId` is there once the line is kept. */
export interface Part {
  kind: Segment["kind"];
  text: string;
  messageId?: string;
}

/** What stands on the page, in order. `key` stays the same while a piece grows. */
export type Piece =
  | { kind: "narration"; key: string; text: string; done: boolean; messageId?: string; /** Of each line of an Ink story. */ tags?: readonly (readonly string[])[] }
  | { kind: "speech"; key: string; speakerId: string; speaker: string; parts: readonly Part[]; done: boolean }
  | { kind: "scene"; key: string; nodeId: string }
  | { kind: "direction"; key: string; way: "enters" | "leaves"; name: string }
  | { kind: "end"; key: string; title: string };

export type Scope = "world" | "player" | "character";

/** A variable that changed: whose it is, and who changed it. */
export interface Change {
  scope: Scope;
  owner: string;
  name: string;
  from: Json | undefined;
  to: Json | undefined;
}

/** Who changed a variable: the keeper before or after the turn, a scene that was entered, an Ink story, dice, or a hand. */
export type ChangedBy = "after_player_input" | "after_turn_outputs" | "entering" | "story" | "dice" | "hand";

/** What stands in the margin; `at` is the key of the piece beside it, empty for the player's words. */
export type Note =
  | { kind: "changed"; at: string; by: ChangedBy; change: Change }
  | { kind: "refused"; at: string; about: string; reason: string }
  | { kind: "helped"; at: string; agent: string; reason: string; standIn: string }
  | Rolled
  | { kind: "flashback"; at: string; text: string }
  | { kind: "wish"; at: string };

/** A roll for what the player does: asked for, then decided. It stands beside the player's words. */
export interface Rolled {
  kind: "rolled";
  at: "";
  checkId: string;
  stat: string;
  target: number | null;
  /** Null until the dice lie. */
  resolution: Resolution | null;
  /** As the transcript tells it; empty for a roll that is read again later. */
  sentence: string;
}

/** Who rolls, in lines of the transcript. */
export const PLAYER = "player";

export interface LiveTurn {
  status: "sending" | "telling" | "completed" | "failed";
  turnId: string;
  /** The turn's id with the number of its attempt, as ids of frames begin. */
  attempt: string;
  lastId: string;
  sequence: number;
  turnIndex: number | null;
  said: string;
  /** The character that the words are said to, in a talk. */
  talkingTo: string;
  pieces: readonly Piece[];
  notes: readonly Note[];
  /** Who speaks just now; "narrator" while it is told. */
  speaking: string;
  outcome: AgentOutcome | null;
  choices: readonly InkChoiceView[];
  input: InkInput | null;
  ended: boolean;
  state: WorldState | null;
  result: SceneTurnResult | InkTurnResult | null;
  error: ErrorPayload | null;
  /** The state before the turn, for a turn that is told anew. */
  origin: WorldState | null;
}

/** A turn of which nothing was told yet. */
export function beginTurn(said: string, state: WorldState | null, talkingTo = ""): LiveTurn {
  return {
    status: "sending",
    turnId: "",
    attempt: "",
    lastId: "",
    sequence: -1,
    turnIndex: null,
    said,
    talkingTo,
    pieces: [],
    notes: [],
    speaking: "",
    outcome: null,
    choices: [],
    input: null,
    ended: false,
    state,
    result: null,
    error: null,
    origin: state,
  };
}

export function reduce(live: LiveTurn, told: Told): LiveTurn {
  const attempt = told.id.split(":", 1)[0] ?? "";
  const turnId = attempt.split("~", 1)[0] ?? "";
  if (attempt !== live.attempt) {
    if (turnId === live.turnId && attemptNumber(attempt) < attemptNumber(live.attempt)) return live;
    live = { ...beginTurn(live.said, live.origin, live.talkingTo), attempt, turnId };
  } else if (told.sequence <= live.sequence) return live;
  return { ...withFrame(live, told.frame), lastId: told.id, sequence: told.sequence };
}

/** The turn after all of these frames, in their order. */
export function reduceAll(live: LiveTurn, told: readonly Told[]): LiveTurn {
  return told.reduce(reduce, live);
}

function attemptNumber(attempt: string): number {
  return Number(attempt.split("~")[1] ?? "1");
}

function withFrame(live: LiveTurn, frame: StreamFrame): LiveTurn {
  switch (frame.type) {
    case "started":
      return live;
    case "event":
      return withEvent(live, frame.body);
    case "completed":
      return settle(live, frame.response.result);
    case "failed":
      return { ...live, status: "failed", speaking: "", error: frame.error };
    default:
      return live; // A kind of frame that this page does not know yet.
  }
}

function withEvent(live: LiveTurn, event: StreamEvent): LiveTurn {
  switch (event.type) {
    case "turn_started":
      return { ...live, status: "telling", said: event.player_input, turnIndex: event.next_turn_index };
    case "player_input_recorded":
      return { ...live, state: event.snapshot.world_state };
    case "keeper_applied":
      return withState(live, event.snapshot.world_state, event.phase);
    case "state_op_refused":
      return withNote(live, { kind: "refused", at: lastKey(live), about: nameOfOperation(event.op), reason: event.reason });
    case "check_asked":
      return withRoll(live, askedRoll(event));
    case "check_resolved":
      return withRoll(live, { ...rolledOf(event.resolution), sentence: event.sentence });
    case "wish_left":
      return withNote(live, { kind: "wish", at: "" });
    case "flashback":
      return withNote(live, { kind: "flashback", at: "", text: event.text });
    case "director_completed": {
      const moved = event.result.transitioned ? withScene(live, event.result.current_node_id) : live;
      return withState(moved, event.snapshot.world_state, "entering");
    }
    case "session_character_created":
      return withState(live, event.snapshot.world_state, "entering");
    case "session_character_entered_scene":
    case "session_character_left_scene": {
      const way = event.type === "session_character_entered_scene" ? "enters" : "leaves";
      const key = `${way}:${event.session_character_id}:${live.pieces.length}`;
      const direction: Piece = { kind: "direction", key, way, name: event.session_character_id };
      return withState(withPiece(live, direction), event.snapshot.world_state, "entering");
    }
    case "narrator_started":
      return withPiece({ ...live, speaking: "narrator" }, narration(event.beat_index, "", false));
    case "narrator_text_delta":
      return grow(live, narration(event.beat_index, "", false), (piece) =>
        piece.kind === "narration" ? { ...piece, text: piece.text + event.delta } : piece,
      );
    case "narrator_completed":
      return { ...withPiece(live, narration(event.beat_index, event.response.text, true)), speaking: "" };
    case "actor_started":
      return withPiece({ ...live, speaking: event.speaker_id }, speech(event.beat_index, event.speaker_id));
    case "actor_thought_delta":
      return event.delta === "" ? live : speak(live, event.beat_index, event.speaker_id, "thought", event.delta);
    case "actor_dialogue_delta":
      return speak(live, event.beat_index, event.speaker_id, "dialogue", event.delta);
    case "actor_action_complete":
      return grow(live, speech(event.beat_index, event.speaker_id), (piece) =>
        piece.kind === "speech" ? { ...piece, parts: [...piece.parts, { kind: "action", text: event.text }] } : piece,
      );
    case "actor_completed":
      return { ...withPiece(live, pieceOfBeat({ ...event, type: "actor" })), speaking: "" };
    case "agent_degraded":
      return withNote(live, {
        kind: "helped",
        at: lastKey(live),
        agent: event.agent,
        reason: event.reason,
        standIn: event.stand_in ?? "",
      });
    case "agent_reply_delta":
      return withReplyDelta(live, event.character, event.delta);
    case "agent_outcome":
      return withOutcome(live, event);
    case "ink_text":
      return withLine(live, event.text, event.tags);
    case "ink_choices":
      return { ...live, choices: event.choices };
    case "ink_input_requested":
      return { ...live, input: inputOf(event) };
    case "story_ended":
      return { ...withPiece(live, { kind: "end", key: "end", title: event.title ?? "" }), ended: true };
    case "generated_text": // The line in which it stands follows.
    case "progress":
      return live;
    default:
      return live; // An event that this page does not know yet.
  }
}

// ---- pieces

function narration(beat: number, text: string, done: boolean): Piece & { kind: "narration" } {
  return { kind: "narration", key: `beat:${beat}`, text, done };
}

function speech(beat: number, speakerId: string): Piece & { kind: "speech" } {
  return { kind: "speech", key: `beat:${beat}`, speakerId, speaker: "", parts: [], done: false };
}

function pieceOfBeat(beat: CompletedNarratorBeat | CompletedActorBeat): Piece {
  if (beat.type === "narrator") return narration(beat.beat_index, beat.response.text, true);
  const { speaker_name: speaker, segments } = beat.response;
  const parts = segments.filter((one) => one.text !== "").map(({ kind, text }) => ({ kind, text }));
  return { ...speech(beat.beat_index, beat.speaker_id), speaker, parts, done: true };
}

/** Puts a piece where one of its key stands, else at the end. */
function withPiece(live: LiveTurn, piece: Piece): LiveTurn {
  const at = live.pieces.findIndex((one) => one.key === piece.key);
  return { ...live, pieces: at < 0 ? [...live.pieces, piece] : live.pieces.map((one, n) => (n === at ? piece : one)) };
}

/** Changes the piece with this key, which may have to be begun: its first frame may have been missed. */
function grow(live: LiveTurn, begun: Piece, change: (piece: Piece) => Piece): LiveTurn {
  return withPiece(live, change(live.pieces.find((one) => one.key === begun.key) ?? begun));
}

function speak(live: LiveTurn, beat: number, speakerId: string, kind: Part["kind"], delta: string): LiveTurn {
  return grow(live, speech(beat, speakerId), (piece) => {
    if (piece.kind !== "speech") return piece;
    const last = piece.parts.at(-1);
    const parts =
      last?.kind === kind
        ? [...piece.parts.slice(0, -1), { kind, text: last.text + delta }]
        : [...piece.parts, { kind, text: delta }];
    return { ...piece, parts };
  });
}

function withScene(live: LiveTurn, nodeId: string): LiveTurn {
  return withPiece(live, { kind: "scene", key: `scene:${nodeId}`, nodeId });
}

function lastKey(live: LiveTurn): string {
  return live.pieces.at(-1)?.key ?? "";
}

// ---- Ink

/** What the story answers in a talk; in a `continue` nobody in particular speaks. */
function replyPiece(character: string, text: string, done: boolean): Piece {
  if (character === "") return { kind: "narration", key: "reply", text, done };
  const parts: Part[] = [{ kind: "dialogue", text }];
  return { kind: "speech", key: "reply", speakerId: character, speaker: character, parts, done };
}

function withReplyDelta(live: LiveTurn, character: string, delta: string): LiveTurn {
  const begun = live.pieces.find((one) => one.key === "reply");
  const before = begun?.kind === "narration" ? begun.text : begun?.kind === "speech" ? (begun.parts[0]?.text ?? "") : "";
  return withPiece({ ...live, speaking: character || "narrator" }, replyPiece(character, before + delta, false));
}

function withOutcome(live: LiveTurn, outcome: AgentOutcome): LiveTurn {
  const begun = live.pieces.find((one) => one.key === "reply");
  const character = begun?.kind === "speech" ? begun.speakerId : live.talkingTo;
  let next: LiveTurn = { ...live, outcome, speaking: "" };
  if (outcome.reply !== "") next = withPiece(next, replyPiece(character, outcome.reply, true));
  else if (begun !== undefined) next = { ...next, pieces: next.pieces.filter((one) => one !== begun) };
  const bridge = outcome.bridge_text ?? "";
  return bridge === "" ? next : withPiece(next, { kind: "narration", key: "bridge", text: bridge, done: true });
}

/** A line of an Ink story; lines stand together as paragraphs, as the transcript keeps them. */
function withLine(live: LiveTurn, text: string, tags: readonly string[]): LiveTurn {
  return grow(live, { kind: "narration", key: "lines", text: "", done: true }, (piece) =>
    piece.kind !== "narration"
      ? piece
      : piece.text === ""
        ? { ...piece, text, tags: [tags] }
        : { ...piece, text: `${piece.text}\n\n${text}`, tags: [...(piece.tags ?? []), tags] },
  );
}

function inputOf(asked: { kind: InkInput["kind"]; placeholder?: string | null; character?: string | null }): InkInput {
  const input: InkInput = { kind: asked.kind };
  if (asked.placeholder) input.placeholder = asked.placeholder;
  if (asked.character) input.character = asked.character;
  return input;
}

// ---- the end of a turn

function settle(live: LiveTurn, result: SceneTurnResult | InkTurnResult): LiveTurn {
  const told = "ink" in result ? settleInk(live, result) : settleScene(live, result);
  const by: ChangedBy = "ink" in result ? "story" : "after_turn_outputs";
  return {
    ...withState(told, result.snapshot.world_state, by),
    status: "completed",
    turnId: result.turn_id,
    turnIndex: result.turn_index,
    said: result.player_input,
    speaking: "",
    result,
  };
}

function settleScene(live: LiveTurn, result: SceneTurnResult): LiveTurn {
  const beats = new Map(result.completed_beats.map((beat) => [`beat:${beat.beat_index}`, pieceOfBeat(beat)]));
  const pieces: Piece[] = [];
  for (const piece of live.pieces) {
    const whole = beats.get(piece.key);
    beats.delete(piece.key);
    if (whole !== undefined) pieces.push(whole);
    else if (!piece.key.startsWith("beat:")) pieces.push(piece);
  }
  const end = pieces.findIndex((piece) => piece.kind === "end");
  pieces.splice(end < 0 ? pieces.length : end, 0, ...beats.values());
  const { transitioned, current_node_id: nodeId } = result.director;
  if (transitioned && !pieces.some((piece) => piece.kind === "scene"))
    pieces.unshift({ kind: "scene", key: `scene:${nodeId}`, nodeId });
  const rolls = (result.resolutions ?? []).map(rolledOf).filter((one) => !live.notes.some((note) => note.kind === "rolled" && note.checkId === one.checkId && note.resolution !== null));
  return rolls.reduce(withRoll, { ...live, pieces });
}

function settleInk(live: LiveTurn, result: InkTurnResult): LiveTurn {
  const { lines, choices, input, ended, outcome } = result.ink;
  let next: LiveTurn = { ...live, choices, input, ended };
  if (outcome) next = withOutcome(next, { type: "agent_outcome", ...outcome });
  const text = lines.map((line) => line.text).join("\n\n");
  if (text !== "") next = withPiece(next, { kind: "narration", key: "lines", text, done: true, tags: lines.map((line) => line.tags) });
  return ended ? withPiece(next, { kind: "end", key: "end", title: "" }) : next;
}

// ---- dice

function askedRoll({ check_id: checkId, stat, target }: CheckAsked): Rolled {
  return { kind: "rolled", at: "", checkId, stat, target: target ?? null, resolution: null, sentence: "" };
}

/** What the dice decided, as a note. */
export function rolledOf(resolution: Resolution): Rolled {
  const { check, target } = resolution;
  return { kind: "rolled", at: "", checkId: check.check_id, stat: check.skill ?? check.stat ?? "", target, resolution, sentence: "" };
}

/** A change that a roll made stands beside the roll; what it was before may be the game system's own default. */
export function diced(note: Extract<Note, { kind: "changed" }>, notes: readonly Note[]): Note {
  const { scope, owner, name, from } = note.change;
  if (note.by !== "entering" || scope === "world") return note;
  const who = scope === "player" ? PLAYER : owner;
  const effect = notes
    .flatMap((one) => (one.kind === "rolled" ? (one.resolution?.effects ?? []) : []))
    .find((one) => one.who === who && (one.kind === "track" ? one.name === name : name === "conditions"));
  return effect === undefined ? note : { ...note, at: "", by: "dice", change: { ...note.change, from: from ?? effect.before ?? undefined } };
}

/** Puts a roll where the one that was asked for stands. */
function withRoll(live: LiveTurn, rolled: Rolled): LiveTurn {
  const at = live.notes.findIndex((note) => note.kind === "rolled" && note.checkId === rolled.checkId);
  return at < 0 ? withNote(live, rolled) : { ...live, notes: live.notes.map((note, n) => (n === at ? rolled : note)) };
}

// ---- variables

function withNote(live: LiveTurn, note: Note): LiveTurn {
  return { ...live, notes: [...live.notes, note] };
}

function withState(live: LiveTurn, state: WorldState, by: ChangedBy): LiveTurn {
  const at = lastKey(live);
  const notes = changes(live.state, state).map((change): Note => diced({ kind: "changed", at, by, change }, live.notes));
  return { ...live, state, notes: notes.length > 0 ? [...live.notes, ...notes] : live.notes };
}

/** Which variables differ between two states; nothing where the earlier one is not known. */
export function changes(before: WorldState | null, after: WorldState): Change[] {
  if (before === null) return [];
  const found = [
    ...differences("world", "", before.custom, after.custom),
    ...differences("player", "", before.player_state, after.player_state),
  ];
  const owners = new Set([...Object.keys(before.character_state), ...Object.keys(after.character_state)]);
  for (const owner of owners)
    found.push(...differences("character", owner, before.character_state[owner] ?? {}, after.character_state[owner] ?? {}));
  return found;
}

type Variables = { [key: string]: Json };

function differences(scope: Scope, owner: string, before: Variables, after: Variables): Change[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => !sameJson(before[name], after[name]))
    .map((name) => ({ scope, owner, name, from: before[name], to: after[name] }));
}

export function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** What an operation is about, in a word. */
function nameOfOperation(op: { type: string; key?: string; character?: string; node_id?: string }): string {
  return [op.character, op.key ?? op.node_id].filter((word) => word !== undefined).join(" · ") || op.type;
}
