// Bundles src/ into dist/, readable and reproducible byte for byte, and prints the sizes. Names carry
// a hash of the content, so browsers keep the files for good; views other than the inbox are files
// of their own, loaded when they are opened. `files.rs` is the list of what the binary embeds, and
// `files.json` the same list as addresses, for the page.
//
//   node build.mjs [DIR]          writes to DIR (dist/)
//   node build.mjs --watch        writes dist/ whenever a source changes
import { build, context } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** Maximum size of the scripts that the first view loads, compressed. */
const GOAL_BYTES = 60_000;
/** What other programs fetch, too, so its names stay. */
const COPIED = [
  "icon.svg", "manifest.webmanifest", "icon-192.png", "icon-512.png", "icon-maskable.png", "icon-apple.png", "icon-badge.png",
];
/** Parts of the style sheet in src/style, in cascade order. */
const STYLES = [
  "tokens", "base", "controls", "frame", "inbox", "card", "diff", "records", "insights", "people", "ledger", "dialog", "narrow",
  "preferences", "talk",
];
const watching = process.argv.includes("--watch");
const out = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? "dist";

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

/** Everything the first view needs is one script: a view that is loaded later has the whole frame below
 * it, so what the two share is not cut into a script per combination of views. */
const withFrame = {
  name: "with-frame",
  setup(build) {
    build.onLoad({ filter: /\/views\/\w+\.tsx$/ }, ({ path }) => ({
      contents: `${readFileSync(path, "utf8")}\nimport "../app";\n`,
      loader: "tsx",
    }));
  },
};

const options = {
  entryPoints: { page: "src/main.tsx" },
  outdir: out,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2023",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  jsxSideEffects: true,
  legalComments: "none",
  plugins: [withoutMarkup, withFrame],
  logLevel: "warning",
  metafile: true,
  write: false,
};

/** Writes what was built, the files beside it and their list. Returns the scripts of the first view. */
async function write({ outputFiles, metafile }) {
  const files = new Map(outputFiles.map((file) => [nameOf(file.path), Buffer.from(file.contents)]));
  const style = STYLES.map((name) => readFileSync(`src/style/${name}.css`, "utf8")).join("\n");
  const styleName = `style-${hashOf(style)}.css`;
  files.set(styleName, Buffer.from(style));
  for (const name of COPIED) files.set(name, readFileSync(`src/${name}`));
  const first = firstScripts(metafile);
  files.set("index.html", Buffer.from(page(first, styleName)));
  files.set("worker.js", await worker([...files.values()]));
  const names = [...files.keys(), "files.json"].sort();
  const addresses = names.map((name) => (name === "index.html" ? "/" : `/${name}`));
  files.set("files.json", Buffer.from(`${JSON.stringify(addresses, null, 2)}\n`));
  const rows = names.map((name) => `    ("${name}", include_bytes!("${name}").as_slice()),\n`);
  files.set("files.rs", Buffer.from(`// Written by web/build: the files of the page.\n[\n${rows.join("")}]\n`));
  mkdirSync(out, { recursive: true });
  for (const old of readdirSync(out)) if (!files.has(old)) rmSync(`${out}/${old}`);
  for (const [name, bytes] of files) writeFileSync(`${out}/${name}`, bytes);
  return { files, first, styleName };
}

/** Bundles the service worker. It names the files it was built with, so that a new page is a new worker. */
async function worker(files) {
  const version = hashOf(Buffer.concat(files));
  const made = await build({
    ...options, plugins: [], splitting: false, entryPoints: ["src/worker.ts"], define: { VERSION: JSON.stringify(version) },
  });
  return Buffer.from(made.outputFiles[0].contents);
}

/** Returns the script of the page and all that it imports at once. */
function firstScripts({ outputs }) {
  const entry = Object.keys(outputs).find((path) => outputs[path].entryPoint === "src/main.tsx");
  const found = [entry];
  for (const path of found) {
    for (const { path: next, kind } of outputs[path].imports) {
      if (kind === "import-statement" && !found.includes(next)) found.push(next);
    }
  }
  return found.map(nameOf);
}

/** Returns the page with the names of its scripts and its style. */
function page([entry, ...imported], styleName) {
  const preloaded = imported.map((name) => `    <link rel="modulepreload" href="/${name}">\n`).join("");
  return readFileSync("src/index.html", "utf8")
    .replace("/style.css", `/${styleName}`)
    .replace(/( *<script [^>]*src=")\/page\.js/, `${preloaded}$1/${entry}`);
}

const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);
const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8).toUpperCase();

if (watching) {
  const writer = {
    name: "write",
    setup(build) {
      build.onEnd(async (made) => {
        if (made.errors.length > 0) return;
        await write(made);
        console.log("built");
      });
    },
  };
  const made = await context({ ...options, plugins: [withoutMarkup, withFrame, writer] });
  await made.watch();
} else {
  const { files, first, styleName } = await write(await build(options));
  const packed = (name) => gzipSync(files.get(name), { level: 9 }).length;
  const sum = (names) => names.reduce((all, name) => all + packed(name), 0);
  for (const name of [...files.keys()].filter((name) => !name.startsWith("files."))) {
    console.log(`${name.padEnd(24)} ${kilo(files.get(name).length)}, ${kilo(packed(name))} gzip`);
  }
  const scripts = sum(first);
  console.log(`the first view loads ${kilo(scripts + sum([styleName, "index.html"]))} gzip; the goal of its scripts, ${kilo(scripts)}, is ${kilo(GOAL_BYTES)}`);
  if (scripts > GOAL_BYTES) {
    console.error("error: the scripts of the first view are larger than their goal");
    process.exitCode = 1;
  }
}

function kilo(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
