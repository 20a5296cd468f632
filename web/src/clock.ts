// The current time, and times as text.

import { signal } from "@preact/signals";

/** A browser's clock may be wrong by this much without being corrected, in seconds. */
const SKEW_IGNORED = 3;
let skew = 0;

/** Seconds since 1970 by the gateway's clock, once a second. */
export const now = signal(Date.now() / 1000);
window.setInterval(tick, 1000);

function tick(): void {
  now.value = Date.now() / 1000 + skew;
}

/** Learns from the date of an answer how far the browser's clock is off. */
export function heard(date: string | null): void {
  const there = date === null ? Number.NaN : Date.parse(date) / 1000;
  if (Number.isNaN(there)) return;
  const off = there - Date.now() / 1000;
  skew = Math.abs(off) > SKEW_IGNORED ? off : 0;
}

/** Returns a span in words: `42 s`, `4 min`, `3 h`, `2 days`. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 90) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(whole / 3600);
  if (hours < 48) return `${hours} h`;
  return `${Math.round(whole / 86_400)} days`;
}

/** Returns how long ago `at` was, in words. */
export function ago(at: number, from: number): string {
  const seconds = from - at;
  return seconds < 2 ? "just now" : `${span(seconds)} ago`;
}

const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Returns the time of day of `at`, or the whole date if it is not today. */
export function moment(at: number): string {
  const date = new Date(at * 1000);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? TIME : MOMENT).format(date);
}

/** Returns the date and time of `at`. */
export const fullMoment = (at: number): string => MOMENT.format(new Date(at * 1000));
