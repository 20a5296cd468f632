// Sign-in: exchanges a one-time code or a key for a cookie, and removes the code from the address.

import { ApiError, explain, post, request } from "./api";
import { settle } from "./router";
import type { LoginCode } from "./wire.gen";

/** How every key begins. */
const KEY = /^cs_[a-z]+_/;

/** Redeems the code of the address, if there is one. Returns what went wrong, in words. */
export async function signIn(): Promise<string | null> {
  const code = codeOf(location.hash);
  if (code === null) return null;
  // The code works once; it must stay neither in the address nor in the history.
  settle("/");
  return tried(redeem(code));
}

/** Signs in with what a person pasted: a link, its code, or a key. Returns what went wrong, in words. */
export async function signInWith(pasted: string): Promise<string | null> {
  const text = pasted.trim();
  if (text === "") return "Paste a link, a code or a key first.";
  if (KEY.test(text)) return tried(codeFor(text).then(redeem));
  const end = text.indexOf("#");
  return tried(redeem((end === -1 ? null : codeOf(text.slice(end))) ?? text));
}

const redeem = (code: string): Promise<unknown> => post("/v1/login", { code });

/** A key is sent once, in a header, and kept nowhere. */
async function codeFor(key: string): Promise<string> {
  const made = await request<LoginCode>("POST", "/v1/login/code", {}, { authorization: `Bearer ${key}` });
  return made.code;
}

async function tried(attempt: Promise<unknown>): Promise<string | null> {
  try {
    await attempt;
    return null;
  } catch (error) {
    if (error instanceof ApiError && error.code === "invalid_credential") return "This key is not valid. It may have been revoked.";
    if (error instanceof ApiError && error.code === "forbidden") return "This is the key of an agent. Sign in with the key of a person.";
    return explain(error);
  }
}

/** Whether the address has a code. */
export const hasCode = (): boolean => codeOf(location.hash) !== null;

const codeOf = (hash: string): string | null => new URLSearchParams(hash.slice(1)).get("code");
