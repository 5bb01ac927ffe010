import type { TreeTurn } from "../../play/tree";
import type { Words } from "../../words/en";

/** What the tree calls a turn: its name, what the player said, or what became of the play by itself. */
export function labelOf(words: Words["stage"]["rail"], turn: Pick<TreeTurn, "kind" | "label" | "name" | "preview" | "change" | "about">): string {
  if (turn.kind === "start") return words.beginning;
  if (turn.kind !== "amend") return turn.name || turn.label || turn.preview || "…";
  if (turn.name) return turn.name;
  return turn.change ? words.changes[turn.change](turn.about ?? "") : words.byHand;
}
