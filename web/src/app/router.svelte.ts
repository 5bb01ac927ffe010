/**
 * Finds the page of an address and goes from place to place without loading the document again.
 *
 * 1. A click on a link of ours is taken, unless it is meant for a new tab, a download or another window.
 * 2. Blockers are asked (unsaved work); one `false` stays here.
 * 3. The page's code is fetched; a fetch that fails leaves the old page and says so.
 * 4. The address changes, the page is shown, and the view goes to the top, or back to where it was for Back.
 */

import type { Component } from "svelte";
import { paramsIn, pathTo, type Params } from "./path";
import { ROUTES, type Place, type Route } from "./routes";

export { pathTo };

interface Shown {
  route: Route;
  place: Place | null;
  params: Record<string, string>;
  // A page takes the params of its own pattern, which only the table knows.
  page: Component<Record<string, string>>;
}

type Blocker = () => boolean | Promise<boolean>;

let shown = $state.raw<Shown | null>(null);
let path = $state("/");
let search = $state.raw(new URLSearchParams());
let hash = $state("");
let failure = $state<string | null>(null);
const blockers = new Set<Blocker>();
const scrolls = new Map<number, number>();
let step = 0;
let going = 0;

export const router = {
  get shown(): Shown | null {
    return shown;
  },
  get path(): string {
    return path;
  },
  get search(): URLSearchParams {
    return search;
  },
  get hash(): string {
    return hash;
  },
  /** Where the code of a page could not be fetched: the address that was wanted. */
  get failure(): string | null {
    return failure;
  },
};

/** Goes to a place by its pattern. */
export function goTo<P extends Place>(place: P, ...given: Params<P> extends Record<string, never> ? [] : [Params<P>]): Promise<void> {
  return go(pathTo(place as string, ...(given as [])));
}

/** Goes to an address of ours. */
export async function go(address: string, how: { replace?: boolean; keepScroll?: boolean } = {}): Promise<void> {
  const url = new URL(address, location.origin);
  if (!(await mayLeave())) return;
  await open(url, () => {
    scrolls.set(step, scrollY);
    if (!how.replace) step += 1;
    history[how.replace ? "replaceState" : "pushState"]({ step }, "", url);
    if (!how.keepScroll) scrollTo(0, 0);
  });
}

/** Asked before the place changes; `beforeunload` covers closing the tab. Fits in an `$effect`. */
export function blockLeaving(blocker: Blocker): () => void {
  blockers.add(blocker);
  return () => blockers.delete(blocker);
}

/** Starts listening, and opens the page of the present address. */
export function startRouter(): () => void {
  history.scrollRestoration = "manual";
  step = (history.state as { step?: number } | null)?.step ?? 0;
  history.replaceState({ step }, "");
  void open(new URL(location.href), () => undefined);
  addEventListener("click", onClick);
  addEventListener("popstate", onBack);
  return () => {
    removeEventListener("click", onClick);
    removeEventListener("popstate", onBack);
  };
}

export function find(address: string): { place: Place | null; route: Route; params: Record<string, string> } {
  for (const place of Object.keys(ROUTES) as Place[]) {
    const params = paramsIn(place, address);
    if (params !== null) return { place, route: ROUTES[place], params };
  }
  return { place: null, route: { page: () => import("./Nowhere.svelte"), role: "player", title: "nowhere" }, params: {} };
}

async function open(url: URL, arrive: () => void): Promise<void> {
  const mine = ++going;
  const { place, route, params } = find(url.pathname);
  try {
    const { default: page } = await route.page();
    if (mine !== going) return;
    arrive();
    shown = { route, place, params, page: page as Component<Record<string, string>> };
    failure = null;
  } catch {
    if (mine !== going) return;
    failure = url.pathname + url.search;
    return;
  }
  path = url.pathname;
  search = url.searchParams;
  hash = url.hash.slice(1);
}

async function mayLeave(): Promise<boolean> {
  for (const blocker of blockers) if (!(await blocker())) return false;
  return true;
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || !link.hasAttribute("href") || link.hasAttribute("download") || (link.target && link.target !== "_self")) return;
  const url = new URL(link.href);
  const inside = url.origin === location.origin && (url.pathname === "/" || url.pathname === "/app" || url.pathname.startsWith("/app/"));
  if (!inside || (link.getAttribute("href") ?? "").startsWith("#")) return;
  event.preventDefault();
  void go(url.href);
}

async function onBack(event: PopStateEvent): Promise<void> {
  const to = (event.state as { step?: number } | null)?.step ?? 0;
  if (to === step) {
    hash = location.hash.slice(1);
    return;
  }
  if (!(await mayLeave())) {
    history.go(step - to);
    return;
  }
  scrolls.set(step, scrollY);
  step = to;
  await open(new URL(location.href), () => undefined);
  // The page draws first what it knows; twice a frame later it is as tall as it was.
  requestAnimationFrame(() => requestAnimationFrame(() => scrollTo(0, scrolls.get(to) ?? 0)));
}
