import { describe, expect, it } from "vitest";
import { commandIn, matchesFor, SLASH } from "./slash";

describe("slash commands", () => {
  it("are offered while one is typed, and not in the middle of words", () => {
    expect(matchesFor("/")).toHaveLength(SLASH.length);
    expect(matchesFor("/re")?.map((one) => one.name)).toEqual(["regenerate", "retry", "recap", "rename"]);
    expect(matchesFor("and/or")).toBeNull();
    expect(matchesFor("/backtrack 2")).toBeNull();
    expect(matchesFor("")).toBeNull();
  });

  it.each([
    ["/backtrack 2", "backtrack", "2"],
    ["/rename The long night ", "rename", "The long night"],
    ["/back", "backtrack", ""],
    ["/re", null, ""],
    ["/dance", null, ""],
  ])("%j means %s with %j", (typed, known, rest) => {
    expect(commandIn(typed)).toMatchObject({ known, rest });
  });

  it("are never found in what is said", () => {
    for (const said of ["Hello", "a /retry", "/ 2", "//", "*/retry*"]) expect(commandIn(said)).toBeNull();
  });
});
