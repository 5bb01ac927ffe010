/** The reader's settings, kept in this browser and shared by its tabs. */

import { keep, kept } from "./keeping";
import { KEPT_AS, keptFrom, readingFrom, showReading, type Reading } from "./reading";

let settings = $state.raw<Reading>(readingFrom(kept(KEPT_AS)));

export const reading = {
  get now(): Reading {
    return settings;
  },
  set(change: Partial<Reading>): void {
    take({ ...settings, ...change });
    keep(KEPT_AS, keptFrom(settings));
  },
};

function take(next: Reading): void {
  settings = next;
  showReading(document.documentElement, next);
}

/** Follows changes that another tab makes. */
export function followReading(): () => void {
  const listen = (event: StorageEvent): void => {
    if (event.key === KEPT_AS || event.key === null) take(readingFrom(kept(KEPT_AS)));
  };
  addEventListener("storage", listen);
  return () => removeEventListener("storage", listen);
}
