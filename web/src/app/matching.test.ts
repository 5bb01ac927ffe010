import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { best, matchOf } from "./matching";

describe("matching", () => {
  it("prefers the whole, then the beginning, then words, then letters in order", () => {
    const scores = ["lamp", "lamplight", "the old lamp", "a clamp", "l a m p s"].map((text) => matchOf(text, "lamp"));
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(matchOf("ferry", "lamp")).toBe(0);
  });

  it("hears no accents and no capitals", () => {
    expect(matchOf("Élan vital", "elan")).toBeGreaterThan(80);
    expect(matchOf("雾中的港口", "港口")).toBeGreaterThan(0);
  });

  it("keeps the order of equals, and a limit", () => {
    expect(best(["b one", "b two", "b three"], "b", String, 2)).toEqual(["b one", "b two"]);
  });

  it("finds every text by itself", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => matchOf(text, text) > 0));
  });
});
