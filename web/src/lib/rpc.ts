/** The public protocol, as far as this page speaks it. */

export interface StorySummary {
  story_id: string;
  display_name: string;
  introduction: string;
}

export interface Dashboard {
  health: { status: string };
  counts: {
    characters_total: number;
    story_resources_total: number;
    stories_total: number;
    sessions_total: number;
  };
}

export interface Api {
  api_id: string;
  display_name: string;
  provider: string;
  model: string;
}

/** What the server answered instead of a result; `code` 40101 asks for a token. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** The server could not be reached at all. */
export class Unreachable extends Error {}

export const TOKEN_NEEDED = 40101;
const TOKEN_KEY = "fabula.token";

let lastId = 0;

export function keepToken(token: string): void {
  if (token) sessionStorage.setItem(TOKEN_KEY, token);
  else sessionStorage.removeItem(TOKEN_KEY);
}

export async function call<Result>(method: string, params: Record<string, unknown> = {}): Promise<Result> {
  const token = sessionStorage.getItem(TOKEN_KEY);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: String(++lastId), method, params });
  const answer = await reach("/rpc", { method: "POST", headers, body });
  return resultOf<Result>(await answer.json());
}

export async function isAlive(): Promise<boolean> {
  return (await reach("/healthz")).ok;
}

async function reach(path: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, signal: AbortSignal.timeout(10_000) });
  } catch {
    throw new Unreachable("The server does not answer. Is `fabula serve` still running?");
  }
}

function resultOf<Result>(answer: unknown): Result {
  const { result, error, code, message } = answer as Record<string, any>;
  if (error) throw new RpcError(error.code, error.message);
  if (typeof code === "number") throw new RpcError(code, message);
  return result as Result;
}
