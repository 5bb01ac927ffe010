/** Reads told text as prose: paragraphs, rules, emphasis, quoted speech, line breaks. Pure, and no markup comes of it:
 *  what it answers are plain strings with flags, which components show as text.
 *
 *  Stories need no more of Markdown than this. Whatever is not understood stays as it was written; the `raw` texts,
 *  joined, are always the text that went in. */

export interface Run {
  /** What is shown. */
  text: string;
  /** What it was made of, with its marks. */
  raw: string;
  em: boolean;
  strong: boolean;
  quote: boolean;
}

export interface Block {
  kind: "paragraph" | "rule";
  raw: string;
  runs: readonly Run[];
}

// A mark ends on the line on which it began, and not far away: a stray asterisk does not slant a whole page. No class
// holds its own mark, so that the time to read a text grows with its length alone.
const MARKS = /\*\*([^*\n]{1,600})\*\*|\*([^*\n]{1,600})\*|(?<![\p{L}\p{N}_])_([^_\n]{1,600})_(?![\p{L}\p{N}_])|“[^“”\n]{1,2000}”|"[^"\n]{1,2000}"/gu;
const RULE = /^\s*(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,}|⁂|❦)\s*$/u;
const PLAIN = { em: false, strong: false, quote: false };

export function readProse(text: string): Block[] {
  return splitBlocks(text).map((raw) =>
    RULE.test(raw) ? { kind: "rule", raw, runs: [] } : { kind: "paragraph", raw, runs: readRuns(raw, PLAIN) },
  );
}

/** The text in parts that end where a paragraph does; joined, they are the text. */
export function splitBlocks(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const gap of text.matchAll(/\n[^\S\n]*\n\s*/g)) {
    const end = gap.index + gap[0].length;
    parts.push(text.slice(from, end));
    from = end;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** The runs of one paragraph. */
export function readRuns(raw: string, within: Pick<Run, "em" | "strong" | "quote"> = PLAIN): Run[] {
  const runs: Run[] = [];
  let from = 0;
  const plain = (to: number): void => {
    if (to > from) runs.push({ ...within, raw: raw.slice(from, to), text: setType(raw.slice(from, to)) });
  };
  for (const found of raw.matchAll(MARKS)) {
    const [whole, strong, starred, underlined] = found;
    const inner = strong ?? starred ?? underlined;
    // "2 * 3 * 4" is no emphasis.
    if (inner !== undefined && inner !== inner.trim()) continue;
    plain(found.index);
    from = found.index + whole.length;
    if (inner === undefined) runs.push(...quoted(whole, within));
    else runs.push(...marked(whole, inner, strong === undefined ? { ...within, em: !within.em } : { ...within, strong: true }));
  }
  plain(raw.length);
  return runs;
}

function quoted(whole: string, within: Pick<Run, "em" | "strong" | "quote">): Run[] {
  if (within.quote) return [{ ...within, raw: whole, text: setType(whole) }];
  const flags = { ...within, quote: true };
  const [open, close] = [whole.slice(0, 1), whole.slice(-1)];
  const inner = readRuns(whole.slice(1, -1), flags);
  return [{ ...flags, raw: open, text: open }, ...inner, { ...flags, raw: close, text: close }];
}

/** The runs between two marks; the marks themselves stay in the raw texts only. */
function marked(whole: string, inner: string, flags: Pick<Run, "em" | "strong" | "quote">): Run[] {
  const width = (whole.length - inner.length) / 2;
  const runs = readRuns(inner, flags);
  return runs.map((run, n) => ({
    ...run,
    raw: (n === 0 ? whole.slice(0, width) : "") + run.raw + (n === runs.length - 1 ? whole.slice(-width) : ""),
  }));
}

function setType(text: string): string {
  return text.replaceAll(/(?<!-)--(?!-)/g, "—").replace(/\n\s*$/, "");
}

/** What somebody says and does, as paragraphs: parts flow on in one paragraph until one of them breaks it. */
export function paragraphsOf<Part extends { text: string }>(parts: readonly Part[]): { part: Part; raw: string }[][] {
  const paragraphs: { part: Part; raw: string }[][] = [];
  for (const part of parts)
    splitBlocks(part.text).forEach((raw, n) => {
      const last = paragraphs.at(-1);
      if (n === 0 && last !== undefined) last.push({ part, raw });
      else paragraphs.push([{ part, raw }]);
    });
  return paragraphs;
}
