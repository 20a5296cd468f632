// A virtual list: only visible rows are in the document. Rows have one height, in `rem`.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows beyond each edge that are there as well. */
const BEYOND = 6;

interface Props<T> {
  items: T[];
  /** Height of one row, in rem. */
  rowRem: number;
  label: string;
  /** Keeps this one in view when it changes. */
  shown?: number | undefined;
  id: (item: T) => string;
  row: (item: T, index: number) => ComponentChildren;
  /** Called when the end comes into view. */
  onEnd?: () => void;
}

export function VirtualList<T>({ items, rowRem, label, shown, id, row, onEnd }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const rowHeight = rowRem * rem();
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || shown === undefined || shown < 0) return;
    const top = shown * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    const end = top + rowHeight - element.clientHeight;
    if (end > element.scrollTop) element.scrollTop = end;
  }, [shown]);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - BEYOND);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + BEYOND);
  const isAtEnd = last >= items.length;
  useLayoutEffect(() => {
    if (isAtEnd) onEnd?.();
  }, [isAtEnd, items.length]);
  return (
    <div class="virtual" ref={box}>
      <ul aria-label={label} style={{ height: `${items.length * rowRem}rem` }}>
        {items.slice(first, last).map((item, offset) => {
          const index = first + offset;
          return (
            <li
              key={id(item)}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              style={{ height: `${rowRem}rem`, top: `${index * rowRem}rem` }}
            >
              {row(item, index)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
