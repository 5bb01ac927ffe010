/**
 * The words of the interface: `w().shelf.title` in the reader's language.
 *
 * English travels with the app; the others are fetched when they are chosen. A key that is missing in a language is
 * a type error, because every catalogue has the type of the English one.
 */

import { en, type Words } from "./en";

export type Language = "en" | "de" | "zh-CN" | "pseudo";

export const LANGUAGES: readonly { code: Language; name: string }[] = [
  { code: "en", name: "English" },
  { code: "de", name: "Deutsch" },
  { code: "zh-CN", name: "简体中文" },
];

let catalogue = $state.raw<Words>(en);
let language = $state.raw<Language>("en");

export function w(): Words {
  return catalogue;
}

export function languageNow(): Language {
  return language;
}

/** The language for a chosen one or, when the system decides, the first of the browser's that we speak. */
export function languageFor(chosen: string, browser: readonly string[]): Language {
  if (chosen === "en" || chosen === "de" || chosen === "zh-CN" || chosen === "pseudo") return chosen;
  for (const asked of browser) {
    const spoken = asked.toLowerCase();
    if (spoken.startsWith("zh")) return "zh-CN";
    if (spoken.startsWith("de")) return "de";
    if (spoken.startsWith("en")) return "en";
  }
  return "en";
}

export async function speak(next: Language): Promise<void> {
  const found = await fetchWords(next);
  catalogue = found;
  language = next;
  document.documentElement.lang = next === "pseudo" ? "en" : next;
}

async function fetchWords(language: Language): Promise<Words> {
  switch (language) {
    case "en":
      return en;
    case "de":
      return (await import("./de")).de;
    case "zh-CN":
      return (await import("./zh-CN")).zhCN;
    case "pseudo":
      return (await import("./pseudo")).pseudo(en);
  }
}

const locale = (): string => (language === "pseudo" ? "en" : language);

export function number(value: number): string {
  return new Intl.NumberFormat(locale()).format(value);
}

export function date(ms: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(ms);
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000_000],
  ["month", 2_592_000_000],
  ["week", 604_800_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** "3 hours ago", in words where the language has one ("yesterday"). */
export function ago(ms: number, now: number = Date.now()): string {
  const passed = now - ms;
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  for (const [unit, length] of STEPS) if (Math.abs(passed) >= length) return words.format(-Math.round(passed / length), unit);
  return words.format(0, "minute");
}

export function list(items: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: "conjunction" }).format(items);
}
