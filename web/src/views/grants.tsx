// Grants and sessions that run without questions, each with a way to end it.

import { useSignal } from "@preact/signals";

import { explain, get, remove, segment } from "../api";
import { ago, fullMoment, now, span } from "../clock";
import { mayAnswer, say } from "../live";
import { useLoaded } from "../load";
import { Confirm } from "../parts/confirm";
import { Facts, Words } from "../parts/fields";
import { Overrides } from "../parts/override";
import { Empty, Head, Loading, Problem } from "../parts/states";
import { at } from "../router";
import type { GrantList, GrantView } from "../wire.gen";
import { many } from "../words";

export function Grants() {
  const isAll = useSignal(false);
  const grants = useLoaded(() => get<GrantList>(`/v1/grants?all=${isAll.peek()}`), ["grant."], String(isAll.value));
  const found = grants.value.value?.grants;
  return (
    <div class="page">
      <Head title="Grants" lead="Standing permissions: these calls run without a question. A grant never covers more than its text says.">
        <label class="tick">
          <input type="checkbox" checked={isAll.value} onChange={(event) => (isAll.value = event.currentTarget.checked)} />
          <span>Show ended grants</span>
        </label>
      </Head>
      <Overrides />
      {found === undefined ? (
        grants.error.value !== null ? <Problem error={grants.error.value} again={grants.again} /> : <Loading />
      ) : found.length === 0 ? (
        <Empty isPart icon="grants" title={isAll.value ? "No grants yet" : "No active grants"}>
          <p>
            “Allow for this session” and “Add to permanent allowlist” on a card create one. The card shows it first,
            the narrowest on top, with how often it would have matched.
          </p>
        </Empty>
      ) : (
        <ul class="stack">
          {[...found].sort((a, b) => Number(b.live) - Number(a.live) || b.created_at - a.created_at).map((grant) => (
            <li key={grant.grant_id}>
              <Grant grant={grant} onRevoked={grants.again} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Grant({ grant, onRevoked }: { grant: GrantView; onRevoked: () => void }) {
  const problem = useSignal<string | null>(null);
  const revoke = async (): Promise<void> => {
    try {
      await remove(`/v1/grants/${segment(grant.grant_id)}`);
      say("Revoked. Such calls ask again.");
      onRevoked();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return (
    <article class={grant.live ? "panel fill item" : "panel fill item over"}>
      <header class="item-head">
        <span class={grant.live ? "pill tone-yes" : "pill tone-none"}>{grant.live ? lasts(grant) : "Ended"}</span>
        <h2>
          <Words text={grant.words} />
        </h2>
      </header>
      <Facts
        fields={[
          { name: "Given by", text: `${grant.by}, ${fullMoment(grant.created_at)}`, href: at("approvals", grant.approval_id) },
          { name: "Valid for", text: grant.session_id ? `session ${grant.session_id}` : "every session of that agent" },
          { name: "Used", text: used(grant) },
          ...(grant.expires_at ? [{ name: grant.live ? "Ends" : "Ended", text: fullMoment(grant.expires_at) }] : []),
        ]}
      />
      {problem.value === null ? null : <p class="problem" role="alert">{problem.value}</p>}
      {grant.live && mayAnswer.value ? (
        <Confirm label="Revoke" about={grant.words} asks="Such calls ask again from now on. This does not undo calls that already ran." yes="Revoke it" onYes={() => void revoke()} />
      ) : null}
    </article>
  );
}

function lasts(grant: GrantView): string {
  if (grant.uses_left !== null && grant.uses_left !== undefined) return `${many(grant.uses_left, "use")} left`;
  if (grant.expires_at !== null && grant.expires_at !== undefined) return `${span(grant.expires_at - now.value)} left`;
  return grant.session_id ? "This session" : "Permanent";
}

function used(grant: GrantView): string {
  if (grant.uses === 0) return "not yet";
  const last = grant.last_used_at ? `, last ${ago(grant.last_used_at, now.value)}` : "";
  return `${many(grant.uses, "time")}${last}`;
}
