// Line diffs of file edits.

export interface Line {
  kind: "same" | "gone" | "new" | "mark";
  text: string;
  /** Its number in the old and in the new text, where it is known. */
  old?: number;
  fresh?: number;
}

/** Lines that are shown, or unchanged lines between them. */
export type Part = { kind: "shown"; lines: Line[] } | { kind: "folded"; lines: Line[] };

/** Unchanged lines shown around a change. */
const CONTEXT = 3;
/** Fewer lines than this are not worth a fold. */
const FOLD_MIN = 4;

/** Lines beyond which texts are shown one after the other instead of compared. */
const LINES_MAX = 2000;

/** Returns how `before` becomes `after`. Every line of both is in it. */
export function compare(before: string, after: string): Line[] {
  const old = before.split("\n");
  const fresh = after.split("\n");
  if (old.length * fresh.length > LINES_MAX * LINES_MAX) {
    return [
      ...old.map((text, index): Line => ({ kind: "gone", text, old: index + 1 })),
      ...fresh.map((text, index): Line => ({ kind: "new", text, fresh: index + 1 })),
    ];
  }
  // Lengths of the longest common part of what follows line i of the one and j of the other.
  const width = fresh.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  const reach = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = old[i] === fresh[j] ? reach(i + 1, j + 1) + 1 : Math.max(reach(i + 1, j), reach(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < fresh.length) {
    const gone = old[i];
    const added = fresh[j];
    if (gone !== undefined && gone === added) {
      i += 1;
      j += 1;
      lines.push({ kind: "same", text: gone, old: i, fresh: j });
    } else if (added === undefined || (gone !== undefined && reach(i + 1, j) >= reach(i, j + 1))) {
      i += 1;
      lines.push({ kind: "gone", text: gone ?? "", old: i });
    } else {
      j += 1;
      lines.push({ kind: "new", text: added, fresh: j });
    }
  }
  return lines;
}

/** Folds unchanged lines that are far from any change. */
export function folded(lines: Line[]): Part[] {
  const isNear = lines.map(() => false);
  for (const [at, line] of lines.entries()) {
    if (line.kind === "same") continue;
    for (let near = Math.max(0, at - CONTEXT); near <= Math.min(lines.length - 1, at + CONTEXT); near += 1) isNear[near] = true;
  }
  const parts: Part[] = [];
  for (const [at, line] of lines.entries()) {
    const kind = isNear[at] === true ? "shown" : "folded";
    const last = parts.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else parts.push({ kind, lines: [line] });
  }
  return parts.map((part) => (part.lines.length < FOLD_MIN ? { ...part, kind: "shown" } : part));
}

/** Puts what is gone beside what took its place. */
export function paired(lines: Line[]): [Line | null, Line | null][] {
  const rows: [Line | null, Line | null][] = [];
  let gone: Line[] = [];
  let fresh: Line[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(gone.length, fresh.length); at += 1) rows.push([gone[at] ?? null, fresh[at] ?? null]);
    gone = [];
    fresh = [];
  };
  for (const line of lines) {
    if (line.kind === "gone") gone.push(line);
    else if (line.kind === "new") fresh.push(line);
    else {
      flush();
      rows.push([line, line]);
    }
  }
  flush();
  return rows;
}

/** Arguments that are a patch. A command or a program may look like one, and nothing of it is gone. */
const PATCH_NAMES = ["patch", "diff", "unified_diff", "input"];

/** Whether the text of the argument `name` is a patch. */
export const isPatch = (name: string, text: string): boolean =>
  PATCH_NAMES.includes(name) && /^\s*(@@|\*\*\* Begin Patch|--- |diff --git )/.test(text) && /^[+-]/m.test(text);

/** Returns the lines of a patch as what they mean. */
export function patch(text: string): Line[] {
  return text.split("\n").map((line): Line => {
    if (/^(\*\*\*|---|\+\+\+|@@|diff |index )/.test(line)) return { kind: "mark", text: line };
    if (line.startsWith("+")) return { kind: "new", text: line.slice(1) };
    if (line.startsWith("-")) return { kind: "gone", text: line.slice(1) };
    return { kind: "same", text: line.startsWith(" ") ? line.slice(1) : line };
  });
}

const OLD_NAMES = ["old_string", "oldString", "old_str", "old_text", "search"];
const NEW_NAMES = ["new_string", "newString", "new_str", "new_text", "replace"];

/** Returns what an edit's arguments replace by what, with the names of both, if they say so. */
export function edit(args: unknown): { before: string; after: string; names: [string, string] } | null {
  if (typeof args !== "object" || args === null) return null;
  const texts = args as Record<string, unknown>;
  const old = OLD_NAMES.find((name) => typeof texts[name] === "string");
  const fresh = NEW_NAMES.find((name) => typeof texts[name] === "string");
  if (old === undefined || fresh === undefined) return null;
  return { before: texts[old] as string, after: texts[fresh] as string, names: [old, fresh] };
}
