// Keeps the end of a conversation in view until the person scrolls up.

import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** Closer to the end than this, in pixels, is at the end. */
const NEAR = 48;

interface Following {
  scroll: { current: HTMLDivElement | null };
  content: { current: HTMLDivElement | null };
  /** Whether something came that is out of view. */
  hasNew: Signal<boolean>;
  /** Whether the person has scrolled up. */
  isAway: Signal<boolean>;
  toEnd: () => void;
  scrolled: () => void;
}

/** Follows what `content` grows by. What waits for an answer comes before what was said below it. */
export function useFollowing(): Following {
  const scroll = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAway = useSignal(false);
  const seen = useRef({ top: 0, height: 0 });
  const hasNew = useSignal(false);
  const remember = (element: HTMLElement): void => {
    seen.current = { top: element.scrollTop, height: element.scrollHeight };
  };
  const goToEnd = (): void => {
    const element = scroll.current;
    if (element === null) return;
    const asked = content.current?.querySelector("[data-waits] .answer");
    if (asked !== null && asked !== undefined) asked.scrollIntoView({ block: "end" });
    else element.scrollTop = element.scrollHeight;
    hasNew.value = false;
    // The event of this comes later, and is no move of the person.
    remember(element);
  };
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const element = scroll.current;
      if (element === null) return;
      if (!isAway.value) goToEnd();
      else {
        hasNew.value ||= element.scrollHeight > seen.current.height;
        remember(element);
      }
    });
    if (content.current !== null) observer.observe(content.current);
    // The window, the composer or the queue may take room.
    if (scroll.current !== null) observer.observe(scroll.current);
    return () => observer.disconnect();
  }, []);
  const scrolled = (): void => {
    const element = scroll.current;
    if (element === null) return;
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    // What grew meanwhile moves the end away, and what shrank moves the view; both are no choice.
    const wentUp = element.scrollTop < seen.current.top && element.scrollHeight >= seen.current.height;
    if (isAtEnd) {
      isAway.value = false;
      hasNew.value = false;
    } else if (wentUp) isAway.value = true;
    remember(element);
  };
  const toEnd = (): void => {
    isAway.value = false;
    goToEnd();
  };
  return { scroll, content, hasNew, isAway, toEnd, scrolled };
}
