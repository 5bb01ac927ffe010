import { afterEach, describe, expect, it } from "vitest";
import { de } from "./de";
import { en } from "./en";
import { lengthen, pseudo } from "./pseudo";
import { ago, languageFor, number, speak, w } from "./words.svelte";
import { zhCN } from "./zh-CN";

/** Every text of a catalogue with its path; functions are called with numbers and words. */
function texts(value: unknown, path = ""): [string, string][] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value === "function") return texts((value as (...given: unknown[]) => unknown)(3, 2, 1), path);
  return Object.entries(value as object).flatMap(([name, inner]) => texts(inner, `${path}.${name}`));
}

afterEach(() => speak("en"));

describe.each([
  ["en", en],
  ["de", de],
  ["zh-CN", zhCN],
] as const)("the catalogue %s", (language, words) => {
  it("has a text for every key", () => {
    for (const [path, text] of texts(words)) expect(`${path}: ${text.trim()}`).not.toBe(`${path}: `);
    expect(texts(words).map(([path]) => path)).toEqual(texts(en).map(([path]) => path));
  });

  it("raises its voice nowhere", () => {
    expect(texts(words).filter(([, text]) => /[!！]/.test(text))).toEqual([]);
  });

  it.skipIf(language === "en")("is no copy of the English one", () => {
    const english = new Map(texts(en));
    const same = texts(words).filter(([path, text]) => english.get(path) === text && /[a-z]{3}/.test(text));
    expect(same.length / english.size).toBeLessThan(0.12);
  });
});

describe("languages", () => {
  it.each([
    ["system", ["fr-FR", "de-AT", "en"], "de"],
    ["system", ["zh-TW"], "zh-CN"],
    ["system", ["fr"], "en"],
    ["zh-CN", ["de"], "zh-CN"],
  ])("of %s and %j is %s", (chosen, browser, language) => {
    expect(languageFor(chosen, browser)).toBe(language);
  });

  it("are spoken after they were chosen", async () => {
    await speak("de");
    expect(w().titles.shelf).toBe("Regal");
    expect(number(1234.5)).toBe("1.234,5");
    expect(ago(0, 86_400_000)).toBe("gestern");
    expect(document.documentElement.lang).toBe("de");
  });

  it("have a stand-in with two fifths more letters", () => {
    expect(lengthen("Shelf").length).toBeGreaterThanOrEqual(7);
    const all = new Map(texts(pseudo(en)));
    for (const [path, text] of texts(en)) expect((all.get(path) ?? "").length).toBeGreaterThanOrEqual(text.length * 1.4);
  });
});
