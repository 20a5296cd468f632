// Shared states of views: heading, loading, empty, error.

import type { ComponentChildren } from "preact";

import { explain } from "../api";
import { Copy } from "./fields";
import { Icon, type IconName } from "./icon";

/** The head of a view. */
export function Head({ title, children, lead }: { title: string; lead?: string; children?: ComponentChildren }) {
  return (
    <header class="head">
      <div>
        <h1>{title}</h1>
        {lead === undefined ? null : <p class="lead">{lead}</p>}
      </div>
      {children === undefined ? null : <div class="head-side">{children}</div>}
    </header>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  /** Whether it stands beside something that has a heading. */
  isPart?: boolean;
  children?: ComponentChildren;
}

/** Nothing is there, and that is fine or can be helped. */
export function Empty({ icon, title, isPart = false, children }: EmptyProps) {
  return (
    <section class="empty">
      <Icon name={icon} />
      {isPart ? <h2>{title}</h2> : <h1>{title}</h1>}
      {children}
    </section>
  );
}

export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <p class="loading" role="status">
      {what} …
    </p>
  );
}

/** Something went wrong: what, and what to do about it. */
export function Problem({ error, again }: { error: unknown; again?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{explain(error)}</p>
      {again === undefined ? null : (
        <button type="button" class="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Commands to type, one per line. */
export function Commands({ lines }: { lines: string[] }) {
  const text = lines.join("\n");
  return (
    <div class="commands">
      <pre>{text}</pre>
      <Copy name="the command" text={text} />
    </div>
  );
}
