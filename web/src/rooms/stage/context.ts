/** What the pieces of the stage may ask of it. */

import { getContext, setContext } from "svelte";
import type { Turn } from "../../play/transcript";

export type PanelName = "cast" | "state" | "notes" | "world" | "canon";

export interface StageActions {
  edit: (turn: Turn) => void;
  bookmark: (turn: Turn) => void;
  tellWithWish: (turn: Turn) => void;
  toTelling: (turn: Turn, step: -1 | 1) => Promise<void>;
  goBackTo: (turn: Turn) => Promise<void>;
  why: (turn: Turn) => void;
  fork: (turnId: string) => Promise<void>;
  openPanel: (name: PanelName) => void;
  find: () => void;
  export: () => void;
}

const KEY = Symbol("stage");

export function provideStage(actions: StageActions): void {
  setContext(KEY, actions);
}

export function useStage(): StageActions {
  return getContext<StageActions>(KEY);
}
