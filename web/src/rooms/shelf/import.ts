/**
 * Takes a dropped file in: a package, a character (.chr) or an Ink story.
 *
 * What a file is, is read from its name and its first bytes. Nothing is written before the server has looked through
 * the whole file; a package that clashes with what is there comes back with the choice.
 */

import { call, CODES, type Answer, type Problem } from "../../protocol/rpc";
import type { PackageContents } from "../../protocol/protocol.gen";
import { upload } from "../../protocol/upload";
import { w } from "../../words/words.svelte";

export type FileKind = "package" | "character" | "ink";
export type OnConflict = "fail" | "skip" | "rename";

export const LARGEST_MIB = { package: 64, character: 64, ink: 8 } as const;

export type Outcome =
  | { kind: "story"; story_id: string; title: string }
  | { kind: "character"; name: string }
  | { kind: "package"; contents: PackageContents }
  | { kind: "clash"; sentence: string; import_id: string }
  | { kind: "problem"; sentence: string; lines: readonly string[] };

/** What a file claims to be by its name. */
export function kindOf(name: string): FileKind | null {
  const ending = /\.([a-z0-9]+)$/i.exec(name.trim())?.[1]?.toLowerCase();
  if (ending === "ink") return "ink";
  if (ending === "chr") return "character";
  return ending === "zip" || ending === "fabula" ? "package" : null;
}

/** A title from a file's name: "the-ferry_inn.ink" is "The ferry inn". */
export function titleFrom(name: string): string {
  const words = name.replace(/\.[^.]*$/, "").replace(/[-_]+/g, " ").trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

/** The title that an Ink source gives itself with `# title: ...`, which stands before its first line of text. */
export function titleIn(source: string): string | null {
  return /^\s*#\s*title:\s*(.+?)\s*$/im.exec(source.slice(0, 4000))?.[1] ?? null;
}

export async function takeIn(file: File, tell: (words: string) => void): Promise<Outcome> {
  const kind = kindOf(file.name);
  if (kind === null) return problem(w().shelf.importUnknown(file.name));
  if (file.size > LARGEST_MIB[kind] * 1024 * 1024) return problem(w().shelf.importTooLarge(file.name, LARGEST_MIB[kind]));
  if (kind === "ink") return takeInk(file, tell);
  return kind === "character" ? takeCharacter(file, tell) : takePackage(file, tell);
}

/** Goes on with a package that clashed. */
export async function commit(import_id: string, on_conflict: OnConflict): Promise<Outcome> {
  const done = await call("data_package.import_commit", { import_id, on_conflict }, { patience: 120_000 });
  if (done.ok) return { kind: "package", contents: done.value.contents };
  if (done.problem.code === CODES.conflict && on_conflict === "fail") return { kind: "clash", sentence: done.problem.sentence, import_id };
  return refused(done.problem);
}

async function takePackage(file: File, tell: (words: string) => void): Promise<Outcome> {
  const prepared = await call("data_package.import_prepare", {});
  if (!prepared.ok) return refused(prepared.problem);
  const { archive, import_id } = prepared.value;
  const sent = await send(archive.resource_id, archive.file_id, file, tell);
  if (!sent.ok) return refused(sent.problem);
  tell(w().shelf.importReading(file.name));
  return commit(import_id, "fail");
}

async function takeCharacter(file: File, tell: (words: string) => void): Promise<Outcome> {
  const sent = await send("characters", "archive", file, tell);
  if (!sent.ok) return refused(sent.problem);
  return { kind: "character", name: sent.value.resource_id.replace(/^character:/, "") };
}

async function takeInk(file: File, tell: (words: string) => void): Promise<Outcome> {
  tell(w().shelf.importReading(file.name));
  const source = await file.text();
  const checked = await call("ink.check", { source });
  if (!checked.ok) return refused(checked.problem);
  const errors = checked.value.problems.filter((found) => found.severity === "ERROR");
  if (errors.length > 0) {
    const lines = errors.slice(0, 8).map((found) => w().shelf.importLine(found.line, found.message));
    return { kind: "problem", sentence: w().shelf.importInkProblems, lines };
  }
  const made = await call("story.create_ink", { display_name: titleIn(source) ?? titleFrom(file.name), source });
  if (!made.ok) return refused(made.problem);
  return { kind: "story", story_id: made.value.story_id, title: made.value.display_name };
}

function send(resource_id: string, file_id: string, file: File, tell: (words: string) => void): Promise<Answer<{ resource_id: string }>> {
  return upload(resource_id, file_id, file, (share) => tell(w().shelf.importSending(file.name, Math.round(share * 100))));
}

function problem(sentence: string): Outcome {
  return { kind: "problem", sentence, lines: [] };
}

function refused(told: Problem): Outcome {
  return problem(told.sentence);
}
