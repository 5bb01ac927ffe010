import { describe, expect, it } from "vitest";
import { de } from "../../words/de";
import { en } from "../../words/en";
import { labelOf } from "./labels";

const TURN = { kind: "amend", label: "the next scene: The Ford", about: "The Ford" } as const;

describe("the label of a turn in the tree", () => {
  it("says what the story did by itself, in the language of the page", () => {
    expect(labelOf(en.stage.rail, { ...TURN, change: "scene_began" })).toBe("the next scene: The Ford");
    expect(labelOf(de.stage.rail, { ...TURN, change: "scene_began" })).toBe("die nächste Szene: The Ford");
    expect(labelOf(en.stage.rail, { ...TURN, change: "world_moved" })).toBe("the world moves on");
  });

  it("calls by hand only what was changed by hand", () => {
    expect(labelOf(en.stage.rail, { kind: "amend", label: "changed by hand", change: null })).toBe("changed by hand");
    expect(labelOf(en.stage.rail, { kind: "play", label: "I go to the ford." })).toBe("I go to the ford.");
  });
});
