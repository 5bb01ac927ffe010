import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  apart,
  bookmarks,
  buildTree,
  childrenOf,
  collapse,
  forkOf,
  isBelow,
  lanes,
  lineTo,
  newestLeaf,
  rail,
  siblings,
  type TreeTurn,
} from "./tree";

function turn(id: string, parent: string | null, more: Partial<TreeTurn> = {}): TreeTurn {
  return {
    turn_id: id,
    parent_id: parent,
    turn_index: 0,
    kind: parent === null ? "start" : "play",
    status: "committed",
    label: id,
    created_at_ms: 0,
    ...more,
  };
}

/**      a - b - c - d        (main)
 *            \ e - f         (another telling of c)
 *       \ g                  (another telling of b) */
const SMALL = [turn("a", null), turn("b", "a"), turn("c", "b"), turn("d", "c"), turn("e", "b"), turn("f", "e"), turn("g", "a")];

/** Trees of any shape: each turn names an earlier one as its parent. */
const anyTurns = fc
  .array(fc.tuple(fc.nat(), fc.boolean(), fc.boolean()), { minLength: 0, maxLength: 60 })
  .map((rows) => [
    turn("t000", null),
    ...rows.map(([parent, flagged, amends], n) =>
      turn(name(n + 1), name(parent % (n + 1)), { bookmarked: flagged, kind: amends ? "amend" : "play", turn_index: n + 1 }),
    ),
  ]);

function name(n: number): string {
  return `t${String(n).padStart(3, "0")}`;
}

const treeAndHead = anyTurns.chain((turns) =>
  fc.record({ turns: fc.constant(turns), head: fc.nat({ max: turns.length - 1 }).map(name) }),
);

describe("the tellings of a place", () => {
  const tree = buildTree(SMALL);

  it("are the played turns with the same parent, oldest first", () => {
    expect(siblings(tree, "e").map((one) => one.turn_id)).toEqual(["c", "e"]);
    expect(siblings(tree, "b").map((one) => one.turn_id)).toEqual(["b", "g"]);
    expect(siblings(tree, "d")).toHaveLength(1);
    expect(siblings(tree, "nobody")).toEqual([]);
  });

  it("are the same, whichever of them is asked", () => {
    fc.assert(
      fc.property(anyTurns, (turns) => {
        const tree = buildTree(turns);
        for (const one of turns)
          for (const beside of siblings(tree, one.turn_id)) expect(siblings(tree, beside.turn_id)).toEqual(siblings(tree, one.turn_id));
      }),
    );
  });
});

describe("the leaf at which a line was left", () => {
  it("is the one told last, or the one visited last", () => {
    const tree = buildTree(SMALL);
    expect(newestLeaf(tree, "b")).toBe("f");
    expect(newestLeaf(tree, "c")).toBe("d");
    expect(newestLeaf(tree, "b", ["g", "d"])).toBe("d");
    expect(newestLeaf(tree, "g")).toBe("g");
  });

  it("is a leaf below the turn, and none below it is newer", () => {
    fc.assert(
      fc.property(treeAndHead, ({ turns, head }) => {
        const tree = buildTree(turns);
        const leaf = newestLeaf(tree, head);
        expect(isBelow(tree, leaf, head)).toBe(true);
        expect(childrenOf(tree, leaf)).toHaveLength(0);
        const leaves = turns.filter((one) => childrenOf(tree, one.turn_id).length === 0 && isBelow(tree, one.turn_id, head));
        expect(leaves.every((one) => one.turn_id <= leaf)).toBe(true);
      }),
    );
  });
});

describe("a line", () => {
  it("leads from the beginning to its turn, each the child of the one before", () => {
    fc.assert(
      fc.property(treeAndHead, ({ turns, head }) => {
        const line = lineTo(buildTree(turns), head);
        expect(line[0]?.id).toBe("t000");
        expect(line.at(-1)?.id).toBe(head);
        line.slice(1).forEach((item, n) => expect(item.parentId).toBe(line[n]?.id));
      }),
    );
  });

  it("parts from another where both last were one", () => {
    const tree = buildTree(SMALL);
    expect(forkOf(tree, "d", "f")).toBe("b");
    expect(forkOf(tree, "d", "c")).toBe("c");
    expect(forkOf(tree, "d", "g")).toBe("a");
  });
});

describe("collapsed runs", () => {
  it("draw turns in a row together, and keep forks, ends, flags and the head", () => {
    const row = [turn("a", null), ...["b", "c", "d", "e", "f"].map((id, n) => turn(id, "abcde"[n] ?? null))];
    const runs = (turns: TreeTurn[], head: string): [string, number][] =>
      [...collapse(buildTree(turns), head).items.values()].map((item) => [item.firstId, item.count]);
    expect(runs(row, "f")).toEqual([
      ["a", 1],
      ["b", 4],
      ["f", 1],
    ]);
    const flagged = row.map((one) => (one.turn_id === "d" ? { ...one, bookmarked: true } : one));
    expect(runs(flagged, "f").map(([id]) => id)).toEqual(["a", "b", "d", "e", "f"]);
  });

  it("hold every turn once, and keep who comes of whom", () => {
    fc.assert(
      fc.property(treeAndHead, ({ turns, head }) => {
        const tree = buildTree(turns);
        const short = collapse(tree, head);
        const held = [...short.items.values()].flatMap((item) => item.turns.map((one) => one.turn_id));
        expect(held.sort()).toEqual(turns.map((one) => one.turn_id));
        expect(short.items.has(head)).toBe(true);
        for (const item of short.items.values()) {
          expect(item.count).toBe(item.turns.length);
          expect(item.turns[0]?.parent_id).toBe(item.parentId);
          if (item.count > 1) expect(item.turns.every((one) => one.bookmarked !== true)).toBe(true);
        }
      }),
    );
  });

  it("are the same where the server collapsed them", () => {
    const turns = [turn("a", null), turn("y", "x"), turn("z", "x")];
    const tree = buildTree(turns, [{ first_turn_id: "b", last_turn_id: "x", count: 9998, parent_id: "a" }]);
    expect(lineTo(tree, "z").map((item) => item.count)).toEqual([1, 9998, 1]);
    expect(siblings(tree, "y").map((one) => one.turn_id)).toEqual(["y", "z"]);
    expect(newestLeaf(tree, "a")).toBe("z");
  });
});

describe("lanes", () => {
  it("put the head's line first, and no two items on one place", () => {
    fc.assert(
      fc.property(treeAndHead, ({ turns, head }) => {
        const tree = collapse(buildTree(turns), head);
        const placed = lanes(tree, head);
        expect(placed).toHaveLength(tree.items.size);
        expect(new Set(placed.map(({ lane, column }) => `${lane}:${column}`)).size).toBe(placed.length);
        const at = new Map(placed.map((one) => [one.item.id, one]));
        for (const item of lineTo(tree, head)) expect(at.get(item.id)?.lane).toBe(0);
        for (const { item, column, lane } of placed) {
          const parent = item.parentId === null ? undefined : at.get(item.parentId);
          if (parent === undefined) continue;
          expect(column).toBe(parent.column + 1);
          expect(lane).toBeGreaterThanOrEqual(parent.lane);
        }
      }),
    );
  });
});

describe("the rail beside the text", () => {
  it("shows the current line, with other tellings as stubs", () => {
    const rows = rail(buildTree(SMALL), "d");
    expect(rows.map((row) => row.item.id)).toEqual(["a", "b", "c", "d"]);
    expect(rows.map((row) => row.stubs.map((stub) => [stub.turn.turn_id, stub.leafId, stub.count]))).toEqual([
      [],
      [["g", "g", 1]],
      [["e", "f", 2]],
      [],
    ]);
    expect(rows.filter((row) => row.isHead)).toHaveLength(1);
  });
});

describe("bookmarks", () => {
  it("are listed in the order of the story", () => {
    const turns = [turn("a", null), turn("b", "a", { turn_index: 2, bookmarked: true }), turn("c", "a", { turn_index: 1, name: "The cellar" })];
    expect(bookmarks(buildTree(turns)).map((one) => one.turn_id)).toEqual(["c", "b"]);
  });
});

describe("two lines side by side", () => {
  const line = (...ids: string[]): { turnId: string }[] => ids.map((turnId) => ({ turnId }));
  const ids = (turns: readonly { turnId: string }[]): string => turns.map((turn) => turn.turnId).join("");

  it.each([
    ["abc", "abd", "c", "d", "b"],
    ["abc", "abcde", "", "de", "c"],
    ["bc", "abd", "c", "d", "b"],
    ["xy", "zw", "xy", "zw", undefined],
    ["ab", "ab", "", "", "b"],
  ])("%s and %s part into %s and %s", (one, other, left, right, fork) => {
    const found = apart(line(...one), line(...other));
    expect([ids(found.one), ids(found.other), found.fork?.turnId]).toEqual([left, right, fork]);
  });
});
