// Bundles src/ into dist/, readable and the same bytes every time, and says how large it is.
//
//   node build.mjs [DIR]          writes to DIR (dist/)
//   node build.mjs --watch        writes dist/ whenever a source changes
import { build, context } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** What the script may weigh, compressed. */
const GOAL_BYTES = 60_000;
const COPIED = ["index.html", "style.css", "icon.svg"];
const watching = process.argv.includes("--watch");
const out = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? "dist";

mkdirSync(out, { recursive: true });

function copy() {
  for (const name of COPIED) copyFileSync(`src/${name}`, `${out}/${name}`);
}

/** What an agent wrote becomes markup by none of our code; Preact's own way to do so is cut out. */
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
  for (const name of ["page.js", ...COPIED]) {
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
