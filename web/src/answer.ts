// Sends answers and shows the gateway's result, never what was merely wished.

import { ApiError, explain, post, segment } from "./api";
import { put, refresh } from "./live";
import type { Approval, Choice } from "./wire";

export interface More {
  note?: string;
  scope?: unknown;
  lasts_seconds?: number;
  uses?: number;
  /** The arguments as they were changed. */
  args?: unknown;
}

const path = (id: string, verb: string): string => `/v1/approvals/${segment(id)}/${verb}`;

/** Answers `id`. Returns what went wrong, in words; that somebody answered first is nothing wrong. */
export async function answer(id: string, choice: Choice, more: More = {}): Promise<string | null> {
  return settled(id, post<Approval>(path(id, "resolve"), { choice, ...more }));
}

/** Takes an answer back while it is held. */
export async function takeBack(id: string): Promise<string | null> {
  return settled(id, post<Approval>(path(id, "take_back")));
}

/** Gives `id` more time; answers nothing. */
export async function extend(id: string): Promise<string | null> {
  return settled(id, post<Approval>(path(id, "extend")));
}

/** Lifts a denial, so that the agent may ask again. */
export async function lift(id: string): Promise<string | null> {
  return settled(id, post<Approval>(path(id, "lift")));
}

/** Records that the full text was opened. */
export async function viewed(id: string): Promise<string | null> {
  return settled(id, post<Approval>(path(id, "viewed")));
}

async function settled(id: string, asked: Promise<Approval>): Promise<string | null> {
  try {
    put(await asked);
    return null;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 409 || error.status === 410)) {
      await refresh(id).catch(() => null);
      return null;
    }
    return explain(error);
  }
}
