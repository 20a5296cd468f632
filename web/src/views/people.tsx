// People, keys, signed-in browsers and channels.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { explain, get, post, remove, segment } from "../api";
import { ago, fullMoment, now, span } from "../clock";
import { me, say } from "../live";
import { useLoaded, type Loaded } from "../load";
import { Confirm } from "../parts/confirm";
import { Dialog } from "../parts/dialog";
import { Code } from "../parts/fields";
import { Commands, Head, Loading, Problem } from "../parts/states";
import type { ChannelList, ChannelView, KeyList, KeyView, LoginList, NewKey, PersonList, PersonView, Role } from "../wire.gen";
import { place } from "../words";

const ROLES: [Role, string][] = [
  ["agent", "agent: submits calls; cannot answer"],
  ["approver", "approver: answers"],
  ["viewer", "viewer: reads only"],
  ["admin", "admin: answers; changes policy, people and keys"],
];
const HEALTHS: Record<string, { word: string; tone: string }> = {
  ok: { word: "Works", tone: "yes" },
  failing: { word: "Failing", tone: "refuse" },
  unused: { word: "Not used yet", tone: "none" },
};

export function People() {
  const role = me.value?.role;
  const isAdmin = role === "admin";
  const seesAll = isAdmin || role === "approver";
  return (
    <div class="page">
      <Head title="People and keys" lead="Who may answer, who may ask, and how people are reached." />
      {seesAll ? <Persons isAdmin={isAdmin} /> : null}
      <Channels />
      {seesAll ? <Keys isAdmin={isAdmin} /> : <p class="hint">People and keys are shown to approvers and admins.</p>}
      <Logins />
    </div>
  );
}

/** What was read, or why not. */
function Rows<T>({ loaded, rows }: { loaded: Loaded<T>; rows: (value: T) => ComponentChildren }) {
  const value = loaded.value.value;
  if (value !== null) return <>{rows(value)}</>;
  return loaded.error.value !== null ? <Problem error={loaded.error.value} again={loaded.again} /> : <Loading />;
}

function Persons({ isAdmin }: { isAdmin: boolean }) {
  const loaded = useLoaded(() => get<PersonList>("/v1/people"), ["person.", "key."]);
  const problem = useSignal<string | null>(null);
  const drop = async (person: PersonView): Promise<void> => {
    try {
      await remove(`/v1/people/${segment(person.name)}`);
      say(`${person.name} is removed.`);
      loaded.again();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return (
    <section class="panel fill" aria-label="People">
      <h2>People</h2>
      <Rows
        loaded={loaded}
        rows={({ people }) =>
          people.length === 0 ? (
            <p class="hint">Nobody yet. People with an approver key are listed here, too.</p>
          ) : (
            <ul class="rows">
              {people.map((person) => (
                <li key={person.name}>
                  <div>
                    <strong>{person.name}</strong>
                    {person.name === me.value?.name ? <span class="pill tone-accent">You</span> : null}
                    <small>
                      {person.roles.join(", ")}
                      {accounts(person)}
                    </small>
                  </div>
                  {isAdmin && person.name !== me.value?.name ? (
                    <Confirm label="Remove" about={person.name} asks="This person can no longer answer, and their keys are revoked." yes={`Remove ${person.name}`} onYes={() => void drop(person)} />
                  ) : null}
                </li>
              ))}
            </ul>
          )
        }
      />
      {problem.value === null ? null : <p class="problem" role="alert">{problem.value}</p>}
      {isAdmin ? <NewPerson onMade={loaded.again} /> : null}
    </section>
  );
}

function accounts(person: PersonView): string {
  const found = Object.entries(person.accounts ?? {}).map(([channel, account]) => `${place(channel)}: ${account}`);
  return found.length === 0 ? "" : ` · ${found.join(" · ")}`;
}

function NewPerson({ onMade }: { onMade: () => void }) {
  const problem = useSignal<string | null>(null);
  const make = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const said = new FormData(form);
    const text = (name: string): string => String(said.get(name) ?? "").trim();
    const channel = text("channel");
    try {
      await post("/v1/people", {
        name: text("name"),
        roles: [text("role")],
        accounts: channel === "" ? {} : { [channel]: text("account") },
      });
      form.reset();
      problem.value = null;
      say("Added.");
      onMade();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return (
    <details class="make">
      <summary>Add or change a person</summary>
      <form onSubmit={(event) => void make(event)}>
        <Field label="Name" name="name" isRequired />
        <label>
          <span>May</span>
          <select name="role">
            <option value="approver">answer</option>
            <option value="viewer">read</option>
            <option value="admin">answer and administer</option>
          </select>
        </label>
        <Field label="Chat, if any" name="channel" hint="mattermost" />
        <Field label="Account there" name="account" hint="user id" />
        <button type="submit" class="button primary">
          Save
        </button>
      </form>
      {problem.value === null ? null : <p class="problem" role="alert">{problem.value}</p>}
    </details>
  );
}

function Field({ label, name, hint, isRequired = false }: { label: string; name: string; hint?: string; isRequired?: boolean }) {
  return (
    <label>
      <span>{label}</span>
      <input type="text" name={name} placeholder={hint ?? ""} required={isRequired} autocomplete="off" maxLength={64} />
    </label>
  );
}

function Channels() {
  const loaded = useLoaded(() => get<ChannelList>("/v1/channels"), ["card."]);
  return (
    <section class="panel fill" aria-label="Channels">
      <h2>Channels</h2>
      <Rows
        loaded={loaded}
        rows={({ channels }) =>
          channels.length === 0 ? (
            <>
              <p class="hint">No channels configured: cards appear on this page and in the terminal. Example of a webhook:</p>
              <Commands lines={["channels:", "  pager: { type: webhook, url: ADDRESS, secret_env: PAGER_SECRET }"]} />
            </>
          ) : (
            <ul class="rows">
              {channels.map((channel) => (
                <Channel key={channel.name} channel={channel} />
              ))}
            </ul>
          )
        }
      />
    </section>
  );
}

function Channel({ channel }: { channel: ChannelView }) {
  const health = HEALTHS[channel.health];
  return (
    <li>
      <div>
        <strong>{channel.name}</strong>
        <span class={`pill tone-${health?.tone ?? "none"}`}>{health?.word ?? channel.health}</span>
        <small>
          {channel.kind}
          {channel.delivered_at ? ` · last card ${ago(channel.delivered_at, now.value)}` : ""}
          {` · questions expire after ${span(channel.timeout_seconds)}`}
          {channel.people.length === 0 ? " · nobody has an account there" : ` · reaches ${channel.people.join(", ")}`}
        </small>
        {channel.failed_at && channel.why ? (
          <small class={channel.health === "failing" ? "problem" : ""}>
            Last failure {ago(channel.failed_at, now.value)}: {channel.why}
          </small>
        ) : null}
      </div>
    </li>
  );
}

function Keys({ isAdmin }: { isAdmin: boolean }) {
  const isAll = useSignal(false);
  const loaded = useLoaded(() => get<KeyList>("/v1/keys"), ["key."]);
  const made = useSignal<NewKey | null>(null);
  const problem = useSignal<string | null>(null);
  const revoke = async (key: KeyView): Promise<void> => {
    try {
      await remove(`/v1/keys/${segment(key.id)}`);
      say(`The key of ${key.name} is revoked.`);
      loaded.again();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return (
    <section class="panel fill" aria-label="Keys">
      <header class="item-head spread">
        <h2>Keys</h2>
        <label class="tick">
          <input type="checkbox" checked={isAll.value} onChange={(event) => (isAll.value = event.currentTarget.checked)} />
          <span>Show revoked keys</span>
        </label>
      </header>
      <Rows
        loaded={loaded}
        rows={({ keys }) => (
          <ul class="rows">
            {keys
              .filter((key) => isAll.value || !key.revoked_at)
              .map((key) => (
                <li key={key.id}>
                  <div>
                    <strong>{key.name}</strong>
                    <span class={`pill tone-${key.role === "agent" ? "accent" : "none"}`}>{key.role}</span>
                    {key.id === me.value?.key_id ? <span class="pill tone-accent">This browser's</span> : null}
                    <small>
                      created {fullMoment(key.created_at)} by {key.created_by}
                      {key.workspaces.length === 0 ? "" : ` · works in ${key.workspaces.join(", ")}`}
                      {key.revoked_at ? ` · revoked ${fullMoment(key.revoked_at)}` : ""}
                    </small>
                  </div>
                  {isAdmin && !key.revoked_at && key.id !== me.value?.key_id ? (
                    <Confirm
                      label="Revoke"
                      about={`the key of ${key.name}`}
                      asks="It stops working immediately, and browsers signed in with it are signed out."
                      yes="Revoke it"
                      onYes={() => void revoke(key)}
                    />
                  ) : null}
                </li>
              ))}
          </ul>
        )}
      />
      {problem.value === null ? null : <p class="problem" role="alert">{problem.value}</p>}
      {isAdmin ? (
        <NewKeyForm
          onMade={(key) => {
            made.value = key;
            loaded.again();
          }}
        />
      ) : null}
      {made.value === null ? null : <Once made={made.value} onClose={() => (made.value = null)} />}
    </section>
  );
}

function NewKeyForm({ onMade }: { onMade: (key: NewKey) => void }) {
  const problem = useSignal<string | null>(null);
  const make = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const said = new FormData(form);
    try {
      const key = await post<NewKey>("/v1/keys", { name: String(said.get("name")).trim(), role: said.get("role") });
      form.reset();
      problem.value = null;
      onMade(key);
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return (
    <details class="make">
      <summary>Create a key</summary>
      <form onSubmit={(event) => void make(event)}>
        <Field label="Name" name="name" hint="my-agent" isRequired />
        <label>
          <span>Role</span>
          <select name="role">
            {ROLES.map(([role, words]) => (
              <option key={role} value={role}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="button primary">
          Create the key
        </button>
      </form>
      {problem.value === null ? null : <p class="problem" role="alert">{problem.value}</p>}
    </details>
  );
}

/** A key's secret, which is shown this once. */
function Once({ made, onClose }: { made: NewKey; onClose: () => void }) {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(made.key).then(
      () => (isCopied.value = true),
      () => say("The browser blocks copying; select the text instead."),
    );
  };
  return (
    <Dialog title={`The key of ${made.name}`} onClose={onClose}>
      <div class="once">
        <p>It is shown only once. The gateway stores only a hash.</p>
        <Code name="The key" text={made.key} />
        <div class="row-of-buttons">
          <button type="button" class="button primary" onClick={() => void copy()}>
            {isCopied.value ? "Copied" : "Copy"}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Logins() {
  const loaded = useLoaded(() => get<LoginList>("/v1/logins"), ["login."]);
  const problem = useSignal<string | null>(null);
  const end = async (id: string): Promise<void> => {
    try {
      await remove(`/v1/logins/${segment(id)}`);
      say("Signed out.");
      loaded.again();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return (
    <section class="panel fill" aria-label="Browsers">
      <h2>Signed-in browsers</h2>
      <Rows
        loaded={loaded}
        rows={({ logins }) =>
          logins.length === 0 ? (
            <p class="hint">None.</p>
          ) : (
            <ul class="rows">
              {[...logins].reverse().map((login) => (
                <li key={login.id}>
                  <div>
                    <strong>{login.name}</strong>
                    <small>
                      since {fullMoment(login.created_at)} · until {fullMoment(login.expires_at)}
                    </small>
                  </div>
                  <Confirm
                    label="Sign out"
                    about={`the browser of ${login.name}, since ${fullMoment(login.created_at)}`}
                    asks="If it is this browser, you need a new link to come back: countersign keys login."
                    yes="Sign it out"
                    onYes={() => void end(login.id)}
                  />
                </li>
              ))}
            </ul>
          )
        }
      />
      {problem.value === null ? null : <p class="problem" role="alert">{problem.value}</p>}
    </section>
  );
}
