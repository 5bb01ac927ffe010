/** Places as typed patterns: `pathTo("/app/story/:story_id", {story_id})`, and back. Pure. */

type Name<Pattern extends string> = Pattern extends `${string}:${infer Param}/${infer Rest}`
  ? Param | Name<`/${Rest}`>
  : Pattern extends `${string}:${infer Param}`
    ? Param
    : never;

export type Params<Pattern extends string> = { [Key in Name<Pattern>]: string };

/** The address of a place; what stands in it is escaped. */
export function pathTo<Pattern extends string>(
  pattern: Pattern,
  ...given: Name<Pattern> extends never ? [] : [Params<Pattern>]
): string {
  const params: Record<string, string> = given[0] ?? {};
  return pattern.replace(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** What stands in an address, or null when it is not of this pattern. */
export function paramsIn(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const found = path.replace(/(.)\/$/, "$1").split("/");
  if (wanted.length !== found.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const here = found[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== here) return null;
    } else {
      const value = decoded(here);
      if (value === null || value === "") return null;
      params[part.slice(1)] = value;
    }
  }
  return params;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
