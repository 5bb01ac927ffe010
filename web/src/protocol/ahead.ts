/** Answers that `boot.js` asked for before the app was loaded. Each is taken once, by the first call that is the same. */

interface Asked {
  method: string;
  params: string;
  session: string;
  at: number;
  answer: Promise<Response>;
}

/** What was asked for long ago may no longer be true. */
const FRESH_MS = 10_000;

/** The answer to a call, if it was asked for ahead and the server took it; otherwise it has to be asked again. */
export async function takeAhead(method: string, params: unknown, session_id = ""): Promise<Response | null> {
  const waiting = (globalThis as { fabulaAhead?: Asked[] }).fabulaAhead ?? [];
  const wanted = JSON.stringify(params);
  const at = waiting.findIndex((one) => one.method === method && one.session === session_id && one.params === wanted);
  const [found] = at < 0 ? [] : waiting.splice(at, 1);
  if (found === undefined || Date.now() - found.at > FRESH_MS) return null;
  try {
    const response = await found.answer;
    return response.ok ? response : null;
  } catch {
    return null;
  }
}
