import {
  App,
  Q,
  a,
  arrivals,
  go,
  hasCode,
  isNotified,
  link,
  notifies,
  run,
  signIn,
  sounds,
  waiting,
  x,
  y
} from "./chunk-FKD5T3PG.js";

// src/badge.ts
function badge() {
  x(() => {
    const count = waiting.value.length;
    const away = link.value === "away" ? "⚠ " : "";
    document.title = `${away}${count === 0 ? "" : `(${count}) `}Countersign`;
  });
  let told = arrivals.peek();
  x(() => {
    const fresh = arrivals.value - told;
    told = arrivals.value;
    if (fresh === 0) return;
    if (sounds.peek()) sound();
    if (notifies.peek() && document.visibilityState !== "visible") void notify(fresh);
  });
}
async function notify(fresh) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  if (await isNotified()) return;
  const body = fresh === 1 ? "A call is waiting for your answer." : `${fresh} calls are waiting for your answer.`;
  const shown = new Notification("Countersign", { body, tag: "countersign" });
  shown.onclick = () => {
    window.focus();
    shown.close();
  };
}
function sound() {
  const context = new AudioContext();
  const volume = context.createGain();
  volume.connect(context.destination);
  volume.gain.setValueAtTime(0.08, context.currentTime);
  volume.gain.exponentialRampToValueAtTime(1e-4, context.currentTime + 0.5);
  const tone = context.createOscillator();
  tone.frequency.value = 587;
  tone.connect(volume);
  tone.onended = () => void context.close();
  tone.start();
  tone.stop(context.currentTime + 0.5);
}

// src/install.ts
var WORKER = "/worker.js";
function workerUrl() {
  const policies = window.trustedTypes;
  if (policies === void 0) return WORKER;
  return policies.createPolicy("countersign-worker", { createScriptURL: () => WORKER }).createScriptURL("");
}
function install() {
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.addEventListener("message", (event) => {
    const said = event.data;
    const address = said?.type === "open" ? said.address : null;
    if (typeof address === "string" && address.startsWith("/#/")) go(address.slice(1));
  });
  void navigator.serviceWorker.register(workerUrl(), { updateViaCache: "none" }).catch((error) => {
    console.warn("the service worker is not registered", error);
  });
}

// src/main.tsx
var problem = y(null);
async function begin() {
  problem.value = await signIn();
  await run();
}
window.addEventListener("hashchange", () => {
  if (hasCode()) location.reload();
});
var page = document.getElementById("page");
if (page !== null) {
  badge();
  install();
  void begin();
  Q(a(App, { problem }), page);
}
