/** Tags of lines in Ink stories that change how a line looks; all others do nothing. Pure.
 *
 *  `# clear` turns the page, `# title: …` and `# author: …` stand above the line, `# speaker: …` says who says it, and
 *  `# aside` sets it aside. Pictures have no place on the server yet: their tags are left alone. */

export interface LineLook {
  clear: boolean;
  title: string;
  author: string;
  speaker: string;
  aside: boolean;
  /** What we do not know, for style sheets and scripts of others. */
  unknown: readonly string[];
}

const TEXTS = ["title", "author", "speaker"] as const;
const PLAIN: LineLook = { clear: false, title: "", author: "", speaker: "", aside: false, unknown: [] };
const LONGEST = 120;

export function lookOf(tags: readonly string[]): LineLook {
  return tags.reduce((look, tag): LineLook => {
    const [, name = "", value = ""] = /^\s*([^:]*?)\s*(?::\s*([^]*?)\s*)?$/.exec(tag) ?? [];
    const known = name.toLowerCase();
    if (known === "clear" || known === "aside") return { ...look, [known]: true };
    const text = TEXTS.find((one) => one === known);
    if (text !== undefined && value !== "") return { ...look, [text]: value.slice(0, LONGEST) };
    return { ...look, unknown: [...look.unknown, tag] };
  }, PLAIN);
}

/** The lines of a piece with how each looks. Lines are paragraphs: the transcript keeps them so. */
export function linesOf(text: string, tags: readonly (readonly string[])[]): { text: string; look: LineLook }[] {
  return text.split("\n\n").map((line, n) => ({ text: line, look: lookOf(tags[n] ?? []) }));
}
