import {
  Confirm
} from "./chunk-EPSSDFDB.js";
import {
  $,
  Code,
  Commands,
  Dialog,
  Head,
  Loading,
  Problem,
  a,
  ago,
  explain,
  fullMoment,
  get,
  me,
  now,
  place2 as place,
  post,
  remove,
  say,
  segment,
  span,
  useLoaded,
  useSignal
} from "./chunk-FKD5T3PG.js";

// src/views/people.tsx
var ROLES = [
  ["agent", "agent: submits calls; cannot answer"],
  ["approver", "approver: answers"],
  ["viewer", "viewer: reads only"],
  ["admin", "admin: answers; changes policy, people and keys"]
];
var HEALTHS = {
  ok: { word: "Works", tone: "yes" },
  failing: { word: "Failing", tone: "refuse" },
  unused: { word: "Not used yet", tone: "none" }
};
function People() {
  const role = me.value?.role;
  const isAdmin = role === "admin";
  const seesAll = isAdmin || role === "approver";
  return a("div", { class: "page", children: [
    a(Head, { title: "People and keys", lead: "Who may answer, who may ask, and how people are reached." }),
    seesAll ? a(Persons, { isAdmin }) : null,
    a(Channels, {}),
    seesAll ? a(Keys, { isAdmin }) : a("p", { class: "hint", children: "People and keys are shown to approvers and admins." }),
    a(Logins, {})
  ] });
}
function Rows({ loaded, rows }) {
  const value = loaded.value.value;
  if (value !== null) return a($, { children: rows(value) });
  return loaded.error.value !== null ? a(Problem, { error: loaded.error.value, again: loaded.again }) : a(Loading, {});
}
function Persons({ isAdmin }) {
  const loaded = useLoaded(() => get("/v1/people"), ["person.", "key."]);
  const problem = useSignal(null);
  const drop = async (person) => {
    try {
      await remove(`/v1/people/${segment(person.name)}`);
      say(`${person.name} is removed.`);
      loaded.again();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return a("section", { class: "panel fill", "aria-label": "People", children: [
    a("h2", { children: "People" }),
    a(
      Rows,
      {
        loaded,
        rows: ({ people }) => people.length === 0 ? a("p", { class: "hint", children: "Nobody yet. People with an approver key are listed here, too." }) : a("ul", { class: "rows", children: people.map((person) => a("li", { children: [
          a("div", { children: [
            a("strong", { children: person.name }),
            person.name === me.value?.name ? a("span", { class: "pill tone-accent", children: "You" }) : null,
            a("small", { children: [
              person.roles.join(", "),
              accounts(person)
            ] })
          ] }),
          isAdmin && person.name !== me.value?.name ? a(Confirm, { label: "Remove", about: person.name, asks: "This person can no longer answer, and their keys are revoked.", yes: `Remove ${person.name}`, onYes: () => void drop(person) }) : null
        ] }, person.name)) })
      }
    ),
    problem.value === null ? null : a("p", { class: "problem", role: "alert", children: problem.value }),
    isAdmin ? a(NewPerson, { onMade: loaded.again }) : null
  ] });
}
function accounts(person) {
  const found = Object.entries(person.accounts ?? {}).map(([channel, account]) => `${place(channel)}: ${account}`);
  return found.length === 0 ? "" : ` · ${found.join(" · ")}`;
}
function NewPerson({ onMade }) {
  const problem = useSignal(null);
  const make = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    const said = new FormData(form);
    const text = (name) => String(said.get(name) ?? "").trim();
    const channel = text("channel");
    try {
      await post("/v1/people", {
        name: text("name"),
        roles: [text("role")],
        accounts: channel === "" ? {} : { [channel]: text("account") }
      });
      form.reset();
      problem.value = null;
      say("Added.");
      onMade();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return a("details", { class: "make", children: [
    a("summary", { children: "Add or change a person" }),
    a("form", { onSubmit: (event) => void make(event), children: [
      a(Field, { label: "Name", name: "name", isRequired: true }),
      a("label", { children: [
        a("span", { children: "May" }),
        a("select", { name: "role", children: [
          a("option", { value: "approver", children: "answer" }),
          a("option", { value: "viewer", children: "read" }),
          a("option", { value: "admin", children: "answer and administer" })
        ] })
      ] }),
      a(Field, { label: "Chat, if any", name: "channel", hint: "mattermost" }),
      a(Field, { label: "Account there", name: "account", hint: "user id" }),
      a("button", { type: "submit", class: "button primary", children: "Save" })
    ] }),
    problem.value === null ? null : a("p", { class: "problem", role: "alert", children: problem.value })
  ] });
}
function Field({ label, name, hint, isRequired = false }) {
  return a("label", { children: [
    a("span", { children: label }),
    a("input", { type: "text", name, placeholder: hint ?? "", required: isRequired, autocomplete: "off", maxLength: 64 })
  ] });
}
function Channels() {
  const loaded = useLoaded(() => get("/v1/channels"), ["card."]);
  return a("section", { class: "panel fill", "aria-label": "Channels", children: [
    a("h2", { children: "Channels" }),
    a(
      Rows,
      {
        loaded,
        rows: ({ channels }) => channels.length === 0 ? a($, { children: [
          a("p", { class: "hint", children: "No channels configured: cards appear on this page and in the terminal. Example of a webhook:" }),
          a(Commands, { lines: ["channels:", "  pager: { type: webhook, url: ADDRESS, secret_env: PAGER_SECRET }"] })
        ] }) : a("ul", { class: "rows", children: channels.map((channel) => a(Channel, { channel }, channel.name)) })
      }
    )
  ] });
}
function Channel({ channel }) {
  const health = HEALTHS[channel.health];
  return a("li", { children: a("div", { children: [
    a("strong", { children: channel.name }),
    a("span", { class: `pill tone-${health?.tone ?? "none"}`, children: health?.word ?? channel.health }),
    a("small", { children: [
      channel.kind,
      channel.delivered_at ? ` · last card ${ago(channel.delivered_at, now.value)}` : "",
      ` · questions expire after ${span(channel.timeout_seconds)}`,
      channel.people.length === 0 ? " · nobody has an account there" : ` · reaches ${channel.people.join(", ")}`
    ] }),
    channel.failed_at && channel.why ? a("small", { class: channel.health === "failing" ? "problem" : "", children: [
      "Last failure ",
      ago(channel.failed_at, now.value),
      ": ",
      channel.why
    ] }) : null
  ] }) });
}
function Keys({ isAdmin }) {
  const isAll = useSignal(false);
  const loaded = useLoaded(() => get("/v1/keys"), ["key."]);
  const made = useSignal(null);
  const problem = useSignal(null);
  const revoke = async (key) => {
    try {
      await remove(`/v1/keys/${segment(key.id)}`);
      say(`The key of ${key.name} is revoked.`);
      loaded.again();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return a("section", { class: "panel fill", "aria-label": "Keys", children: [
    a("header", { class: "item-head spread", children: [
      a("h2", { children: "Keys" }),
      a("label", { class: "tick", children: [
        a("input", { type: "checkbox", checked: isAll.value, onChange: (event) => isAll.value = event.currentTarget.checked }),
        a("span", { children: "Show revoked keys" })
      ] })
    ] }),
    a(
      Rows,
      {
        loaded,
        rows: ({ keys }) => a("ul", { class: "rows", children: keys.filter((key) => isAll.value || !key.revoked_at).map((key) => a("li", { children: [
          a("div", { children: [
            a("strong", { children: key.name }),
            a("span", { class: `pill tone-${key.role === "agent" ? "accent" : "none"}`, children: key.role }),
            key.id === me.value?.key_id ? a("span", { class: "pill tone-accent", children: "This browser's" }) : null,
            a("small", { children: [
              "created ",
              fullMoment(key.created_at),
              " by ",
              key.created_by,
              key.workspaces.length === 0 ? "" : ` · works in ${key.workspaces.join(", ")}`,
              key.revoked_at ? ` · revoked ${fullMoment(key.revoked_at)}` : ""
            ] })
          ] }),
          isAdmin && !key.revoked_at && key.id !== me.value?.key_id ? a(
            Confirm,
            {
              label: "Revoke",
              about: `the key of ${key.name}`,
              asks: "It stops working immediately, and browsers signed in with it are signed out.",
              yes: "Revoke it",
              onYes: () => void revoke(key)
            }
          ) : null
        ] }, key.id)) })
      }
    ),
    problem.value === null ? null : a("p", { class: "problem", role: "alert", children: problem.value }),
    isAdmin ? a(
      NewKeyForm,
      {
        onMade: (key) => {
          made.value = key;
          loaded.again();
        }
      }
    ) : null,
    made.value === null ? null : a(Once, { made: made.value, onClose: () => made.value = null })
  ] });
}
function NewKeyForm({ onMade }) {
  const problem = useSignal(null);
  const make = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    const said = new FormData(form);
    try {
      const key = await post("/v1/keys", { name: String(said.get("name")).trim(), role: said.get("role") });
      form.reset();
      problem.value = null;
      onMade(key);
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return a("details", { class: "make", children: [
    a("summary", { children: "Create a key" }),
    a("form", { onSubmit: (event) => void make(event), children: [
      a(Field, { label: "Name", name: "name", hint: "my-agent", isRequired: true }),
      a("label", { children: [
        a("span", { children: "Role" }),
        a("select", { name: "role", children: ROLES.map(([role, words]) => a("option", { value: role, children: words }, role)) })
      ] }),
      a("button", { type: "submit", class: "button primary", children: "Create the key" })
    ] }),
    problem.value === null ? null : a("p", { class: "problem", role: "alert", children: problem.value })
  ] });
}
function Once({ made, onClose }) {
  const isCopied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(made.key).then(
      () => isCopied.value = true,
      () => say("The browser blocks copying; select the text instead.")
    );
  };
  return a(Dialog, { title: `The key of ${made.name}`, onClose, children: a("div", { class: "once", children: [
    a("p", { children: "It is shown only once. The gateway stores only a hash." }),
    a(Code, { name: "The key", text: made.key }),
    a("div", { class: "row-of-buttons", children: a("button", { type: "button", class: "button primary", onClick: () => void copy(), children: isCopied.value ? "Copied" : "Copy" }) })
  ] }) });
}
function Logins() {
  const loaded = useLoaded(() => get("/v1/logins"), ["login."]);
  const problem = useSignal(null);
  const end = async (id) => {
    try {
      await remove(`/v1/logins/${segment(id)}`);
      say("Signed out.");
      loaded.again();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return a("section", { class: "panel fill", "aria-label": "Browsers", children: [
    a("h2", { children: "Signed-in browsers" }),
    a(
      Rows,
      {
        loaded,
        rows: ({ logins }) => logins.length === 0 ? a("p", { class: "hint", children: "None." }) : a("ul", { class: "rows", children: [...logins].reverse().map((login) => a("li", { children: [
          a("div", { children: [
            a("strong", { children: login.name }),
            a("small", { children: [
              "since ",
              fullMoment(login.created_at),
              " · until ",
              fullMoment(login.expires_at)
            ] })
          ] }),
          a(
            Confirm,
            {
              label: "Sign out",
              about: `the browser of ${login.name}, since ${fullMoment(login.created_at)}`,
              asks: "If it is this browser, you need a new link to come back: countersign keys login.",
              yes: "Sign it out",
              onYes: () => void end(login.id)
            }
          )
        ] }, login.id)) })
      }
    ),
    problem.value === null ? null : a("p", { class: "problem", role: "alert", children: problem.value })
  ] });
}
export {
  People
};
