/** Whether a text is long enough to begin with a letter three lines high: beside a shorter one it leaves a hole. */
export function opensBook(text: string): boolean {
  return text.length > 150;
}
