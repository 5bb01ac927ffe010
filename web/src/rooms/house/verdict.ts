/** What a test of a model found, in one line. */

import type { ApiTested } from "../../protocol/protocol.gen";
import { number, w } from "../../words/words.svelte";

export function verdictOf(tested: ApiTested): string {
  const words = w().house.verdict;
  const failed = tested.checks.filter((check) => !check.ok);
  if (!tested.ok) {
    const reasons = failed.map((check) => check.note).filter(Boolean);
    return tested.problem || reasons.join(" ") || w().house.testFailed;
  }
  const parts = [
    tested.first_word_ms == null ? words.answers : words.firstWord(number(Math.round(tested.first_word_ms))),
    ...(tested.tokens_per_second == null ? [] : [words.pace(number(Math.round(tested.tokens_per_second)))]),
    ...tested.checks.map((check) => words[check.name]),
    ...(tested.slow ? [words.slow] : []),
  ];
  return parts.join(", ");
}
