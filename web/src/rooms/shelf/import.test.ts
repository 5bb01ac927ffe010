import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { kindOf, takeIn, titleFrom, titleIn } from "./import";

afterEach(() => vi.unstubAllGlobals());

describe("a dropped file", () => {
  it.each([
    ["the-inn.ink", "ink"],
    ["MARA.CHR", "character"],
    ["house.zip", "package"],
    ["photo.jpg", null],
    ["ink", null],
    ["", null],
  ])("%s is %s", (name, kind) => {
    expect(kindOf(name)).toBe(kind);
  });

  it.each([
    ["the-ferry_inn.ink", "The ferry inn"],
    [".ink", ".ink"],
    ["雾.ink", "雾"],
  ])("%s is titled %s", (name, title) => {
    expect(titleFrom(name)).toBe(title);
  });

  it("may title itself", () => {
    expect(titleIn("# author: A\n# title: The Inn \nFog.")).toBe("The Inn");
    expect(titleIn("Fog.\n")).toBeNull();
  });

  it("always has a title", () => {
    fc.assert(fc.property(fc.string({ minLength: 1 }), (name) => titleFrom(name) !== ""));
  });

  it("of a kind that nobody knows asks the server nothing", async () => {
    const asked = vi.fn();
    vi.stubGlobal("fetch", asked);
    expect(await takeIn(new File(["x"], "photo.jpg"), () => undefined)).toMatchObject({ kind: "problem" });
    expect(asked).not.toHaveBeenCalled();
  });

  it("in Ink with errors is told line by line, and not published", async () => {
    const problems = [
      { severity: "ERROR", message: "No knot 'dock'.", line: 57, column: 1, file: null },
      { severity: "WARNING", message: "Never reached.", line: 41, column: 1, file: null },
    ];
    const asked = vi.fn(async () => new Response(JSON.stringify({ result: { type: "ink_checked", ok: false, problems } })));
    vi.stubGlobal("fetch", asked);
    const outcome = await takeIn(new File(["-> dock"], "inn.ink"), () => undefined);
    expect(outcome).toMatchObject({ kind: "problem", lines: ["Line 57: No knot 'dock'."] });
    expect(asked).toHaveBeenCalledTimes(1);
  });
});
