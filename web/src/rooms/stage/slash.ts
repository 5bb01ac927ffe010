/** The commands that can be typed in the box: those of the terminal, where they mean something on a page. Pure. */

export const SLASH = [
  { name: "backtrack", takes: "[N]" },
  { name: "regenerate", takes: "[wish]" },
  { name: "retry", takes: "" },
  { name: "understudy", takes: "" },
  { name: "branches", takes: "" },
  { name: "fork", takes: "[name]" },
  { name: "suggest", takes: "" },
  { name: "status", takes: "" },
  { name: "recap", takes: "" },
  { name: "roll", takes: "DICE [to …]" },
  { name: "memories", takes: "[words]" },
  { name: "journal", takes: "" },
  { name: "canon", takes: "" },
  { name: "why", takes: "" },
  { name: "find", takes: "[words]" },
  { name: "export", takes: "" },
  { name: "rename", takes: "[name]" },
  { name: "help", takes: "" },
  { name: "leave", takes: "" },
] as const;

export type SlashName = (typeof SLASH)[number]["name"];

/** The commands that what is typed may mean; null where nothing of the kind is typed. */
export function matchesFor(typed: string): (typeof SLASH)[number][] | null {
  const found = /^\/([a-z-]*)$/i.exec(typed);
  if (found === null) return null;
  const start = (found[1] ?? "").toLowerCase();
  return SLASH.filter((command) => command.name.startsWith(start));
}

/** A command with what follows it; the name is as it was typed. */
export function commandIn(typed: string): { name: string; rest: string; known: SlashName | null } | null {
  const found = /^\/([a-z][a-z-]*)(?:\s+([\s\S]*))?$/i.exec(typed.trim());
  if (found === null) return null;
  const name = (found[1] ?? "").toLowerCase();
  const near = SLASH.filter((command) => command.name.startsWith(name));
  const known = SLASH.find((command) => command.name === name) ?? (near.length === 1 ? near[0] : undefined);
  return { name, rest: (found[2] ?? "").trim(), known: known?.name ?? null };
}
