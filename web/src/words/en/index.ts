/** English, the catalogue that all others follow. One file for each room. */

import { aa, app, door, keys, keySheet, palette, titles } from "./app";
import { house } from "./house";
import { me } from "./me";
import { npc } from "./npc";
import { shelf } from "./shelf";
import { stage } from "./stage";
import { story } from "./story";

export const en = { aa, app, door, keys, keySheet, palette, titles, house, me, npc, shelf, stage, story };

export type Words = typeof en;
