// Requests to the gateway. The browser attaches the cookie; no script can read it.

import { signal } from "@preact/signals";

import { heard } from "./clock";

/** Whether the gateway does not know this browser, or no longer. */
export const isUnknown = signal(false);

/** What the gateway says when it does not do as asked. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly body: unknown,
  ) {
    super(message);
  }
}

/** The gateway did not answer at all. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";

  constructor() {
    super("the gateway does not respond");
  }
}

type Method = "GET" | "POST" | "DELETE";

export async function request<T>(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const options: RequestInit = { method, credentials: "same-origin", headers };
  if (method !== "GET") {
    options.headers = { ...headers, "content-type": "application/json" };
    options.body = JSON.stringify(body ?? {});
  }
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, options);
    text = await response.text();
  } catch {
    throw new Unreachable();
  }
  heard(response.headers.get("date"));
  const said = parsed(text);
  if (response.ok) return said as T;
  if (response.status === 401 && !path.startsWith("/v1/login")) isUnknown.value = true;
  const problem = (said as { error?: { message?: string; code?: string } } | null)?.error;
  throw new ApiError(
    response.status,
    problem?.code ?? "unknown",
    problem?.message ?? `the gateway responded with ${response.status}`,
    said,
  );
}

export const get = <T>(path: string): Promise<T> => request<T>("GET", path);
export const post = <T>(path: string, body?: unknown): Promise<T> => request<T>("POST", path, body);
export const remove = <T>(path: string): Promise<T> => request<T>("DELETE", path);

/** Returns `text` as one part of a path. */
export const segment = (text: string): string => encodeURIComponent(text);

/** Returns what to tell a person about a failure, one sentence. */
export function explain(error: unknown): string {
  if (error instanceof Unreachable) return "The gateway does not respond. Nothing was changed.";
  if (error instanceof Error) return sentence(error.message);
  return "That did not work.";
}

/** Returns `text` with a capital at its beginning and a full stop at its end. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

function parsed(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
