/** Every place of the app: its page, who may see it, and the words of its title. Tests loop over this table. */

import type { Component } from "svelte";
import type { Words } from "../words/en";
import type { Role } from "./caller.svelte";

export interface Route {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each page has the props of its own pattern
  page: () => Promise<{ default: Component<any> }>;
  role: Role;
  title: keyof Words["titles"];
  /** A page that has a head of its own (the stage). */
  bare?: boolean;
}

export const ROUTES = {
  "/": { page: () => import("../rooms/shelf/Shelf.svelte"), role: "player", title: "shelf" },
  "/app": { page: () => import("../rooms/shelf/Shelf.svelte"), role: "player", title: "shelf" },
  "/app/story/:story_id": { page: () => import("../rooms/story/StoryPage.svelte"), role: "player", title: "story" },
  "/app/play/:session_id": { page: () => import("../rooms/stage/Stage.svelte"), role: "player", title: "stage", bare: true },
  "/app/play/:session_id/tree": { page: () => import("../rooms/stage/TreePage.svelte"), role: "player", title: "tree" },
  "/app/play/:session_id/turn/:turn_id": { page: () => import("../rooms/stage/WhyPage.svelte"), role: "player", title: "why" },
  "/app/play/:session_id/people/:person_id": { page: () => import("../rooms/stage/PersonPage.svelte"), role: "player", title: "people" },
  "/app/me": { page: () => import("../rooms/me/Me.svelte"), role: "player", title: "me" },
  "/app/npc": { page: () => import("../rooms/npc/Npc.svelte"), role: "player", title: "npc" },
  "/app/house": { page: () => import("../rooms/house/House.svelte"), role: "admin", title: "house" },
} as const satisfies Record<string, Route>;

export type Place = keyof typeof ROUTES;
