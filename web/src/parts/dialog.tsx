// A modal dialog. The browser keeps the focus inside and restores it afterwards.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { Icon } from "./icon";

export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    box.current?.showModal();
  }, []);
  return (
    <dialog ref={box} class="dialog" aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="icon-button" onClick={() => box.current?.close()}>
          <Icon name="cross" />
          <span class="unseen">Close</span>
        </button>
      </header>
      {children}
    </dialog>
  );
}
