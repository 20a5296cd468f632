// A button that asks for confirmation before an irreversible action.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  /** What the button says. */
  label: string;
  /** What it is done to, for whoever does not see what stands beside it. */
  about: string;
  /** What follows, one sentence. */
  asks: string;
  /** What the second button says. */
  yes: string;
  onYes: () => void;
}

export function Confirm({ label, about, asks, yes, onYes }: Props) {
  const isAsking = useSignal(false);
  const keep = useRef<HTMLButtonElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);
  useEffect(() => {
    // The focus goes to what changes nothing, and back to where it was.
    if (isAsking.value) keep.current?.focus();
    else if (wasAsking.current) first.current?.focus();
    wasAsking.current = isAsking.value;
  }, [isAsking.value]);
  if (!isAsking.value) {
    return (
      <button type="button" class="button" ref={first} onClick={() => (isAsking.value = true)}>
        {label}
        <span class="unseen"> {about}</span>
      </button>
    );
  }
  const escape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    isAsking.value = false;
  };
  return (
    <div class="confirm" role="group" aria-label={`${label} ${about}`} onKeyDown={escape}>
      <p>{asks}</p>
      <div class="row-of-buttons">
        <button type="button" class="button" ref={keep} onClick={() => (isAsking.value = false)}>
          Leave it
        </button>
        <button
          type="button"
          class="button danger"
          onClick={() => {
            isAsking.value = false;
            onYes();
          }}
        >
          {yes}
        </button>
      </div>
    </div>
  );
}
