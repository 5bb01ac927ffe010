/** Numbers as old books have them. */

const STEPS: readonly [number, string][] = [
  [1000, "M"],
  [900, "CM"],
  [500, "D"],
  [400, "CD"],
  [100, "C"],
  [90, "XC"],
  [50, "L"],
  [40, "XL"],
  [10, "X"],
  [9, "IX"],
  [5, "V"],
  [4, "IV"],
  [1, "I"],
];

export function roman(number: number): string {
  let left = Math.max(0, Math.floor(number));
  let numeral = "";
  for (const [value, sign] of STEPS)
    for (; left >= value; left -= value) numeral += sign;
  return numeral;
}

/** A number of minutes or hours, always in two figures. */
export function two(number: number): string {
  return String(number).padStart(2, "0");
}

/** A time of so many milliseconds, as short as it is still told: 420 ms, 1.4 s. */
export function milliseconds(time: number): string {
  return time < 1000 ? `${Math.round(time)} ms` : `${(time / 1000).toFixed(1)} s`;
}
