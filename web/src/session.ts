// Sign-in: exchanges the link's code for a cookie and removes it from the address.

import { explain, post } from "./api";
import { settle } from "./router";

/** Redeems the code of the address, if there is one. Returns what went wrong, in words. */
export async function signIn(): Promise<string | null> {
  const code = codeOf(location.hash);
  if (code === null) return null;
  // The code works once; it must stay neither in the address nor in the history.
  settle("/");
  try {
    await post("/v1/login", { code });
    return null;
  } catch (error) {
    return explain(error);
  }
}

/** Whether the address has a code. */
export const hasCode = (): boolean => codeOf(location.hash) !== null;

const codeOf = (hash: string): string | null => new URLSearchParams(hash.slice(1)).get("code");
