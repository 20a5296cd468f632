// Settings of this browser: notifications and sounds are off by default, going on to the next card is on.

import { effect, signal, type Signal } from "@preact/signals";

function kept(name: string, usual: boolean): Signal<boolean> {
  const key = `countersign.${name}`;
  const made = signal(read(key) ?? usual);
  effect(() => {
    try {
      localStorage.setItem(key, String(made.value));
    } catch {
      // A browser that keeps nothing forgets it, and that is all.
    }
  });
  return made;
}

function read(key: string): boolean | null {
  try {
    const text = localStorage.getItem(key);
    return text === null ? null : text === "true";
  } catch {
    return null;
  }
}

export const notifies = kept("notifies", false);
export const sounds = kept("sounds", false);
/** Whether the next card is opened after an answer. */
export const advances = kept("advances", true);
