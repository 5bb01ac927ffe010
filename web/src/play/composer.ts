/** What the box at the foot of the page may do, as one table: a state, a signal, the next state. Pure.
 *
 *  The story says what it waits for (`Waits`); the turn and the connection say whether it is the player's turn at all. */

/** What the play waits for when nothing is under way. */
export type Waits =
  | { kind: "free" }
  | { kind: "choice" }
  | { kind: "text"; placeholder: string }
  | { kind: "agent"; character: string }
  | { kind: "continue" }
  | { kind: "ended" };

export type StateName =
  | "free"
  | "choice"
  | "text"
  | "agent"
  | "continue"
  | "sending"
  | "telling"
  | "bridging"
  | "stopped"
  | "failed"
  | "reconnecting"
  | "others"
  | "looking"
  | "ended";

export type Signal =
  | "send" // the player's words leave
  | "begun" // `turn_started`: they are safe
  | "bridge" // a talk leads over to the story
  | "over" // `completed`
  | "stop" // the player's own stop has taken effect
  | "fail" // `failed`
  | "refuse" // an error before the stream
  | "lose" // the line broke
  | "find" // it is there again, and the turn goes on
  | "unsent" // the line broke before the server heard anything
  | "others_begin" // somebody else's turn began
  | "others_end"
  | "look" // another line is looked at
  | "return"
  | "dismiss"; // the player takes other words after a failure

export interface Composer {
  state: StateName;
  waits: Waits;
}

const RESTING: readonly StateName[] = ["free", "choice", "text", "agent", "continue", "ended"];
const AFTERMATH: readonly StateName[] = ["stopped", "failed"];

/** The state in which a play rests that waits for this. */
export function rest(waits: Waits): Composer {
  return { state: waits.kind, waits };
}

/** The next state. A signal that means nothing in a state changes nothing; `waits` is what the story waits for now. */
export function next(composer: Composer, signal: Signal, waits: Waits = composer.waits): Composer {
  const to = (state: StateName): Composer => ({ state, waits });
  const { state } = composer;
  switch (signal) {
    case "send":
      return state !== "ended" && (isResting(state) || isAftermath(state)) ? to("sending") : composer;
    case "begun":
      return state === "sending" || state === "reconnecting" || state === "others" ? to("telling") : composer;
    case "bridge":
      return state === "telling" || state === "reconnecting" ? to("bridging") : composer;
    case "over":
      return isUnderWay(state) || state === "reconnecting" || state === "others" ? rest(waits) : { ...composer, waits };
    case "stop":
      return isUnderWay(state) || state === "reconnecting" ? to("stopped") : composer;
    case "fail":
      return isUnderWay(state) || state === "reconnecting" || state === "others" ? to("failed") : composer;
    case "refuse":
    case "unsent":
      return state === "sending" || state === "reconnecting" ? rest(waits) : composer;
    case "lose":
      return isUnderWay(state) ? to("reconnecting") : composer;
    case "find":
      return state === "reconnecting" ? to("telling") : composer;
    case "others_begin":
      return isResting(state) || isAftermath(state) ? to("others") : composer;
    case "others_end":
      return state === "others" ? rest(waits) : composer;
    case "look":
      return isResting(state) || isAftermath(state) || state === "looking" ? to("looking") : composer;
    case "return":
      return state === "looking" ? rest(waits) : composer;
    case "dismiss":
      return isAftermath(state) ? rest(waits) : composer;
  }
}

export function isResting(state: StateName): boolean {
  return RESTING.includes(state);
}

export function isAftermath(state: StateName): boolean {
  return AFTERMATH.includes(state);
}

/** Whether a turn of this page is under way. */
export function isUnderWay(state: StateName): boolean {
  return state === "sending" || state === "telling" || state === "bridging";
}

/** In a talk one message is in flight at a time; in a scene one may write ahead. */
export function isTalk(waits: Waits): boolean {
  return waits.kind === "agent" || waits.kind === "continue";
}

/** How the box stands: open to send, open as a draft only, locked with its words, behind a button, or not there. */
export type Box = "open" | "draft" | "locked" | "folded" | "closed";

export type Primary = "send" | "answer" | "say" | "do" | "stop" | "again" | "go_there" | "begin_again" | "wait" | "none";

export function boxOf({ state, waits }: Composer): Box {
  switch (state) {
    case "free":
    case "text":
    case "agent":
    case "continue":
    case "stopped":
    case "failed":
      return "open";
    case "choice":
      return "folded";
    case "sending":
      return "locked";
    case "telling":
      return waits.kind === "free" ? "draft" : "locked";
    case "reconnecting":
      return isTalk(waits) ? "locked" : "draft";
    case "others":
      return "draft";
    case "bridging":
    case "looking":
    case "ended":
      return "closed";
  }
}

export function primaryOf({ state }: Composer): Primary {
  switch (state) {
    case "free":
    case "choice":
      return "send";
    case "text":
      return "answer";
    case "agent":
      return "say";
    case "continue":
      return "do";
    case "sending":
    case "telling":
    // To try now is beside the box: where the network comes back just then, a click must not meet Stop instead.
    case "reconnecting":
      return "stop";
    case "bridging":
      return "none";
    case "stopped":
    case "failed":
      return "again";
    case "others":
      return "wait";
    case "looking":
      return "go_there";
    case "ended":
      return "begin_again";
  }
}

/** The ways of speaking in a scene play. */
export type Manner = "say" | "do" | "tell" | "aside";

export const MANNERS: readonly Manner[] = ["say", "do", "tell", "aside"];

/** The words as they are sent: said as they are, done in stars, told in brackets, aside out of character. */
export function inManner(words: string, manner: Manner): string {
  const said = words.trim();
  if (said === "") return said;
  switch (manner) {
    case "say":
      return said;
    case "do":
      return isWrapped(said, "*", "*") ? said : `*${said}*`;
    case "tell":
      return isWrapped(said, "[", "]") ? said : `[${said}]`;
    case "aside":
      return isWrapped(said, "((", "))") ? said : `((${said}))`;
  }
}

/** How kept words were meant, and the words without their marks. */
export function mannerOf(said: string): { manner: Manner; words: string } {
  const words = said.trim();
  if (isWrapped(words, "((", "))")) return { manner: "aside", words: words.slice(2, -2) };
  if (isWrapped(words, "[", "]")) return { manner: "tell", words: words.slice(1, -1) };
  if (isWrapped(words, "*", "*") && !words.slice(1, -1).includes("*")) return { manner: "do", words: words.slice(1, -1) };
  return { manner: "say", words: said };
}

function isWrapped(words: string, open: string, close: string): boolean {
  return words.length > open.length + close.length && words.startsWith(open) && words.endsWith(close);
}
