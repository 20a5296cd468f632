// Colours of code: the same tokens as the terminal's, and no text that makes the page slow. Without a browser or a gateway.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "@playwright/test";

import { languageOf, tokens } from "../src/syntax";

interface Sample {
  file: string;
  text: string;
  tokens: [string, string][];
}

const table = readFileSync(join(import.meta.dirname, "../../corpus/syntax.jsonl"), "utf8");
const samples = table.trimEnd().split("\n").map((line) => JSON.parse(line) as Sample);

test("tokens are those of the table that the terminal is tested against", () => {
  expect(samples.length).toBeGreaterThan(20);
  for (const { file, text, tokens: wanted } of samples) {
    const found = tokens(text, languageOf(file));
    expect(found.map((it) => it.text).join("")).toBe(text);
    expect(found.filter((it) => it.kind !== null).map((it) => [it.text, it.kind]), text).toEqual(wanted);
  }
});

test("hostile text takes no longer than ordinary text of its length", () => {
  const ordinary = "export NAME=value # comment\n".repeat(700);
  const hostile = ['"' + '\\"'.repeat(9_999), "\n".repeat(20_000), "${".repeat(10_000), "`" + "\\`".repeat(9_999), " ".repeat(20_000), "a.".repeat(10_000)];
  /** The fastest of a few, because a machine that is busy makes any of them slow. */
  const milliseconds = (text: string, file: string): number => {
    const spans = Array.from({ length: 5 }, () => {
      const begun = performance.now();
      tokens(text, languageOf(file));
      return performance.now() - begun;
    });
    return Math.min(...spans);
  };
  for (const file of ["a.sh", "a.py", "a.ts", "a.yaml", "a.sql"]) {
    const usual = milliseconds(ordinary, file);
    // A search from every character again takes hundreds of times as long.
    for (const text of hostile) expect(milliseconds(text, file), `${file} ${text.slice(0, 4)}`).toBeLessThan(40 * usual + 20);
  }
});
