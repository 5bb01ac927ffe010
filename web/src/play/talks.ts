/** Talks in an Ink play: turns in a row in which somebody is talked with. Pure. */

import type { Turn } from "./transcript";

export interface Talk {
  /** The first of its turns, by which it is known. */
  id: string;
  name: string;
  turnIds: readonly string[];
  /** What was said, by both. */
  messages: number;
}

/** Talks of two turns or more: a single question is not worth folding. */
export function talksOf(turns: readonly Turn[]): Talk[] {
  const runs: { name: string; turns: Turn[] }[] = [];
  let before = "";
  for (const turn of turns) {
    const name = partnerIn(turn);
    if (name !== "" && name === before) runs.at(-1)?.turns.push(turn);
    else if (name !== "") runs.push({ name, turns: [turn] });
    before = name;
  }
  return runs.filter((run) => run.turns.length > 1).map(talkOf);
}

function talkOf({ name, turns }: { name: string; turns: readonly Turn[] }): Talk {
  const messages = turns.reduce((sum, turn) => sum + 1 + turn.pieces.filter((piece) => piece.kind === "speech").length, 0);
  return { id: turns[0]?.turnId ?? "", name, turnIds: turns.map((turn) => turn.turnId), messages };
}

/** Whom the player talks with in a turn: whoever answers in it. */
function partnerIn(turn: Turn): string {
  const answer = turn.said === null ? undefined : turn.pieces.find((piece) => piece.kind === "speech");
  return answer?.kind === "speech" ? answer.speaker || answer.speakerId : "";
}
