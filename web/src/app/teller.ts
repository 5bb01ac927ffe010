/** Who tells new plays: the models of the group that is taken when none is named. */

import { call } from "../protocol/rpc";
import type { ApiView } from "../protocol/protocol.gen";

export interface Tellers {
  apis: readonly ApiView[];
  /** The ids that the usual group binds to some role. */
  used: ReadonlySet<string>;
  /** Names of the models that tell, without the understudy; empty when it tells alone. */
  names: readonly string[];
}

export async function findTellers(): Promise<Tellers | null> {
  const [apis, groups, config] = await Promise.all([call("api.list", { limit: 200 }), call("api_group.list", { limit: 200 }), call("config.get_global", {})]);
  if (!apis.ok || !groups.ok || !config.ok) return null;
  const group = groups.value.api_groups.find((one) => one.api_group_id === config.value.api_group_id);
  const used = new Set<string>(Object.values(group?.bindings ?? {}));
  const names = apis.value.apis.filter((api) => used.has(api.api_id) && api.provider !== "understudy").map((api) => api.model || api.display_name);
  return { apis: apis.value.apis, used, names: [...new Set(names)] };
}
