/** The tree of a play's turns: tellings of one place, whole lines, runs without forks, lanes. Pure.
 *
 *  `session.branches` lists every turn; where the server collapses runs, a run stands in for its turns, and everything
 *  here works on both: an item is a turn, or a run of them that nobody forked. */

import type { BranchTurn } from "../protocol/protocol.gen";

/** A turn, as far as the tree needs it. */
export interface TreeTurn {
  turn_id: string;
  parent_id: string | null;
  turn_index: number;
  kind: string;
  status: string;
  label: string;
  created_at_ms: number;
  name?: string | null;
  bookmarked?: boolean;
  preview?: string | null;
  change?: BranchTurn["change"];
  about?: string;
}

/** Turns in a row that the server did not list one by one. */
export interface TreeRun {
  first_turn_id: string;
  last_turn_id: string;
  count: number;
  parent_id: string | null;
}

/** A turn, or a run of turns; `id` is its last turn, by which children name it. */
export interface Item {
  id: string;
  firstId: string;
  parentId: string | null;
  count: number;
  turns: readonly TreeTurn[];
}

export interface Tree {
  items: ReadonlyMap<string, Item>;
  children: ReadonlyMap<string | null, readonly Item[]>;
}

export const EMPTY_TREE: Tree = { items: new Map(), children: new Map() };

export function buildTree(turns: readonly TreeTurn[], runs: readonly TreeRun[] = []): Tree {
  const all: Item[] = [
    ...turns.map((turn) => ({ id: turn.turn_id, firstId: turn.turn_id, parentId: turn.parent_id, count: 1, turns: [turn] })),
    ...runs.map((run) => ({
      id: run.last_turn_id,
      firstId: run.first_turn_id,
      parentId: run.parent_id,
      count: run.count,
      turns: [],
    })),
  ];
  return ofItems(all.sort((one, other) => (one.id < other.id ? -1 : 1)));
}

/** Ids of turns grow with time, so that items in their order are in the order in which they were told. */
function ofItems(all: readonly Item[]): Tree {
  const items = new Map(all.map((item) => [item.id, item]));
  const children = new Map<string | null, Item[]>();
  for (const item of all) {
    const parent = item.parentId !== null && items.has(item.parentId) ? item.parentId : null;
    const beside = children.get(parent);
    if (beside === undefined) children.set(parent, [item]);
    else beside.push(item);
  }
  return { items, children };
}

export function childrenOf(tree: Tree, id: string | null): readonly Item[] {
  return tree.children.get(id) ?? [];
}

export function turnOf(tree: Tree, id: string): TreeTurn | undefined {
  return tree.items.get(id)?.turns.at(-1);
}

/** The tellings of one place, in the order they were made: turns with the same parent that were played. */
export function siblings(tree: Tree, id: string): TreeTurn[] {
  const item = tree.items.get(id);
  if (item === undefined) return [];
  return childrenOf(tree, item.parentId)
    .flatMap((beside) => beside.turns.slice(0, 1))
    .filter((turn) => turn.kind === "play" && turn.status !== "failed");
}

/** Where a line that begins at this turn was left: the leaf below it that was told last, or the one visited last. */
export function newestLeaf(tree: Tree, id: string, visited: readonly string[] = []): string {
  for (const leaf of visited) if (isBelow(tree, leaf, id)) return leaf;
  let newest = id;
  const waiting = [id];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const below = childrenOf(tree, at);
    if (below.length === 0 && (newest === id || at > newest)) newest = at;
    waiting.push(...below.map((item) => item.id));
  }
  return newest;
}

/** Whether `id` is `above`, or came of it. */
export function isBelow(tree: Tree, id: string, above: string): boolean {
  for (let item = tree.items.get(id); item !== undefined; item = item.parentId === null ? undefined : tree.items.get(item.parentId))
    if (item.id === above) return true;
  return false;
}

/** The line that ends at a turn, from the beginning. */
export function lineTo(tree: Tree, id: string): Item[] {
  const line: Item[] = [];
  for (let item = tree.items.get(id); item !== undefined; item = item.parentId === null ? undefined : tree.items.get(item.parentId))
    line.push(item);
  return line.reverse();
}

/** The last turn that two lines share; null where they share none. */
export function forkOf(tree: Tree, one: string, other: string): string | null {
  const passed = new Set(lineTo(tree, one).map((item) => item.id));
  return lineTo(tree, other).reverse().find((item) => passed.has(item.id))?.id ?? null;
}

/** The tree with turns in a row drawn together. Kept apart are what one would look for: where a line begins, forks or
 *  ends, the head, and what has a flag. */
export function collapse(tree: Tree, headId: string): Tree {
  const apart = (item: Item): boolean =>
    item.id === headId ||
    childrenOf(tree, item.id).length !== 1 ||
    childrenOf(tree, known(tree, item.parentId)).length !== 1 ||
    item.turns.some((turn) => turn.bookmarked === true || turn.kind === "start");
  const collapsed: Item[] = [];
  const waiting: Item[] = [...childrenOf(tree, null)];
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    let run: Item = item;
    let [next] = childrenOf(tree, run.id);
    while (!apart(item) && next !== undefined && !apart(next)) {
      run = { ...next, firstId: run.firstId, parentId: run.parentId, count: run.count + next.count, turns: [...run.turns, ...next.turns] };
      [next] = childrenOf(tree, run.id);
    }
    collapsed.push(run);
    waiting.push(...childrenOf(tree, run.id));
  }
  return ofItems(collapsed.sort((one, other) => (one.id < other.id ? -1 : 1)));
}

function known(tree: Tree, id: string | null): string | null {
  return id !== null && tree.items.has(id) ? id : null;
}

/** An item at its place on the tree's page: a line of the play is one lane, and columns count items from the start. */
export interface Placed {
  item: Item;
  lane: number;
  column: number;
}

/** Places for every item. The line to the head is lane 0; each other line takes a lane of its own. */
export function lanes(tree: Tree, headId: string): Placed[] {
  const main = new Set(lineTo(tree, headId).map((item) => item.id));
  const placed: Placed[] = [];
  let last = -1;
  const waiting: { item: Item; column: number; lane: number | null }[] = [];
  const enqueue = (items: readonly Item[], column: number, lane: number | null): void => {
    const goesOn = items.find((item) => main.has(item.id)) ?? items.at(-1);
    // The line that goes on is taken from the stack first, and keeps its lane; the others open new ones after it.
    for (const item of [...items].reverse()) if (item !== goesOn) waiting.push({ item, column, lane: null });
    if (goesOn !== undefined) waiting.push({ item: goesOn, column, lane });
  };
  enqueue(childrenOf(tree, null), 0, null);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const lane = next.lane ?? ++last;
    placed.push({ item: next.item, lane, column: next.column });
    enqueue(childrenOf(tree, next.item.id), next.column + 1, lane);
  }
  return placed;
}

/** A row of the rail beside the text: an item of the current line, and the lines that leave it there. */
export interface RailRow {
  item: Item;
  isHead: boolean;
  /** The other tellings of this place, each with the leaf at which its line was left. */
  stubs: readonly { turn: TreeTurn; leafId: string; count: number }[];
}

export function rail(tree: Tree, headId: string): RailRow[] {
  const short = collapse(tree, headId);
  const leaf = newestLeaf(short, headId);
  return lineTo(short, leaf).map((item) => ({
    item,
    isHead: item.id === headId,
    stubs: childrenOf(short, known(short, item.parentId))
      .filter((beside) => beside.id !== item.id)
      .map((beside) => ({ item: beside, turn: beside.turns[0] }))
      .flatMap(({ item: beside, turn }) =>
        turn === undefined ? [] : [{ turn, leafId: newestLeaf(short, beside.id), count: countBelow(short, beside) }],
      ),
  }));
}

/** How many turns an item and everything below it hold. */
function countBelow(tree: Tree, item: Item): number {
  let count = 0;
  const waiting = [item];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    count += at.count;
    waiting.push(...childrenOf(tree, at.id));
  }
  return count;
}

/** Every turn with a flag or a name, in the order of the story. */
export function bookmarks(tree: Tree): TreeTurn[] {
  const flagged = [...tree.items.values()].flatMap((item) => item.turns).filter((turn) => turn.bookmarked === true || !!turn.name);
  return flagged.sort((one, other) => one.turn_index - other.turn_index || (one.turn_id < other.turn_id ? -1 : 1));
}

/** What two lines do not share: the turns of each after their fork. Both are read from their ends, so that a fork before
 *  the first turn that is known of either is not seen: then all that is known is shown. */
export function apart<T extends { turnId: string }>(one: readonly T[], other: readonly T[]): { one: readonly T[]; other: readonly T[]; fork: T | null } {
  const at = new Map(other.map((turn, n) => [turn.turnId, n]));
  const last = one.findLastIndex((turn) => at.has(turn.turnId));
  const fork = one[last];
  if (fork === undefined) return { one, other, fork: null };
  return { one: one.slice(last + 1), other: other.slice((at.get(fork.turnId) ?? -1) + 1), fork };
}
