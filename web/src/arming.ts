// What has just appeared under a finger is not what the finger meant.
//
// An answer counts only if its card has been in view for 700 ms and if the input before it is at
// least 300 ms old. Earlier input is dropped, never kept for later. A held key, and a click that no
// person made, never count. The time of an input is when it was made, not when a busy page came to
// handle it.

import { signal, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

export const IN_VIEW_MS = 700;
export const QUIET_MS = 300;

/** The last thing a hand did, and how long nothing was done before it. */
interface Touch {
  at: number;
  quiet: number;
}

let touch: Touch = { at: -Infinity, quiet: Infinity };

function touched(event: Event): void {
  const at = event.timeStamp;
  touch = { at, quiet: event instanceof KeyboardEvent && event.repeat ? 0 : at - touch.at };
}

// A modifier alone is a part of the key that follows.
window.addEventListener("keydown", (event) => {
  if (!["Shift", "Control", "Alt", "Meta"].includes(event.key)) touched(event);
}, { capture: true });
window.addEventListener("pointerdown", touched, { capture: true });

/** Whether one card may be answered now. */
export class Arming {
  #since = Infinity;

  /** The card came into view. */
  appeared(): void {
    if (this.#since === Infinity) this.#since = performance.now();
  }

  /** The card went out of view; it begins anew when it comes back. */
  vanished(): void {
    this.#since = Infinity;
  }

  /** Milliseconds until the card has been in view long enough. */
  left(): number {
    return Math.max(0, this.#since + IN_VIEW_MS - performance.now());
  }

  /** Whether `event` is a person's answer. */
  admits(event: Event): boolean {
    if (!event.isTrusted) return false;
    const at = event.timeStamp;
    // A screen reader presses a button without a key or a pointer; that is a touch of its own.
    const isOwn = event.type === "click" && at - touch.at > 1500;
    const { at: pressed, quiet } = isOwn ? { at, quiet: at - touch.at } : touch;
    return pressed - this.#since >= IN_VIEW_MS && quiet >= QUIET_MS;
  }
}

/** Watches whether `name` is in view and returns its arming, and whether it looks armed. */
export function useArming(name: string): { arming: Arming; armed: Signal<boolean>; watch: { current: HTMLElement | null } } {
  const arming = useMemo(() => new Arming(), [name]);
  // Another name is another card, and that one is not armed, not even for a moment.
  const armed = useMemo(() => signal(false), [name]);
  const watch = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const element = watch.current;
    if (element === null) return undefined;
    let timer = 0;
    let isSeen = false;
    const look = (): void => {
      clearTimeout(timer);
      if (isSeen && document.visibilityState === "visible") {
        arming.appeared();
        timer = window.setTimeout(() => {
          armed.value = true;
        }, arming.left());
      } else {
        arming.vanished();
        armed.value = false;
      }
    };
    const observer = new IntersectionObserver((entries) => {
      isSeen = entries.some((entry) => entry.isIntersecting);
      look();
    });
    observer.observe(element);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      document.removeEventListener("visibilitychange", look);
    };
  }, [arming]);
  return { arming, armed, watch };
}
