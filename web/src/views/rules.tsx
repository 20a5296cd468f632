// Rules and configuration in force, each with where it comes from.

import { useSignal } from "@preact/signals";

import { get } from "../api";
import { useLoaded } from "../load";
import { Copy } from "../parts/fields";
import { Commands, Empty, Head, Loading, Problem } from "../parts/states";
import type { KeyInForce, RulesView } from "../wire.gen";

/** The lists of the owner's own rules, and what each does. */
const LISTS: [string, string][] = [
  ["approvals.deny", "Deny"],
  ["approvals.ask", "Ask"],
  ["approvals.allow", "Allow"],
];

interface OwnRule {
  effect: string;
  text: string;
  source: string;
}

export function Rules() {
  const loaded = useLoaded(() => get<RulesView>("/v1/rules"), ["config."]);
  const rules = loaded.value.value;
  return (
    <div class="page wide">
      <Head title="Rules" lead="Rules and configuration in force, and where each comes from. Secrets are not shown." />
      {rules === null ? (
        loaded.error.value !== null ? <Problem error={loaded.error.value} again={loaded.again} /> : <Loading />
      ) : (
        <>
          <Own rules={rules} />
          <Order rules={rules} />
          <Configuration rules={rules} />
        </>
      )}
    </div>
  );
}

function Own({ rules }: { rules: RulesView }) {
  const own = ownRules(rules);
  return (
    <section class="panel fill" aria-label="Your rules">
      <h2>Your rules</h2>
      {own.length === 0 ? (
        <Empty isPart icon="rules" title="No rules of your own">
          <p>The order below decides alone. Rules that deny, ask or allow by command, tool, path or recipient go into the configuration.</p>
          <Commands lines={["countersign policy suggest"]} />
        </Empty>
      ) : (
        <table class="in-force">
          <thead>
            <tr>
              <th scope="col">Effect</th>
              <th scope="col">Matches</th>
              <th scope="col">From</th>
            </tr>
          </thead>
          <tbody>
            {own.map((rule, index) => (
              <tr key={index}>
                <td>{rule.effect}</td>
                <td>
                  <code>{rule.text}</code>
                </td>
                <td>{rule.source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Order({ rules }: { rules: RulesView }) {
  return (
    <section class="panel fill" aria-label="Order of decision">
      <h2>Order of decision</h2>
      <p class="hint">Every call goes through these rules. The first that applies decides; the order cannot be configured.</p>
      <table class="in-force">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Applies when</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {rules.order.map((rule) => (
            <tr key={rule.number}>
              <td>{rule.number}</td>
              <td>{rule.applies}</td>
              <td>{rule.result}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Configuration({ rules }: { rules: RulesView }) {
  const isAll = useSignal(false);
  const rows = rowsOf(rules).filter((row) => isAll.value || !row.isDefault);
  return (
    <section class="panel fill" aria-label="Configuration">
      <div class="long-head">
        <h2>Configuration</h2>
        <label class="tick">
          <input type="checkbox" checked={isAll.value} onChange={(event) => (isAll.value = event.currentTarget.checked)} />
          <span>Show defaults</span>
        </label>
      </div>
      <p class="hint">
        <code>{rules.file}</code> <Copy name="the path of the configuration" text={rules.file} /> A project’s <code>.countersign.yaml</code> may
        only tighten it; files of projects that asked since the gateway started are listed.
      </p>
      {rules.projects.map((project) =>
        project.problem === null || project.problem === undefined ? null : (
          <p class="problem" role="alert" key={project.file}>
            Calls of this project are refused until its file can be read: {project.problem}
          </p>
        ),
      )}
      {rows.length === 0 ? (
        <p class="hint">Nothing was changed: every key has its default.</p>
      ) : (
        <table class="in-force">
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Value</th>
              <th scope="col">From</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.source} ${row.key}`}>
                <td>
                  <code>{row.key}</code>
                </td>
                <td>
                  <code>{row.text}</code>
                </td>
                <td>{row.source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="hint">Change a key as an admin, or in the file:</p>
      <Commands lines={["countersign config set approvals.timeout 10m"]} />
    </section>
  );
}

interface Row {
  key: string;
  text: string;
  source: string;
  isDefault: boolean;
}

/** The keys of the owner, and below them those that projects tighten; their rules stand above. */
function rowsOf({ keys, projects }: RulesView): Row[] {
  const row = (source: string) => (it: KeyInForce): Row => ({
    key: it.key,
    text: textOf(it.value),
    source: it.is_default ? "Default" : source,
    isDefault: it.is_default,
  });
  const all = [...keys.map(row("config.yaml")), ...projects.flatMap((project) => project.keys.map(row(project.file)))];
  return all.filter((it) => !LISTS.some(([list]) => list === it.key));
}

function ownRules({ keys, projects }: RulesView): OwnRule[] {
  const of = (source: string, found: KeyInForce[]): OwnRule[] =>
    LISTS.flatMap(([key, effect]) => {
      const value: unknown = found.find((it) => it.key === key)?.value;
      return Array.isArray(value) ? value.map((rule: unknown) => ({ effect, text: textOf(rule).replace(/^\{ | \}$/g, ""), source })) : [];
    });
  return [...of("config.yaml", keys), ...projects.flatMap((project) => of(project.file, project.keys))];
}

/** A value as it would stand in the file, on one line. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(textOf).join(", ");
  if (value === null || typeof value !== "object") return String(value);
  const fields = Object.entries(value).map(([name, it]) => `${name}: ${textOf(it)}`);
  return fields.length === 0 ? "none" : `{ ${fields.join(", ")} }`;
}
