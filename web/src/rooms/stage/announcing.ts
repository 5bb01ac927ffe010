/** What a screen reader hears of a turn: who answers, each finished piece once, whose turn it is. Pure. */

import type { LiveTurn, Piece } from "../../play/frames";
import type { Words } from "../../words/en";

type Spoken = Words["stage"]["spoken"];

/** The texts for what was told between two looks at a turn. */
export function spokenBetween(before: LiveTurn | null, now: LiveTurn, words: Words["stage"], nameOf: (id: string) => string): string[] {
  const finished = (live: LiveTurn | null): Set<string> =>
    new Set((live?.pieces ?? []).filter((piece) => !("done" in piece) || piece.done).map((piece) => `${piece.key}:${textOf(piece, words, nameOf).length}`));
  const known = finished(before !== null && before.attempt === now.attempt ? before : null);
  return now.pieces
    .filter((piece) => !("done" in piece) || piece.done)
    .filter((piece) => !known.has(`${piece.key}:${textOf(piece, words, nameOf).length}`))
    .map((piece) => textOf(piece, words, nameOf))
    .filter((text) => text !== "");
}

/** A piece as it is read aloud: thoughts are not, unless they are opened. */
export function textOf(piece: Piece, words: Words["stage"], nameOf: (id: string) => string): string {
  switch (piece.kind) {
    case "narration":
      return piece.text;
    case "speech": {
      const said = piece.parts.filter((part) => part.kind !== "thought").map((part) => part.text);
      return said.length === 0 ? "" : words.spoken.says(piece.speaker || nameOf(piece.speakerId), said.join(" "));
    }
    case "scene":
      return words.turn.newScene("");
    case "direction":
      return piece.way === "enters" ? words.turn.enters(nameOf(piece.name)) : words.turn.leaves(nameOf(piece.name));
    case "end":
      return words.turn.theEnd;
  }
}

/** What is said when a turn is over. */
export function yourTurn(live: Pick<LiveTurn, "ended" | "choices" | "input">, spoken: Spoken): string {
  if (live.ended) return spoken.over;
  if (live.input?.kind === "choice") return spoken.yourTurnChoices(live.choices.length);
  if (live.input?.kind === "agent") return spoken.yourTurnWith(live.input.character ?? "");
  return spoken.yourTurn;
}
