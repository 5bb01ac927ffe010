/** How the page is looked at: where the new turn is put, that the view then holds still, and what lies below it.
 *
 *  The player's line is put once near the top edge; from then on nothing scrolls by itself. The last turn is at least
 *  as tall as the rest of the view (in the style sheet), so that there is room for it. With "follow the text" the last
 *  line is kept at 70 % of the height until the reader touches anything. Nothing is decided by the distance from the
 *  bottom. */

import { tick, untrack } from "svelte";
import { reading } from "../../app/reading.svelte";
import { AT_FIRST } from "../../play/transcript";

const PAGE_TOP = 0.15;
const FOLLOWED_AT = 0.7;
const OPENED_AT = 0.85;
/** How long a page that was just opened is put in its place again when something is added to it. */
const SETTLES_WITHIN_MS = 5_000;
/** Turns that are drawn before the page is shown; those above follow a few at a time. */
const DRAWN_AT_FIRST = 8;
const DRAWN_MORE = 10;

export class Viewing {
  scroller = $state<HTMLElement | null>(null);
  /** The end of the text, watched from outside of the turn that grows. */
  moreBelow = $state(false);
  /** How many turns are drawn, the newest first: a reader sees the end at once, and the rest comes above it. */
  drawn = $state(DRAWN_AT_FIRST);
  #following = false;
  #settled: (() => void) | null = null;
  #putAt = 0;

  /** Watches the reader's hands, which always win. */
  watch(scroller: HTMLElement): () => void {
    this.scroller = scroller;
    const letGo = (): void => {
      this.#following = false;
      this.#settle();
    };
    const selects = (): void => {
      const selection = document.getSelection();
      if (selection !== null && !selection.isCollapsed && scroller.contains(selection.anchorNode)) letGo();
    };
    const keys = (event: KeyboardEvent): void => {
      if (["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown", " "].includes(event.key) && !isTyping(event.target)) letGo();
    };
    scroller.addEventListener("wheel", letGo, { passive: true });
    scroller.addEventListener("touchmove", letGo, { passive: true });
    scroller.addEventListener("pointerdown", letGo, { passive: true });
    addEventListener("keydown", keys);
    document.addEventListener("selectionchange", selects);
    return () => {
      scroller.removeEventListener("wheel", letGo);
      scroller.removeEventListener("touchmove", letGo);
      scroller.removeEventListener("pointerdown", letGo);
      removeEventListener("keydown", keys);
      this.#settle();
      document.removeEventListener("selectionchange", selects);
      this.scroller = null;
    };
  }

  /** Watches whether the end of the text is in view. */
  watchEnd(end: HTMLElement): () => void {
    const root = untrack(() => this.scroller);
    const observer = new IntersectionObserver(
      ([seen]) => {
        this.moreBelow = seen !== undefined && !seen.isIntersecting && seen.boundingClientRect.top > (seen.rootBounds?.bottom ?? 0) - 1;
      },
      { root },
    );
    observer.observe(end);
    return () => {
      observer.disconnect();
      this.moreBelow = false;
    };
  }

  /** Puts the newest turn near the top; the view does not move after that. */
  async placeNewest(): Promise<void> {
    await tick();
    this.#settle();
    this.#following = reading.now.scroll === "follow";
    const turns = this.scroller?.querySelectorAll<HTMLElement>("article.turn");
    const newest = turns?.[turns.length - 1];
    if (newest !== undefined) this.#put(newest);
  }

  /** Opens the page where the text ends, with what was told before above it; a newest turn that is longer than the view
   *  begins near the top.
   *
   *  How tall things are is known late: turns out of sight are measured when they are drawn, and the title page, notes
   *  and letters of another face come after the text. So the page is put in its place again whenever its height changes,
   *  until the reader touches anything or some seconds are over. */
  async open(): Promise<void> {
    await tick();
    const { scroller } = this;
    const text = scroller?.querySelector<HTMLElement>(".prose");
    if (scroller === null || text === null || text === undefined) return;
    this.#settle();
    const observer = new ResizeObserver(() => this.#putEnd(scroller));
    observer.observe(scroller);
    observer.observe(text);
    const timer = setTimeout(() => this.#settle(), SETTLES_WITHIN_MS);
    // A scroll that is not ours is the reader's, whatever it was made with. The browser's own corrections are off meanwhile;
    // a page that became shorter may still have been moved to its end.
    const scrolled = (): void => {
      const furthest = scroller.scrollHeight - scroller.clientHeight;
      if (Math.abs(scroller.scrollTop - this.#putAt) > 2 && scroller.scrollTop < furthest - 2) this.#settle();
    };
    scroller.addEventListener("scroll", scrolled, { passive: true });
    scroller.style.overflowAnchor = "none";
    this.#settled = () => {
      observer.disconnect();
      clearTimeout(timer);
      scroller.removeEventListener("scroll", scrolled);
      scroller.style.overflowAnchor = "";
    };
    this.#putEnd(scroller);
    this.#drawMore();
  }

  #settle(): void {
    this.#settled?.();
    this.#settled = null;
  }

  #putEnd(scroller: HTMLElement): void {
    const turns = scroller.querySelectorAll<HTMLElement>("article.turn");
    const newest = turns[turns.length - 1];
    const end = scroller.querySelector<HTMLElement>(".end-of-text");
    if (newest === undefined || end === null) return;
    const box = scroller.getBoundingClientRect();
    const top = newest.getBoundingClientRect().top - box.top - box.height * PAGE_TOP;
    const over = end.getBoundingClientRect().top - box.top - box.height * OPENED_AT;
    scroller.scrollTo({ top: Math.max(0, scroller.scrollTop + Math.min(top, over)), behavior: "instant" });
    this.#putAt = scroller.scrollTop;
  }

  /** Draws the turns above, some in each frame, so that no frame is late. */
  #drawMore(): void {
    if (this.drawn === Infinity) return;
    requestAnimationFrame(() =>
      setTimeout(() => {
        const drawn = this.drawn + DRAWN_MORE;
        this.drawn = drawn >= AT_FIRST ? Infinity : drawn;
        this.#drawMore();
      }),
    );
  }

  /** Puts a turn near the top, and the focus on it where asked. */
  async place(turnId: string, { focus = false } = {}): Promise<boolean> {
    this.drawn = Infinity;
    await tick();
    const turn = this.scroller?.querySelector<HTMLElement>(`article.turn[data-turn="${CSS.escape(turnId)}"]`);
    if (turn === null || turn === undefined) return false;
    this.#settle();
    this.#put(turn);
    if (focus) turn.focus({ preventScroll: true });
    return true;
  }

  #put(element: HTMLElement): void {
    const { scroller } = this;
    if (scroller === null) return;
    const box = scroller.getBoundingClientRect();
    const top = element.getBoundingClientRect().top - box.top + scroller.scrollTop;
    scroller.scrollTo({ top: Math.max(0, top - box.height * PAGE_TOP), behavior: "instant" });
  }

  /** Keeps the last line in view, if the reader asked for it and has not touched anything since. */
  async follow(): Promise<void> {
    if (!this.#following) return;
    await tick();
    const { scroller } = this;
    const end = scroller?.querySelector<HTMLElement>(".end-of-text");
    if (!this.#following || scroller === null || end === null || end === undefined) return;
    const box = scroller.getBoundingClientRect();
    const over = end.getBoundingClientRect().top - box.top - box.height * FOLLOWED_AT;
    if (over > 0) scroller.scrollTo({ top: scroller.scrollTop + over, behavior: "instant" });
  }

  toEnd(): void {
    this.#settle();
    const { scroller } = this;
    const end = scroller?.querySelector<HTMLElement>(".end-of-text");
    if (scroller === null || end === null || end === undefined) return;
    const box = scroller.getBoundingClientRect();
    const over = end.getBoundingClientRect().top - box.top - box.height * FOLLOWED_AT;
    scroller.scrollTo({ top: scroller.scrollTop + over, behavior: "instant" });
  }

  /** Where a turn stands on the screen, to bring another telling of it to the same place. */
  heightOf(turnId: string): number | null {
    const turn = this.scroller?.querySelector<HTMLElement>(`article.turn[data-turn="${CSS.escape(turnId)}"]`);
    return turn?.getBoundingClientRect().top ?? null;
  }

  async bringTo(index: number, height: number | null): Promise<void> {
    await tick();
    this.#settle();
    const { scroller } = this;
    const turn = scroller?.querySelector<HTMLElement>(`article.turn[data-index="${index}"]`);
    if (scroller === null || turn === null || turn === undefined || height === null) return;
    scroller.scrollTo({ top: scroller.scrollTop + turn.getBoundingClientRect().top - height, behavior: "instant" });
  }
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select") !== null;
}
