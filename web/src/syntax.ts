// Colours of code. They only repeat what the letters say: every text reads the same without them, and
// what is not recognised has none. It is no parser; the firewall's own is what decides.
//
// The terminal colours the same tokens (crates/countersign/src/tui/syntax.rs); corpus/syntax.jsonl is the
// table that both are tested against.

/** What a piece of code is. */
export type Kind = "comment" | "string" | "number" | "keyword" | "name";

export interface Token {
  text: string;
  kind: Kind | null;
}

/** A way of writing code: one expression whose groups are kinds. Hostile text must not make it slow: a block that is not
 * closed goes on to the end, a quote behind a backslash opens nothing, and what could be searched again has a limit. */
export type Language = RegExp;

/** Longer texts have no colours: nobody reads them for their looks. */
const TEXT_CHARS_MAX = 20_000;

const NUMBER = String.raw`(?<number>(?<![\w.])(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.]))`;
const QUOTED = String.raw`(?<!\\)"(?:\\[\s\S]|[^"\\])*"|(?<!\\)'(?:\\[\s\S]|[^'\\])*'`;

function language(parts: { comment: string; string: string; keywords: string; name?: string }): Language {
  const groups = [`(?<comment>${parts.comment})`, `(?<string>${parts.string})`];
  if (parts.name !== undefined) groups.push(`(?<name>${parts.name})`);
  groups.push(String.raw`(?<keyword>(?<![\w$-])(?:${parts.keywords.replaceAll(" ", "|")})(?![\w-]))`, NUMBER);
  return new RegExp(groups.join("|"), "gm");
}

const SHELL = language({
  comment: String.raw`(?<=^|[\s;])#.*`,
  // In single quotes a backslash is a backslash.
  string: String.raw`(?<!\\)"(?:\\[\s\S]|[^"\\])*"|(?<!\\)'[^']*'`,
  name: String.raw`\$\{[^}\n]{0,200}\}|\$\w+|\$[?!@#*$-]|(?<=\s)--?[a-zA-Z][\w-]*`,
  keywords: "if then elif else fi for while until do done case esac in function select export local return",
});
const PYTHON = language({
  comment: "#.*",
  string: String.raw`"""(?:[\s\S]*?"""|[\s\S]*)|'''(?:[\s\S]*?'''|[\s\S]*)|${QUOTED}`,
  keywords:
    "and as assert async await break case class continue def del elif else end except False finally for from global if import in is lambda match module None nonlocal not or pass raise require return self True try while with yield",
});
const BRACES = language({
  comment: String.raw`\/\/.*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)`,
  string: String.raw`${QUOTED}|` + "(?<!\\\\)`(?:\\\\[\\s\\S]|[^`\\\\])*`",
  keywords:
    "abstract as async await break case catch class const continue default defer delete do dyn else enum export extends extern false final finally fn for from func function go if impl import in instanceof interface let loop match mod mut namespace new nil null package private protected pub public return self static struct super switch template this throw trait true try type typedef typeof unsafe use using var virtual void where while yield",
});
const SETTINGS = language({
  comment: String.raw`(?<=^|\s)[#;].*`,
  string: QUOTED,
  name: String.raw`(?<=^[ \t]{0,40}(?:- )?)(?:[\w.-]{1,80}(?=[ \t]{0,8}[:=])|\[[^\]\n]*\])`,
  keywords: "true false null yes no on off",
});
const SQL = language({
  comment: String.raw`--.*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)`,
  string: QUOTED,
  keywords: "SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE DROP TABLE CREATE ALTER JOIN ON AND OR NOT NULL GROUP BY ORDER LIMIT TRUNCATE GRANT select from where insert into values update set delete drop table create alter join on and or not null group by order limit truncate grant",
});

const BY_ENDING: [string, Language][] = [
  ["sh bash zsh ksh env Dockerfile Makefile mk", SHELL],
  ["py pyi rb pl r jl ex exs", PYTHON],
  ["js mjs cjs ts tsx jsx rs go java kt swift c h cc cpp hpp cs scala dart php proto json jsonc css scss", BRACES],
  ["yml yaml toml ini cfg conf properties service tf hcl", SETTINGS],
  ["sql", SQL],
];

/** Returns the language of the file at `path`, by how its name ends. */
export function languageOf(path: string): Language | null {
  const ending = path.split(/[/\\.]/).at(-1) ?? "";
  return BY_ENDING.find(([endings]) => endings.split(" ").includes(ending))?.[1] ?? null;
}

/** Arguments that hold code, whatever the tool. */
const BY_ARGUMENT: Record<string, Language> = { Command: SHELL, command: SHELL, script: SHELL, sql: SQL, query: SQL };
/** Arguments that name a file. */
const PATH_NAMES = ["path", "file_path", "filePath", "file", "filename", "notebook_path"];

/** Returns the language of the argument `name` of a call with `args`: its own, or that of the file it goes to. */
export function languageOfArgument(name: string, args: unknown): Language | null {
  const own = BY_ARGUMENT[name];
  if (own !== undefined) return own;
  const values = (args ?? {}) as Record<string, unknown>;
  if (name === "code") return values["language"] === "javascript" ? BRACES : PYTHON;
  const path = PATH_NAMES.map((it) => values[it]).find((it): it is string => typeof it === "string");
  return path === undefined || PATH_NAMES.includes(name) ? null : languageOf(path);
}

/** Cuts `text` into tokens; together they are the text. */
export function tokens(text: string, of: Language | null): Token[] {
  if (of === null || text.length > TEXT_CHARS_MAX) return [{ text, kind: null }];
  const made: Token[] = [];
  let at = 0;
  for (const found of text.matchAll(of)) {
    if (found.index > at) made.push({ text: text.slice(at, found.index), kind: null });
    const kind = Object.entries(found.groups ?? {}).find(([, value]) => value !== undefined)?.[0] as Kind | undefined;
    made.push({ text: found[0], kind: kind ?? null });
    at = found.index + found[0].length;
  }
  if (at < text.length) made.push({ text: text.slice(at), kind: null });
  return made;
}
