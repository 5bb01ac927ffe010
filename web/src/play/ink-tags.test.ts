import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linesOf, lookOf } from "./ink-tags";

const PLAIN = { clear: false, title: "", author: "", speaker: "", aside: false, unknown: [] };

describe("tags of a line", () => {
  const TABLE: [string[], object][] = [
    [[], {}],
    [["clear"], { clear: true }],
    [["CLEAR "], { clear: true }],
    [["title: The Lamp", "author: Ada"], { title: "The Lamp", author: "Ada" }],
    [["speaker:Guard"], { speaker: "Guard" }],
    [["aside"], { aside: true }],
    [["speaker:"], { unknown: ["speaker:"] }],
    [["image: https://example.org/x.png", "rain"], { unknown: ["image: https://example.org/x.png", "rain"] }],
  ];
  it.each(TABLE)("%j look like %j", (tags, look) => expect(lookOf(tags)).toEqual({ ...PLAIN, ...look }));

  it("never hold more than a title does, whatever an author wrote", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 400 })), (tags) => {
        const look = lookOf(tags);
        expect(Math.max(look.title.length, look.author.length, look.speaker.length)).toBeLessThanOrEqual(120);
      }),
    );
  });

  it("belong to lines in their order, and a line without any is plain", () => {
    expect(linesOf("One.\n\nTwo.", [[], ["aside"]])).toEqual([
      { text: "One.", look: PLAIN },
      { text: "Two.", look: { ...PLAIN, aside: true } },
    ]);
    expect(linesOf("One.\n\nTwo.", []).map((line) => line.look)).toEqual([PLAIN, PLAIN]);
  });
});
