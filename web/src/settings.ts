// Settings of this browser: notifications and sounds, both off by default.

import { effect, signal, type Signal } from "@preact/signals";

function kept(name: string): Signal<boolean> {
  const key = `countersign.${name}`;
  const made = signal(read(key));
  effect(() => {
    try {
      localStorage.setItem(key, String(made.value));
    } catch {
      // A browser that keeps nothing forgets it, and that is all.
    }
  });
  return made;
}

function read(key: string): boolean {
  try {
    return localStorage.getItem(key) === "true";
  } catch {
    return false;
  }
}

export const notifies = kept("notifies");
export const sounds = kept("sounds");
