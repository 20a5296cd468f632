// Bundles src/ into dist/, readable and reproducible byte for byte, and prints the sizes.
//
//   node build.mjs [DIR]          writes to DIR (dist/)
//   node build.mjs --watch        writes dist/ whenever a source changes
import { build, context } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** Maximum size of the script, compressed. */
const GOAL_BYTES = 61_000;
const COPIED = ["index.html", "icon.svg"];
/** Parts of the style sheet in src/style, in cascade order. */
const STYLES = [
  "tokens", "base", "controls", "frame", "inbox", "card", "records", "insights", "people", "ledger", "dialog", "narrow",
  "preferences", "talk",
];
const watching = process.argv.includes("--watch");
const out = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? "dist";

mkdirSync(out, { recursive: true });

function copy() {
  for (const name of COPIED) copyFileSync(`src/${name}`, `${out}/${name}`);
  const styles = STYLES.map((name) => readFileSync(`src/style/${name}.css`, "utf8"));
  writeFileSync(`${out}/style.css`, styles.join("\n"));
}

/** No code of ours turns text of an agent into markup; this removes Preact's own way to do so. */
const withoutMarkup = {
  name: "without-markup",
  setup(build) {
    build.onLoad({ filter: /preact\/dist\/.*\.m?js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      return { contents: text.replaceAll(".innerHTML", ".__markupIsNotUsedHere"), loader: "js" };
    });
  },
};

const options = {
  entryPoints: ["src/main.tsx"],
  outfile: `${out}/page.js`,
  bundle: true,
  format: "iife",
  target: "es2023",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  jsxSideEffects: true,
  legalComments: "none",
  plugins: [withoutMarkup],
  logLevel: "warning",
};

if (watching) {
  const watcher = {
    name: "copy",
    setup(build) {
      build.onEnd(() => {
        copy();
        console.log("built");
      });
    },
  };
  const made = await context({ ...options, plugins: [withoutMarkup, watcher] });
  await made.watch();
} else {
  await build(options);
  copy();
  const sizes = new Map();
  for (const name of ["page.js", "style.css", ...COPIED]) {
    const bytes = readFileSync(`${out}/${name}`);
    const packed = gzipSync(bytes, { level: 9 }).length;
    sizes.set(name, packed);
    console.log(`${name.padEnd(12)} ${kilo(bytes.length)}, ${kilo(packed)} gzip`);
  }
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  console.log(`${"together".padEnd(12)} ${kilo(total)} gzip; the script's goal is ${kilo(GOAL_BYTES)}`);
  if (sizes.get("page.js") > GOAL_BYTES) {
    console.error("error: page.js is larger than its goal");
    process.exitCode = 1;
  }
}

function kilo(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
