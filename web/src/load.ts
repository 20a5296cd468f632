// Data of a view: read when it opens and again after events that may change it. It stays visible
// while the gateway is down.

import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { link, listen } from "./live";

/** Changes that come together are one. */
const TOGETHER_MS = 250;

export interface Loaded<T> {
  value: Signal<T | null>;
  error: Signal<unknown>;
  /** Reads it again. */
  again: () => void;
}

/** Reads with `read` when `key` changes and after events whose names begin with one of `events`. */
export function useLoaded<T>(read: () => Promise<T>, events: string[] = [], key = ""): Loaded<T> {
  const value = useSignal<T | null>(null);
  const error = useSignal<unknown>(null);
  const turn = useRef(0);
  const latest = useRef(read);
  latest.current = read;
  const again = (): void => {
    const mine = (turn.current += 1);
    latest.current().then(
      (found) => {
        if (mine !== turn.current) return;
        value.value = found;
        error.value = null;
      },
      (problem: unknown) => {
        if (mine === turn.current) error.value = problem;
      },
    );
  };
  useEffect(again, [key]);
  useEffect(() => {
    let timer = 0;
    const stop = listen((event) => {
      if (timer !== 0 || !events.some((name) => event.event.startsWith(name))) return;
      timer = window.setTimeout(() => {
        timer = 0;
        again();
      }, TOGETHER_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  const wasAway = useRef(false);
  useSignalEffect(() => {
    if (link.value === "away") wasAway.current = true;
    if (link.value !== "live" || !wasAway.current) return;
    wasAway.current = false;
    again();
  });
  return { value, error, again };
}
