// The count in the tab title, and optional notifications and sounds.

import { effect } from "@preact/signals";

import { isNotified } from "./device";
import { arrivals, link, waiting } from "./live";
import { notifies, sounds } from "./settings";

/** Keeps the title right and tells of what comes while nobody looks. */
export function badge(): void {
  effect(() => {
    const count = waiting.value.length;
    const away = link.value === "away" ? "⚠ " : "";
    document.title = `${away}${count === 0 ? "" : `(${count}) `}Countersign`;
  });
  let told = arrivals.peek();
  effect(() => {
    const fresh = arrivals.value - told;
    told = arrivals.value;
    if (fresh === 0) return;
    if (sounds.peek()) sound();
    if (notifies.peek() && document.visibilityState !== "visible") void notify(fresh);
  });
}

/** What waits is not written into the notification: it may be read by somebody passing by. */
async function notify(fresh: number): Promise<void> {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  // A device that is told anyway is not told twice.
  if (await isNotified()) return;
  const body = fresh === 1 ? "A call is waiting for your answer." : `${fresh} calls are waiting for your answer.`;
  const shown = new Notification("Countersign", { body, tag: "countersign" });
  shown.onclick = () => {
    window.focus();
    shown.close();
  };
}

function sound(): void {
  const context = new AudioContext();
  const volume = context.createGain();
  volume.connect(context.destination);
  volume.gain.setValueAtTime(0.08, context.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.0001, context.currentTime + 0.5);
  const tone = context.createOscillator();
  tone.frequency.value = 587;
  tone.connect(volume);
  tone.onended = () => void context.close();
  tone.start();
  tone.stop(context.currentTime + 0.5);
}
