// Parses the Markdown that models write into a small tree. Nothing in the tree acts: links and
// images are their text, tables stay text. Linear in the length of the text.

export type Inline = string | { kind: "code" | "strong" | "emphasis"; text: string };

export type Block =
  | { kind: "paragraph"; parts: Inline[] }
  | { kind: "heading"; parts: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "table"; text: string }
  | { kind: "quote"; parts: Inline[] }
  | { kind: "rule" }
  | { kind: "list"; isOrdered: boolean; items: Item[] };

export interface Item {
  depth: number;
  /** Its number, as written; `null` for a bullet. */
  number: number | null;
  parts: Inline[];
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6} +(.*)$/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const ITEM = /^( *)(?:[-*+]|(\d{1,9})[.)]) +(.*)$/;
const TABLE = /^ *\|.*\| *$/;
/** Deepest list that is shown as such. */
const DEPTH_MAX = 6;

/** Returns `text` as blocks. Every word of it is in them. */
export function parse(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  let paragraph: string[] = [];
  const flush = (): void => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", parts: inlines(paragraph.join("\n")) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      flush();
      const inside: string[] = [];
      // A fence that is not closed yet is still being written.
      for (at += 1; at < lines.length && !closes(lines[at] ?? "", fence); at += 1) inside.push(lines[at] ?? "");
      blocks.push({ kind: "code", text: inside.join("\n") });
      continue;
    }
    if (TABLE.test(line)) {
      flush();
      const rows = [line];
      while (TABLE.test(lines[at + 1] ?? "")) rows.push(lines[(at += 1)] ?? "");
      blocks.push({ kind: "table", text: rows.join("\n") });
      continue;
    }
    if (line.trim() === "") {
      flush();
      continue;
    }
    if (!single(line, blocks, flush)) paragraph.push(line);
  }
  flush();
  return blocks;
}

/** Adds a block that is one line long, or a line of a list; returns whether `line` is one. */
function single(line: string, blocks: Block[], flush: () => void): boolean {
  const heading = HEADING.exec(line);
  const quote = QUOTE.exec(line);
  const item = ITEM.exec(line);
  if (RULE.test(line)) {
    flush();
    blocks.push({ kind: "rule" });
  } else if (heading !== null) {
    flush();
    blocks.push({ kind: "heading", parts: inlines(heading[1] ?? "") });
  } else if (quote !== null) {
    flush();
    blocks.push({ kind: "quote", parts: inlines(quote[1] ?? "") });
  } else if (item !== null) {
    flush();
    const [, indent = "", number, rest = ""] = item;
    const isOrdered = number !== undefined;
    const entry: Item = { depth: Math.min(DEPTH_MAX, Math.floor(indent.length / 2)), number: isOrdered ? Number(number) : null, parts: inlines(rest) };
    const last = blocks.at(-1);
    if (last?.kind === "list" && (last.isOrdered === isOrdered || entry.depth > 0)) last.items.push(entry);
    else blocks.push({ kind: "list", isOrdered, items: [entry] });
  } else return false;
  return true;
}

const closes = (line: string, fence: string): boolean => line.trim().startsWith(fence) && line.trim().replaceAll(fence.charAt(0), "") === "";

/** What opens and closes a part of a line, the longer first. */
const MARKS: [string, "strong" | "emphasis"][] = [
  ["**", "strong"],
  ["__", "strong"],
  ["*", "emphasis"],
  ["_", "emphasis"],
];

function inlines(text: string): Inline[] {
  const parts: Inline[] = [];
  let plain = "";
  // Marks without a partner further on have none anywhere behind.
  const alone = new Set<string>();
  const add = (part: Inline): void => {
    if (plain !== "") parts.push(plain);
    plain = "";
    parts.push(part);
  };
  for (let at = 0; at < text.length; ) {
    const ticks = /^`+/.exec(text.slice(at, at + 8))?.[0];
    const mark = ticks === undefined ? MARKS.find(([sign]) => text.startsWith(sign, at)) : undefined;
    const sign = ticks ?? mark?.[0];
    if (sign === undefined || alone.has(sign) || (mark !== undefined && !opens(text, at, sign))) {
      plain += text.charAt(at);
      at += 1;
      continue;
    }
    const end = text.indexOf(sign, at + sign.length);
    if (end < 0) alone.add(sign);
    const inside = end < 0 ? "" : text.slice(at + sign.length, end);
    if (inside.trim() === "" || (mark !== undefined && /\s$/.test(inside))) {
      plain += sign;
      at += sign.length;
      continue;
    }
    add({ kind: mark?.[1] ?? "code", text: inside });
    at = end + sign.length;
  }
  if (plain !== "") parts.push(plain);
  return parts;
}

/** Whether `sign` can open something here: a word follows, and `snake_case` stays as it is. */
function opens(text: string, at: number, sign: string): boolean {
  const next = text.charAt(at + sign.length);
  const before = text.charAt(at - 1);
  return next !== "" && !/\s/.test(next) && !/[\p{L}\p{N}]/u.test(before);
}
