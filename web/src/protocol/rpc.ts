/**
 * Calls to the server: typed by the protocol, with errors as values.
 *
 * A call never throws. It answers `{ok: true, value}`, or `{ok: false, problem}` whose sentence can be shown as it is:
 * the server's own where there is one, else one in the reader's language.
 */

import { takeAhead } from "./ahead";
import type { Json, Methods } from "./protocol.gen";
import { w } from "../words/words.svelte";

export type Method = keyof Methods;
type WithSession = { [M in Method]: Methods[M]["session"] extends true ? M : never }[Method];

export type ProblemKind = "refused" | "door" | "unreachable" | "garbled" | "left";

export interface Problem {
  /** `door`: a token is needed. `left`: the caller gave up (its signal was aborted). */
  kind: ProblemKind;
  /** The server's code; 0 where the server did not speak. */
  code: number;
  sentence: string;
  data?: Json;
  retryAfterS?: number;
}

export type Answer<Value> = { ok: true; value: Value } | { ok: false; problem: Problem };

export interface CallOptions {
  session_id?: string;
  signal?: AbortSignal;
  /** Milliseconds to wait; calls that ask a model need longer than the usual 20 s. */
  patience?: number;
}

export const CODES = {
  invalidParams: -32602,
  methodNotFound: -32601,
  tokenNeeded: 40101,
  denied: 40303,
  notFound: 40404,
  conflict: 40909,
  tooMany: 42900,
  model: 50001,
  stream: 50002,
} as const;

const PATIENCE_MS = 20_000;
let lastId = 0;

type Given<M extends Method> = Methods[M]["params"];

export async function call<M extends WithSession>(
  method: M,
  params: Given<M>,
  options: CallOptions & { session_id: string },
): Promise<Answer<Methods[M]["result"]>>;
export async function call<M extends Exclude<Method, WithSession>>(
  method: M,
  params: Given<M>,
  options?: CallOptions,
): Promise<Answer<Methods[M]["result"]>>;
export async function call(method: string, params: unknown, options: CallOptions = {}): Promise<Answer<unknown>> {
  const ahead = await takeAhead(method, params, options.session_id);
  const answered =
    ahead !== null
      ? await read(ahead)
      : await ask("/rpc", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: envelope(method, params, options.session_id),
          ...options,
        });
  if (!answered.ok) return answered;
  const body = answered.value.body as { result?: unknown } | null;
  return body !== null && typeof body === "object" && "result" in body ? fine(body.result) : garbled();
}

/** The JSON of a request. */
export function envelope(method: string, params: unknown, session_id?: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id: String(++lastId), method, params, ...(session_id ? { session_id } : {}) });
}

interface Asked extends CallOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: BodyInit;
}

/** A request to any route of the server; the answer's JSON, or the problem that it tells. */
export async function ask(path: string, asked: Asked = {}): Promise<Answer<{ status: number; body: unknown }>> {
  const reached = await reach(path, asked);
  return reached.ok ? await read(reached.value) : reached;
}

async function read(response: Response): Promise<Answer<{ status: number; body: unknown }>> {
  let body: unknown = null;
  try {
    const text = await response.text();
    body = text === "" ? null : JSON.parse(text);
  } catch {
    return response.ok ? garbled() : { ok: false, problem: problemIn(null, response) };
  }
  const told = errorIn(body);
  return response.ok && told === null ? fine({ status: response.status, body }) : { ok: false, problem: problemIn(told, response) };
}

/** A request whose body the caller reads: streams, files. */
export async function reach(path: string, asked: Asked = {}): Promise<Answer<Response>> {
  const { session_id: _, patience = PATIENCE_MS, signal, headers, ...init } = asked;
  const bounds = [...(signal ? [signal] : []), ...(patience > 0 ? [AbortSignal.timeout(patience)] : [])];
  try {
    const response = await fetch(path, {
      ...init,
      ...(headers ? { headers } : {}),
      credentials: "same-origin",
      ...(bounds.length > 0 ? { signal: AbortSignal.any(bounds) } : {}),
    });
    return fine(response);
  } catch {
    if (signal?.aborted) return { ok: false, problem: { kind: "left", code: 0, sentence: "" } };
    return { ok: false, problem: { kind: "unreachable", code: 0, sentence: w().app.unreachable } };
  }
}

/** The problem that an answer tells, for those who read the answer themselves. */
export async function problemOf(response: Response): Promise<Problem> {
  try {
    return problemIn(errorIn(JSON.parse(await response.text())), response);
  } catch {
    return problemIn(null, response);
  }
}

export function problemFrom(error: { code: number; message: string; data?: Json }): Problem {
  return problemIn(error, null);
}

interface ToldError {
  code: number;
  message: string;
  data?: Json;
}

function errorIn(body: unknown): ToldError | null {
  if (typeof body !== "object" || body === null) return null;
  const found = ("error" in body ? body.error : body) as Partial<ToldError> | null;
  if (typeof found !== "object" || found === null) return null;
  return typeof found.code === "number" && typeof found.message === "string" ? (found as ToldError) : null;
}

function problemIn(told: ToldError | null, response: Response | null): Problem {
  const code = told?.code ?? 0;
  const door = code === CODES.tokenNeeded || response?.status === 401;
  const wait = Number(response?.headers.get("retry-after") ?? (told?.data as { retry_after_s?: number } | undefined)?.retry_after_s);
  return {
    kind: door ? "door" : told === null ? "garbled" : "refused",
    code,
    sentence: told?.message || w().app.garbled(response?.status ?? 0),
    ...(told?.data === undefined ? {} : { data: told.data }),
    ...(Number.isFinite(wait) && wait > 0 ? { retryAfterS: wait } : {}),
  };
}

function fine<Value>(value: Value): Answer<Value> {
  return { ok: true, value };
}

function garbled(): Answer<never> {
  return { ok: false, problem: { kind: "garbled", code: 0, sentence: w().app.garbled(0) } };
}
