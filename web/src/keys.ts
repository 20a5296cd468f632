// The key table of the page, used by the code and the help.

import { useLayoutEffect } from "preact/hooks";

export type Command =
  | "next"
  | "previous"
  | "up"
  | "down"
  | "page_up"
  | "page_down"
  | "top"
  | "end"
  | "open"
  | "note"
  | "edit"
  | "choose"
  | "select"
  | "select_group"
  | "why"
  | "led"
  | "mark"
  | "full"
  | "undo"
  | "extend"
  | "filter"
  | "help"
  | "close"
  | "talk"
  | "inbox"
  | "history";

interface Row {
  command: Command;
  /** As `KeyboardEvent.key` names them. */
  keys: string[];
  shown: string;
  does: string;
}

export const KEYS: Row[] = [
  { command: "choose", keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], shown: "1–5", does: "Answer with the choice of that number; a critical call is allowed by Enter after it" },
  { command: "down", keys: ["ArrowDown"], shown: "↓", does: "Select the next choice" },
  { command: "up", keys: ["ArrowUp"], shown: "↑", does: "Select the choice above" },
  { command: "open", keys: ["Enter"], shown: "Enter", does: "Answer with the selected choice" },
  { command: "note", keys: ["n"], shown: "n", does: "Deny, with a note to the agent" },
  { command: "edit", keys: ["e"], shown: "e", does: "Edit the call before allowing it" },
  { command: "next", keys: ["j"], shown: "j", does: "Next card" },
  { command: "previous", keys: ["k"], shown: "k", does: "Previous card" },
  { command: "page_down", keys: ["PageDown", " "], shown: "PgDn Space", does: "Scroll the card down" },
  { command: "page_up", keys: ["PageUp"], shown: "PgUp", does: "Scroll the card up" },
  { command: "end", keys: ["End"], shown: "End", does: "To the end of the card" },
  { command: "top", keys: ["Home"], shown: "Home", does: "To the top of the card" },
  { command: "why", keys: ["w"], shown: "w", does: "Full analysis" },
  { command: "mark", keys: ["m"], shown: "m", does: "To the next marked part of the text" },
  { command: "led", keys: ["b"], shown: "b", does: "What led here: the calls before" },
  { command: "full", keys: ["f"], shown: "f", does: "Show the full text" },
  { command: "undo", keys: ["z"], shown: "z", does: "Undo an answer before it takes effect" },
  { command: "extend", keys: ["+"], shown: "+", does: "Give the card more time, where that is offered" },
  { command: "select", keys: ["x"], shown: "x", does: "Select the card" },
  { command: "select_group", keys: ["X"], shown: "X", does: "Select all of its group" },
  { command: "filter", keys: ["/"], shown: "/", does: "Filter the list" },
  { command: "inbox", keys: ["i"], shown: "i", does: "Go to the inbox" },
  { command: "talk", keys: ["t"], shown: "t", does: "Talk to the agent" },
  { command: "history", keys: ["h"], shown: "h", does: "Go to the history" },
  { command: "close", keys: ["Escape"], shown: "Esc", does: "Close; never answers" },
  { command: "help", keys: ["?"], shown: "?", does: "Show these keys" },
];

const COMMANDS = new Map(KEYS.flatMap((row) => row.keys.map((key) => [key, row.command] as const)));

/** Returns whether `event` was typed where text is written. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && !isTick(target);
}

const isTick = (element: HTMLElement): boolean =>
  element instanceof HTMLInputElement && ["checkbox", "radio"].includes(element.type);

/** What a command does; returns `true` if it did something. */
export type Handler = (event: KeyboardEvent) => boolean;

/** Calls the handler of the command whose key was pressed, until the component is gone. */
export function useKeys(handlers: Partial<Record<Command, Handler>>): void {
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
      const command = COMMANDS.get(event.key);
      if (command === undefined) return;
      // What lies below a window is not in view; the window has its own way to be closed.
      if (document.querySelector("dialog[open]") !== null) return;
      // While text is written, keys are text; only leaving it is a command.
      if (isTyping(event) && command !== "close") return;
      if (handlers[command]?.(event) === true) event.preventDefault();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  });
}
