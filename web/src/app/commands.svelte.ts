/** What the palette offers beyond places: commands that the open room registers. */

import type { KeyId } from "./keys";

export interface Command {
  id: string;
  label: string;
  /** Other words somebody might type for it. */
  also?: string;
  key?: KeyId;
  run: () => void;
}

let groups = $state.raw<readonly (() => readonly Command[])[]>([]);

export const commands = {
  get all(): Command[] {
    return groups.flatMap((group) => [...group()]);
  },
};

/** Offers commands until the answered function is called; the list is asked for when the palette opens. */
export function offerCommands(group: () => readonly Command[]): () => void {
  groups = [...groups, group];
  return () => {
    groups = groups.filter((other) => other !== group);
  };
}
