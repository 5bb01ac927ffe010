/** Variables as people read them. */

import type { CommonVariable, Json } from "../../protocol/protocol.gen";
import type { Change } from "../../play/frames";
import { w } from "../../words/words.svelte";

/** A value in words. */
export function inWords(value: Json | undefined): string {
  if (value === undefined || value === null || value === "") return w().stage.note.nothing;
  if (typeof value === "boolean") return value ? w().stage.note.yes : w().stage.note.no;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The name of a variable: the author's, else its key made readable. */
export function nameOf(change: Pick<Change, "scope" | "owner" | "name">, pinned: readonly CommonVariable[]): string {
  const own = pinned.find(
    (one) => one.scope === change.scope && one.key === change.name && (change.scope !== "character" || one.character_id === change.owner),
  );
  return own?.display_name ?? change.name.replaceAll("_", " ");
}
