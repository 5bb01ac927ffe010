/** Deutsch. */

import type { Words } from "../en";
import { aa, app, door, keys, keySheet, palette, titles } from "./app";
import { canon } from "./canon";
import { house } from "./house";
import { me } from "./me";
import { npc } from "./npc";
import { shelf } from "./shelf";
import { stage } from "./stage";
import { story } from "./story";
import { people, why } from "./why";

export const de: Words = { aa, app, door, keys, keySheet, palette, titles, canon, house, me, npc, people, shelf, stage, story, why };
