import { describe, expect, it } from "vitest";
import { coverOf, seedFrom } from "./title-page";

describe("a title page", () => {
  it.each([
    ["", null],
    [" 7 ", 7],
    ["0", 0],
    ["seven", "wrong"],
    ["-1", "wrong"],
    ["1.5", "wrong"],
    ["99999999999999999999", "wrong"],
  ])("reads the seed %j as %j", (typed, seed) => {
    expect(seedFrom(typed)).toBe(seed);
  });

  it("asks for covers by addresses that cannot be broken out of", () => {
    expect(coverOf("a/../b?c", 96)).toBe("/download/character%3Aa%2F..%2Fb%3Fc/cover?side=96");
  });
});
