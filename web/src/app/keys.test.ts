import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clashes, comboOf, idFor, isField, KEY_IDS, KEYS, printed, unfit, type KeyId } from "./keys";

const press = (key: string, held: Partial<Record<"ctrlKey" | "altKey" | "shiftKey" | "metaKey", boolean>> = {}) =>
  comboOf({ key, ctrlKey: false, altKey: false, shiftKey: false, metaKey: false, ...held });
const ALL = new Set<KeyId>(KEY_IDS);

describe("keys", () => {
  it.each([
    ["k", { ctrlKey: true }, "Ctrl+K"],
    ["k", { metaKey: true }, "Ctrl+K"],
    ["?", { shiftKey: true }, "?"],
    ["F", { ctrlKey: true, shiftKey: true }, "Ctrl+Shift+F"],
    ["e", {}, "E"],
    ["Enter", { shiftKey: true }, "Shift+Enter"],
    ["z", { ctrlKey: true, altKey: true }, "Ctrl+Alt+Z"],
    ["Shift", { shiftKey: true }, null],
  ])("%s with %j is %s", (key, held, combo) => {
    expect(press(key, held)).toBe(combo);
  });

  it("has no two meanings for one press", () => {
    expect(clashes({})).toEqual([]);
  });

  it("tells a clash that the reader makes", () => {
    expect(clashes({ tree: ["E"] })).toEqual([["edit_turn", "tree", "E"]]);
  });

  it("never takes a single letter from somebody who writes", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 1 }), fc.boolean(), (key, shiftKey) => {
        const combo = press(key, { shiftKey });
        return combo === null || idFor(combo, true, ALL, {}) === null;
      }),
    );
  });

  it("gives anywhere only keys that are no letters", () => {
    for (const id of KEY_IDS) for (const key of KEYS[id].keys) expect([id, unfit(id, key)]).toEqual([id, null]);
  });

  it("answers only to what is bound", () => {
    expect(idFor("Ctrl+K", true, new Set(), {})).toBeNull();
    expect(idFor("Ctrl+K", true, ALL, {})).toBe("palette");
    expect(idFor("Ctrl+K", false, ALL, { palette: ["Ctrl+J"] })).toBeNull();
    expect(idFor("Ctrl+J", false, ALL, { palette: ["Ctrl+J"] })).toBe("palette");
  });

  it("refuses letters for keys that work while writing, and keys that the browser needs", () => {
    expect(unfit("palette", "P")).toBe("letter");
    expect(unfit("tree", "P")).toBeNull();
    expect(unfit("tree", "Ctrl+R")).toBe("browser");
  });

  it("prints keys as keyboards do", () => {
    expect(printed("Ctrl+Shift+F")).toEqual(["Ctrl", "Shift", "F"]);
    expect(printed("ArrowLeft")).toEqual(["←"]);
    expect(printed("Ctrl++")).toEqual(["Ctrl", "+"]);
  });

  it("knows a field, also from inside", () => {
    document.body.innerHTML = "<input id=a><input id=b type=checkbox><div contenteditable><b id=c>x</b></div><p id=d>y</p>";
    expect(["a", "b", "c", "d"].map((id) => isField(document.getElementById(id)))).toEqual([true, false, true, false]);
  });
});
