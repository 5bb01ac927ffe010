/** Notes of a turn that the server kept, put beside a turn that is read again. Pure. */

import type { TurnNotes } from "../protocol/protocol.gen";
import { diced, rolledOf, type Note, type Part, type Piece } from "./frames";
import { linesWithoutRolls, piecesOf, type Turn } from "./transcript";

/** The turn with its notes, thoughts, scene and tags, as it would have looked live. */
export function withNotes(turn: Turn, kept: TurnNotes): Turn {
  const rolls = (kept.rolls ?? []).map(rolledOf);
  const told = rolls.length === 0 ? turn.pieces : piecesOf(linesWithoutRolls(turn.lines, rolls));
  const pieces = withTags(withThoughts(withScene(told, kept.scene ?? null), kept), kept);
  const last = pieces.at(-1)?.key ?? "";
  const place = (by: string): string => (by === "after_player_input" ? "" : by === "entering" ? (pieces[0]?.key ?? "") : last);
  const notes: Note[] = [
    ...rolls,
    ...(kept.changes ?? []).map(
      ({ scope, owner, key: name, before, after, by }): Note =>
        diced({ kind: "changed", at: place(by), by, change: { scope, owner, name, from: before ?? undefined, to: after ?? undefined } }, rolls),
    ),
    ...(kept.refused ?? []).map(({ about, reason }): Note => ({ kind: "refused", at: last, about, reason })),
    ...(kept.helped ?? []).map(({ agent, reason, stand_in }): Note => ({ kind: "helped", at: last, agent, reason, standIn: stand_in ?? "" })),
    ...(kept.flashback ? [{ kind: "flashback", at: "", text: kept.flashback.text } satisfies Note] : []),
  ];
  return { ...turn, pieces, notes, strayed: kept.outcome === "INVALID_INPUT" };
}

function withScene(pieces: readonly Piece[], nodeId: string | null): readonly Piece[] {
  if (nodeId === null || pieces.some((piece) => piece.kind === "scene")) return pieces;
  return [{ kind: "scene", key: `scene:${nodeId}`, nodeId }, ...pieces];
}

/** Thoughts stand with what their thinker says first. */
function withThoughts(pieces: readonly Piece[], kept: TurnNotes): readonly Piece[] {
  const waiting = [...(kept.thoughts ?? [])];
  return pieces.map((piece) => {
    if (piece.kind !== "speech" || piece.parts.some((part) => part.kind === "thought")) return piece;
    const own = waiting.filter((thought) => thought.speaker_id === piece.speakerId && thought.text !== "");
    for (const thought of own) waiting.splice(waiting.indexOf(thought), 1);
    const thoughts = own.map(({ text }): Part => ({ kind: "thought", text }));
    return thoughts.length === 0 ? piece : { ...piece, parts: [...thoughts, ...piece.parts] };
  });
}

/** Tags belong to lines as the story told them: corrected ones have none. */
function withTags(pieces: readonly Piece[], kept: TurnNotes): readonly Piece[] {
  const lines = kept.lines ?? [];
  const text = lines.map((line) => line.text).join("\n\n");
  return lines.length === 0
    ? pieces
    : pieces.map((piece) => (piece.kind === "narration" && piece.text === text ? { ...piece, tags: lines.map((line) => line.tags) } : piece));
}
