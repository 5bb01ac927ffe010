import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paramsIn, pathTo } from "./path";
import { ROUTES } from "./routes";

describe("places", () => {
  it("bring every id back from an address", () => {
    const ids = fc.string({ minLength: 1, unit: "grapheme" });
    fc.assert(
      fc.property(ids, (story_id) => {
        expect(paramsIn("/app/story/:story_id", pathTo("/app/story/:story_id", { story_id }))).toEqual({ story_id });
      }),
    );
  });

  it("cannot be left by what stands in them", () => {
    expect(pathTo("/app/story/:story_id", { story_id: "../../evil?x#y" })).toBe("/app/story/..%2F..%2Fevil%3Fx%23y");
  });

  it.each([
    ["/app/story/:story_id", "/app/story/", null],
    ["/app/story/:story_id", "/app/story/a/b", null],
    ["/app/story/:story_id", "/app/story/%zz", null],
    ["/app/me", "/app/me/", {}],
    ["/", "/", {}],
    ["/app", "/app/", {}],
  ])("%s in %s is %j", (pattern, path, params) => {
    expect(paramsIn(pattern, path)).toEqual(params);
  });

  it("never share an address", () => {
    const filled = Object.keys(ROUTES).map((place) => place.replace(/:[a-z_]+/g, "x"));
    for (const address of filled) expect(Object.keys(ROUTES).filter((place) => paramsIn(place, address) !== null)).toHaveLength(1);
  });
});
