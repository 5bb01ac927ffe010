import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readProse, readRuns, splitBlocks } from "./prose";

function rawOf(text: string): string {
  return readProse(text)
    .map((block) => block.raw)
    .join("");
}

function shown(text: string): string {
  return readProse(text)
    .map((block) => block.runs.map((run) => run.text).join(""))
    .join("\n\n");
}

const anyText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.array(fc.constantFrom("*", "**", "_", '"', "“", "”", "\n", "\n\n", "--", " ", "a", "<b>", "&amp;", "Mira said"), { maxLength: 60 }).map((parts) => parts.join("")),
);

describe("prose", () => {
  it("loses nothing: the raw texts are the text that went in", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(rawOf(text)).toBe(text);
        expect(splitBlocks(text).join("")).toBe(text);
        expect(
          readRuns(text)
            .map((run) => run.raw)
            .join(""),
        ).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it("adds nothing but dashes: every letter that is shown was written", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const left = [...shown(text)].filter((letter) => letter !== "—" && letter !== "\n");
        const written = [...text];
        for (const letter of left) {
          const at = written.indexOf(letter);
          expect(at).toBeGreaterThanOrEqual(0);
          written.splice(at, 1);
        }
      }),
    );
  });

  it.each([
    ["plain words", [["plain words", ""]]],
    ["she *nods* twice", [["she ", ""], ["nods", "em"], [" twice", ""]]],
    ["a **loud** word", [["a ", ""], ["loud", "strong"], [" word", ""]]],
    ["an _old_ snake_case_name", [["an ", ""], ["old", "em"], [" snake_case_name", ""]]],
    ["2 * 3 * 4", [["2 * 3 * 4", ""]]],
    ["an open *mark", [["an open *mark", ""]]],
    ['He said "go *now*" and left', [["He said ", ""], ['"', "quote"], ["go ", "quote"], ["now", "em quote"], ['"', "quote"], [" and left", ""]]],
    ["wait -- no", [["wait — no", ""]]],
    ["<script>alert(1)</script>", [["<script>alert(1)</script>", ""]]],
  ])("reads %j", (text, expected) => {
    const runs = readRuns(text).map((run) => [run.text, (["em", "strong", "quote"] as const).filter((flag) => run[flag]).join(" ")]);
    expect(runs).toEqual(expected);
  });

  it("breaks paragraphs at empty lines and rules", () => {
    expect(readProse("One.\n\nTwo,\nstill two.\n\n* * *\n\nThree.").map((block) => block.kind)).toEqual([
      "paragraph",
      "paragraph",
      "rule",
      "paragraph",
    ]);
  });

  it("takes time that grows with the text alone", () => {
    // Four times the text takes four times as long, and not sixteen; the best of five, because others use the machine.
    const took = (mark: string, times: number): number => {
      const began = performance.now();
      readProse(mark.repeat(times));
      return performance.now() - began;
    };
    const best = (mark: string, times: number): number => Math.min(...Array.from({ length: 5 }, () => took(mark, times)));
    for (const mark of ["*", "**", "_", '"', "“", "*a ", '"*', "\n", " \n"]) {
      expect(best(mark, 100_000)).toBeLessThan(Math.max(12 * best(mark, 25_000), 100));
    }
  });
});
