/** What a screen reader hears of a turn: who answers, each finished piece once, whose turn it is. Pure. */

import type { LiveTurn, Piece, Rolled } from "../../play/frames";
import type { Words } from "../../words/en";

type Spoken = Words["stage"]["spoken"];

/** The texts for what was told between two looks at a turn. */
export function spokenBetween(before: LiveTurn | null, now: LiveTurn, words: Words["stage"], nameOf: (id: string) => string): string[] {
  const finished = (live: LiveTurn | null): Set<string> =>
    new Set((live?.pieces ?? []).filter((piece) => !("done" in piece) || piece.done).map((piece) => `${piece.key}:${textOf(piece, words, nameOf).length}`));
  const earlier = before !== null && before.attempt === now.attempt ? before : null;
  const known = finished(earlier);
  const rolls = rollsOf(now).filter((roll) => !rollsOf(earlier).some((one) => one.checkId === roll.checkId)).map((roll) => spokenRoll(roll, words.roll));
  const told = now.pieces
    .filter((piece) => !("done" in piece) || piece.done)
    .filter((piece) => !known.has(`${piece.key}:${textOf(piece, words, nameOf).length}`))
    .map((piece) => textOf(piece, words, nameOf))
    .filter((text) => text !== "");
  return [...rolls, ...told];
}

/** Rolls whose dice lie. */
function rollsOf(live: LiveTurn | null): Rolled[] {
  return (live?.notes ?? []).filter((note): note is Rolled => note.kind === "rolled" && note.resolution !== null);
}

/** "Climb: 14 against 12, success." */
export function spokenRoll(roll: Rolled, words: Words["stage"]["roll"]): string {
  const { target, resolution } = roll;
  const stat = statOf(roll, words);
  if (resolution === null) return words.asked(stat, target);
  const level = words.levels[resolution.level];
  return resolution.check.forced === null ? words.spoken(stat, resolution.roll.total, target, level) : words.forcedSpoken(stat, level);
}

/** The skill or attribute that is rolled with, made readable. */
export function statOf({ stat }: Pick<Rolled, "stat">, words: Words["stage"]["roll"]): string {
  const name = stat.replaceAll("_", " ");
  return name === "" ? words.nameless : name.charAt(0).toUpperCase() + name.slice(1);
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
