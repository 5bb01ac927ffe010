import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import type { Play } from "../../play/play.svelte";
import ExportDialog from "./ExportDialog.svelte";

function answer(goes_on_after: string | null): Response {
  const archive = { resource_id: "session_export:x", file_id: "file" };
  const result = { type: "session_export_prepared", export_id: "x", archive, file_name: "x.md", content_type: "text/markdown", size_bytes: 1, goes_on_after };
  return new Response(JSON.stringify({ jsonrpc: "2.0", id: "1", result }), { headers: { "content-type": "application/json" } });
}

afterEach(() => vi.unstubAllGlobals());

it("a very long play is saved in parts, and another format begins again", async () => {
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.open = true;
  };
  const answers = ["t9", null, null];
  const asked: unknown[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    asked.push((JSON.parse(String(init.body)) as { params: unknown }).params);
    return Promise.resolve(answer(answers.shift() ?? null));
  });
  render(ExportDialog, { play: { sessionId: "s1" } as Play, onclose: () => undefined });
  await userEvent.click(screen.getByText("Save"));
  expect(await screen.findByText(/^Part 1 is ready/)).toBeTruthy();
  await userEvent.click(screen.getByText("Next part"));
  expect(await screen.findByText("Part 2 is ready. It is the last.")).toBeTruthy();
  expect(screen.queryByText("Next part")).toBeNull();
  await userEvent.click(screen.getByLabelText("Plain text"));
  await userEvent.click(screen.getByText("Save"));
  expect(await screen.findByText("The book is ready.")).toBeTruthy();
  expect(asked).toMatchObject([{ in_parts: true }, { in_parts: true, after_turn_id: "t9" }, { format: "text", in_parts: true }]);
  expect(asked[2]).not.toHaveProperty("after_turn_id");
});
