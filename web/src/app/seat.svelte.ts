/** Who this browser is for others who have the same play open: one seat for all its pages, and a name if it has one. */

import { keep, kept } from "./keeping";

const SEAT = "fabula.seat";
const NAME = "fabula.name";
export const LONGEST_NAME = 60;

let name = $state(kept(NAME) ?? "");

export const seat = {
  get name(): string {
    return name;
  },
  /** A word that only says which pages belong together. */
  get id(): string {
    const found = kept(SEAT);
    if (found !== null && found !== "") return found;
    const made = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    keep(SEAT, made);
    return made;
  },
  rename(to: string): void {
    name = to.trim().slice(0, LONGEST_NAME);
    keep(NAME, name === "" ? null : name);
  },
};
