/** Sends a file, telling how much of it has gone; `fetch` cannot tell that, an XMLHttpRequest can. */

import { w } from "../words/words.svelte";
import type { Answer, Problem } from "./rpc";

export interface Taken {
  resource_id: string;
  file_id: string;
  size_bytes: number;
}

export function upload(resource_id: string, file_id: string, file: Blob & { name?: string }, tell: (share: number) => void): Promise<Answer<Taken>> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/upload/${encodeURIComponent(resource_id)}/${encodeURIComponent(file_id)}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    if (file.name) request.setRequestHeader("x-file-name", encodeURIComponent(file.name).slice(0, 200));
    request.upload.onprogress = (event) => tell(event.lengthComputable && event.total > 0 ? event.loaded / event.total : 0);
    request.onerror = () => resolve({ ok: false, problem: { kind: "unreachable", code: 0, sentence: w().app.unreachable } });
    request.onload = () => resolve(answerOf(request.status, request.responseText));
    request.send(file);
  });
}

export function answerOf(status: number, text: string): Answer<Taken> {
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy may answer with a page of its own.
  }
  if (status < 300 && typeof body === "object" && body !== null) return { ok: true, value: body as Taken };
  const told = (body ?? {}) as { code?: number; message?: string };
  const problem: Problem = {
    kind: status === 401 ? "door" : told.message ? "refused" : "garbled",
    code: told.code ?? 0,
    sentence: told.message ?? w().app.garbled(status),
  };
  return { ok: false, problem };
}
