/**
 * What a stranger does: packs the folder, installs the package in an empty one and runs the plain example of
 * docs/clients.md there. Run by clients/test, with that folder as argument, in which the package lies packed.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { Gateway } from "../build/test/gateway.js";

const folder = resolve(process.argv[2]);
const [packed] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
const files = execFileSync("tar", ["-tzf", join(folder, packed)], { encoding: "utf8" }).trim().split("\n");
const allowed = /^package\/(package\.json|README\.md|LICENSE|dist\/(adapters\/)?[a-z-]+\.(js|d\.ts))$/;
assert.deepEqual(files.filter((name) => !allowed.test(name)), [], "files that do not belong into the package");
for (const name of ["dist/index.js", "dist/index.d.ts", "dist/verify.js", "dist/adapters/ai-sdk.js", "README.md", "LICENSE"]) {
  assert.ok(files.includes(`package/${name}`), `${name} is not packed`);
}

const npm = (...words) => execFileSync("npm", ["--silent", "--no-audit", "--no-fund", ...words], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
writeFileSync(join(folder, "package.json"), '{"name":"fresh","private":true,"type":"module"}\n');
const example = /^## Plain TypeScript\n[^]*?^```js\n([^]*?)^```/m.exec(readFileSync("../../docs/clients.md", "utf8"))[1];
writeFileSync(join(folder, "example.js"), `${example}\nexport { result };\n`);
writeFileSync(join(folder, "verify.js"), 'export { Verifier } from "countersign/verify"; export { Confirmed } from "countersign/ai-sdk";\n');

const gateway = await Gateway.start();
try {
  process.env.COUNTERSIGN_URL = gateway.url;
  process.env.COUNTERSIGN_KEY = gateway.newKey("agent", "fresh");
  for (const [index, what] of [join(folder, packed), process.cwd()].entries()) {
    npm("install", what);
    const answering = gateway.answer(undefined, "once");
    const { result } = await import(`${pathToFileURL(join(folder, "example.js"))}?${index}`);
    await answering;
    assert.equal(result, "sent to ana@example.org");
  }
  await import(pathToFileURL(join(folder, "verify.js")));
} finally {
  await gateway.end();
}
console.log("the plain example ran after an installation of the package, and of the folder");
