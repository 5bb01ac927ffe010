import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import Choice from "./Choice.svelte";
import Field from "./Field.svelte";
import Portrait from "./Portrait.svelte";
import Sentence from "./Sentence.svelte";

describe("parts", () => {
  it.each([
    ["Run `fabula doctor` now.", "Run fabula doctor now.", ["fabula doctor"]],
    ["An odd ` stays.", "An odd  stays.", []],
    ["<b>`x`</b>", "<b>x</b>", ["x"]],
  ])("a sentence %j", (text, shown, codes) => {
    const { container } = render(Sentence, { text });
    expect(container.textContent).toBe(shown);
    expect([...container.querySelectorAll("code")].map((code) => code.textContent)).toEqual(codes);
  });

  it("a field tells its problem to those who cannot see it", () => {
    render(Field, { label: "Seed", hint: "A number.", problem: "No number." });
    const field = screen.getByLabelText("Seed");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    const told = (field.getAttribute("aria-describedby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent);
    expect(told).toEqual(["A number.", "No number."]);
  });

  it("a choice answers to the keyboard", async () => {
    const onchoose = vi.fn();
    render(Choice, { label: "Paper", value: "day", options: ["day", "lamp"].map((value) => ({ value, label: value })), onchoose });
    await userEvent.click(screen.getByLabelText("lamp"));
    expect(onchoose).toHaveBeenCalledWith("lamp");
  });

  it("a portrait that cannot be loaded shows a letter", async () => {
    render(Portrait, { name: "Ärmel", id: "x", src: "/nowhere" });
    screen.getByRole("img", { name: "Ärmel" }).dispatchEvent(new Event("error"));
    await Promise.resolve();
    expect((await screen.findByRole("img", { name: "Ärmel" })).textContent).toBe("Ä");
  });
});
