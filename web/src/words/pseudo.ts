/** English with accents and two fifths more letters: what is cut or not in a catalogue shows at once. */

import type { Words } from "./en";

const ACCENTS: Record<string, string> = { a: "å", e: "é", i: "ï", o: "ö", u: "ü", n: "ñ", c: "ç", A: "Å", E: "É", I: "Ï", O: "Ö", U: "Ü" };

export function pseudo(words: Words): Words {
  return lengthened(words) as Words;
}

export function lengthen(text: string): string {
  const accented = [...text].map((letter) => ACCENTS[letter] ?? letter).join("");
  return `[${accented}${" ·".repeat(Math.ceil(text.length * 0.2))}]`;
}

function lengthened(value: unknown): unknown {
  if (typeof value === "string") return lengthen(value);
  if (Array.isArray(value)) return value.map(lengthened);
  if (typeof value === "function") return (...given: unknown[]) => lengthened((value as (...given: unknown[]) => unknown)(...given));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, lengthened(inner)]));
  return value;
}
