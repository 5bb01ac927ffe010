/** Binds keys to what the open room does, and keeps the reader's own choice of keys in this browser. */

import { keep, kept } from "./keeping";
import { comboOf, idFor, isField, KEY_IDS, keysOf, type KeyChoices, type KeyId } from "./keys";

const KEPT_AS = "fabula.keys";

/** Runs for a press; `false` lets the press go on to the page. */
export type KeyRun = (event: KeyboardEvent) => void | boolean;

const bound = new Map<KeyId, KeyRun[]>();
let chosen = $state.raw<KeyChoices>(choicesFrom(kept(KEPT_AS)));

export const keyboard = {
  get chosen(): KeyChoices {
    return chosen;
  },
  choose(id: KeyId, keys: readonly string[] | null): void {
    const { [id]: _, ...others } = chosen;
    chosen = keys === null ? others : { ...others, [id]: keys };
    keep(KEPT_AS, Object.keys(chosen).length > 0 ? JSON.stringify(chosen) : null);
  },
  reset(): void {
    chosen = {};
    keep(KEPT_AS, null);
  },
  keysOf: (id: KeyId): readonly string[] => keysOf(id, chosen),
};

/** Binds ids until the answered function is called; the newest binding of an id wins. Fits in an `$effect`. */
export function bindKeys(runs: Partial<Record<KeyId, KeyRun>>): () => void {
  const entries = Object.entries(runs) as [KeyId, KeyRun][];
  for (const [id, run] of entries) bound.set(id, [...(bound.get(id) ?? []), run]);
  return () => {
    for (const [id, run] of entries) {
      const left = (bound.get(id) ?? []).filter((other) => other !== run);
      if (left.length > 0) bound.set(id, left);
      else bound.delete(id);
    }
  };
}

/** Listens to the whole page; the app starts it once. */
export function listenToKeys(): () => void {
  const press = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const combo = comboOf(event);
    if (combo === null) return;
    // A dialog that is open has the keyboard to itself, except for the keys that work anywhere.
    const inField = isField(event.target) || document.querySelector("dialog[open]") !== null;
    const id = idFor(combo, inField, new Set(bound.keys()), chosen);
    const run = id === null ? undefined : bound.get(id)?.at(-1);
    if (run !== undefined && run(event) !== false) event.preventDefault();
  };
  addEventListener("keydown", press);
  return () => removeEventListener("keydown", press);
}

function choicesFrom(text: string | null): KeyChoices {
  try {
    const found: unknown = JSON.parse(text ?? "{}");
    if (typeof found !== "object" || found === null) return {};
    const entries = Object.entries(found).filter(
      ([id, keys]) => KEY_IDS.includes(id as KeyId) && Array.isArray(keys) && keys.length < 5 && keys.every((key) => typeof key === "string"),
    );
    return Object.fromEntries(entries) as KeyChoices;
  } catch {
    return {};
  }
}
