// Server-sent events over fetch: resumes after the last event and detects silence. EventSource can
// do neither in every browser.

import { ApiError, Unreachable } from "./api";
import type { LiveEvent } from "./wire";

/** The gateway gives a sign of life every ten seconds; without two of them it is away. */
const SILENCE_MS = 25_000;

export interface Listener {
  /** The stream is open: whatever happens from now on is told. */
  opened(): void;
  /** Something happened. `id` is its number in the ledger; what is only said has none. */
  told(event: LiveEvent, id: string | null): void;
}

/** Follows `path` behind the event `last` until it ends. Throws if it cannot be opened. */
export async function follow(
  path: string,
  last: string | null,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  const silence = new AbortController();
  let timer = 0;
  const heard = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => silence.abort(), SILENCE_MS);
  };
  const headers: Record<string, string> = last === null ? {} : { "last-event-id": last };
  heard();
  try {
    const response = await fetch(path, {
      headers,
      credentials: "same-origin",
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (response.status !== 200 || response.body === null) {
      throw new ApiError(response.status, "stream", "events cannot be followed", null);
    }
    listener.opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) tell(block, listener);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new Unreachable();
  } finally {
    clearTimeout(timer);
  }
}

function tell(block: string, listener: Listener): void {
  let id: string | null = null;
  let data: string | null = null;
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    if (line.startsWith("data: ")) data = line.slice(6);
  }
  if (data !== null) listener.told(JSON.parse(data) as LiveEvent, id);
}
