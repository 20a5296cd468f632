// The first, plain page: lists what waits and takes answers. Everything an agent wrote is set as
// text, never as markup.
"use strict";

const ARMED_AFTER_MS = 700;
const LABELS = {
  once: "Allow once",
  session: "Allow for this session",
  always: "Add to permanent allowlist",
  deny: "Deny",
};
const state = document.getElementById("state");
const waiting = document.getElementById("waiting");
const done = document.getElementById("done");
const cards = new Map();
let lastEventId = null;

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

async function request(method, path, body) {
  const options = { method, headers: {}, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : {} };
}

function say(text) {
  state.textContent = text;
}

function fields(list) {
  const out = document.createDocumentFragment();
  const names = element("dl");
  for (const field of list || []) {
    if (field.code) {
      out.append(element("strong", field.name), element("pre", field.text));
    } else {
      names.append(element("dt", field.name), element("dd", field.text));
    }
  }
  if (names.childElementCount) out.append(names);
  return out;
}

function outcomeText(decision) {
  const who = decision.by ? ` by ${decision.by}` : "";
  const where = decision.via ? ` (${decision.via})` : "";
  const note = decision.note ? `: ${decision.note}` : "";
  return `${decision.outcome}${who}${where} at ${new Date(decision.at * 1000).toLocaleTimeString()}${note}`;
}

function paint(approval) {
  const card = approval.card;
  const box = element("article", undefined, "card");
  box.setAttribute("role", "listitem");
  box.append(element("h3", card.title || approval.command));
  const risk = element("p", undefined, "risk");
  risk.classList.add(`risk-${card.risk}`);
  risk.textContent = `Risk: ${card.risk}. ${(card.reasons || []).join("; ")}`;
  box.append(risk, fields(card.body), fields(card.lineage));
  if (card.explanation) {
    box.append(element("p", `The agent says (unverified): ${card.explanation}`, "unverified"));
  }
  if (approval.status === "waiting") {
    box.append(answers(approval));
  } else if (approval.decision) {
    box.append(element("p", outcomeText(approval.decision)));
  }
  return box;
}

function answers(approval) {
  const form = element("div");
  const ends = new Date(approval.expires_at * 1000).toLocaleTimeString();
  form.append(element("p", `Not run unless somebody answers before ${ends}.`));
  const label = element("label", "Note to the agent (for a denial)");
  const note = element("input");
  note.maxLength = 1000;
  label.append(note);
  const row = element("div", undefined, "choices");
  const buttons = approval.choices.map((choice) => {
    const scope = (approval.scopes || [])[0];
    const left = choice === "session" || choice === "always" ? scope : undefined;
    const text = LABELS[choice] || choice;
    const button = element("button", left ? `${text}: ${left.words}` : text);
    button.type = "button";
    button.disabled = true;
    button.addEventListener("click", async (event) => {
      // A click that no person made is no answer.
      if (!event.isTrusted) return;
      buttons.forEach((other) => { other.disabled = true; });
      const body = { choice };
      if (choice === "deny" && note.value) body.note = note.value;
      const path = `/v1/approvals/${encodeURIComponent(approval.approval_id)}`;
      const answer = await request("POST", `${path}/resolve`, body);
      if (answer.status !== 200) say(answer.body.error ? answer.body.error.message : "That did not work.");
      await refresh(approval.approval_id);
    });
    row.append(button);
    return button;
  });
  // What has just appeared under a finger is not what the finger meant.
  setTimeout(() => buttons.forEach((button) => { button.disabled = false; }), ARMED_AFTER_MS);
  form.append(label, row);
  return form;
}

async function refresh(id) {
  const answer = await request("GET", `/v1/approvals/${encodeURIComponent(id)}`);
  if (answer.status === 200) show(answer.body);
}

function show(approval) {
  const old = cards.get(approval.approval_id);
  const box = paint(approval);
  cards.set(approval.approval_id, box);
  if (approval.status === "waiting") {
    if (old) old.replaceWith(box);
    else waiting.append(box);
  } else {
    if (old) old.remove();
    done.prepend(box);
  }
  count();
}

function count() {
  const many = waiting.childElementCount;
  document.getElementById("empty").hidden = many > 0;
  document.title = many ? `(${many}) Countersign` : "Countersign";
}

async function list() {
  const answer = await request("GET", "/v1/approvals?status=waiting");
  if (answer.status !== 200) return answer.status;
  const ids = new Set(answer.body.approvals.map((it) => it.approval_id));
  for (const [id, box] of cards) {
    if (box.parentElement === waiting && !ids.has(id)) await refresh(id);
  }
  answer.body.approvals.reverse().forEach(show);
  count();
  return 200;
}

async function follow() {
  const headers = lastEventId === null ? {} : { "last-event-id": lastEventId };
  const response = await fetch("/v1/events", { headers, credentials: "same-origin" });
  if (response.status !== 200) throw new Error(String(response.status));
  // Only now is nothing missed between the list and the events.
  if (await list() !== 200) throw new Error("list");
  say("Connected");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done: ended } = await reader.read();
    if (ended) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) await take(event);
  }
}

async function take(event) {
  let data = null;
  for (const line of event.split("\n")) {
    if (line.startsWith("id: ")) lastEventId = line.slice(4);
    if (line.startsWith("data: ")) data = JSON.parse(line.slice(6));
  }
  if (data && data.approval_id) await refresh(data.approval_id);
}

async function signIn() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return;
  // The code works once; it must not stay in the address or the history.
  history.replaceState(null, "", "/");
  const answer = await request("POST", "/v1/login", { code });
  if (answer.status !== 200) say(answer.body.error.message);
}

async function main() {
  await signIn();
  for (let pause = 500; ; pause = Math.min(pause * 2, 10000)) {
    const who = await request("GET", "/v1/whoami").catch(() => ({ status: 0 }));
    if (who.status === 401) {
      say("Not signed in. Run `countersign keys login` and open the link it prints.");
      return;
    }
    if (who.status === 200) {
      pause = 500;
      await follow().catch(() => {});
    }
    say("Connection lost; trying again …");
    await new Promise((resolve) => { setTimeout(resolve, pause); });
  }
}

main();
