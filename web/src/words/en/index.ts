/** English, the catalogue that all others follow. One file for each room. */

import { aa, app, door, keys, keySheet, palette, titles } from "./app";
import { canon } from "./canon";
import { house } from "./house";
import { me } from "./me";
import { npc } from "./npc";
import { shelf } from "./shelf";
import { stage } from "./stage";
import { story } from "./story";
import { people, why } from "./why";

export const en = { aa, app, door, keys, keySheet, palette, titles, canon, house, me, npc, people, shelf, stage, story, why };

export type Words = typeof en;
