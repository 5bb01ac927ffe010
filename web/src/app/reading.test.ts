import boot from "../boot.js?raw";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHOICES, DEFAULTS, KEPT_AS, keptFrom, readingFrom, showReading, SHOWN, type Reading } from "./reading";

const readings = fc.record(
  Object.fromEntries(Object.entries(CHOICES).map(([name, values]) => [name, fc.constantFrom(...values)])),
) as unknown as fc.Arbitrary<Reading>;

const shown = (): Record<string, string | undefined> => ({ ...document.documentElement.dataset });

describe("reading settings", () => {
  it("come back as they were kept", () => {
    fc.assert(
      fc.property(readings, (reading) => {
        expect(readingFrom(keptFrom(reading))).toEqual(reading);
      }),
    );
  });

  it("keep nothing where everything is as usual", () => {
    expect(keptFrom(DEFAULTS)).toBe("{}");
  });

  it.each([null, "", "nonsense", "[]", "7", "null", '{"paper":"velvet","size":9,"face":{}}'])("are the usual ones after %j", (kept) => {
    expect(readingFrom(kept)).toEqual(DEFAULTS);
  });

  it("are shown by the boot script as by the app", () => {
    fc.assert(
      fc.property(readings, (reading) => {
        for (const name of SHOWN) delete document.documentElement.dataset[name];
        localStorage.setItem(KEPT_AS, keptFrom(reading));
        new Function(boot)();
        const booted = shown();
        showReading(document.documentElement, reading);
        expect(booted).toEqual(shown());
      }),
    );
  });
});
