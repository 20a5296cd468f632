import {
  Confirm
} from "./chunk-EPSSDFDB.js";
import {
  Facts,
  Head,
  Loading,
  Problem,
  TIERS,
  a,
  ability,
  advances,
  ago,
  explain,
  me,
  notifies,
  now,
  post,
  readDevices,
  remove,
  say,
  segment,
  signOut,
  sounds,
  thisDevice,
  turnOff,
  turnOn,
  useLoaded,
  useSignal
} from "./chunk-FKD5T3PG.js";

// src/parts/devices.tsx
var UNABLE = {
  insecure: "Browsers allow notifications over https only. Open this page over https, or on the gateway's own machine.",
  install_first: "On an iPhone or iPad, first add this page to the Home Screen: Share, Add to Home Screen. Then open it from there.",
  unsupported: "This browser cannot be notified while the page is closed."
};
function Devices() {
  const loaded = useLoaded(readDevices, ["device."]);
  const problem = useSignal(null);
  const isBusy = useSignal(false);
  const can = ability();
  const attempt = async (act) => {
    isBusy.value = true;
    problem.value = null;
    try {
      problem.value = await act() ?? null;
    } catch (error) {
      problem.value = explain(error);
    }
    isBusy.value = false;
    loaded.again();
  };
  const test = (device) => async () => {
    const { why } = await post(`/v1/devices/${segment(device.id)}/test`);
    if (why === null) say(`A test was sent to ${device.name}.`);
    return why === null ? null : `Nothing was sent to ${device.name}: ${why}.`;
  };
  const drop = (device) => async () => {
    if (device.id === thisDevice.value) await turnOff();
    else await remove(`/v1/devices/${segment(device.id)}`);
    say(`${device.name} is no longer notified.`);
  };
  const devices = loaded.value.value;
  return a("section", { class: "panel fill", "aria-label": "Devices", children: [
    a("h2", { children: "Notifications on your devices" }),
    a("label", { class: "tick", children: [
      a(
        "input",
        {
          type: "checkbox",
          checked: thisDevice.value !== null,
          disabled: can !== "able" || isBusy.value,
          onChange: (event) => void attempt(event.currentTarget.checked ? turnOn : turnOff)
        }
      ),
      a("span", { children: [
        "Notify this device",
        a("small", { children: "Also while the page is closed. A tap opens the card; nothing can be answered in the notification." })
      ] })
    ] }),
    can === "able" ? null : a("p", { class: "hint", children: UNABLE[can] }),
    problem.value === null ? null : a("p", { class: "hint", role: "alert", children: problem.value }),
    devices === null ? loaded.error.value === null ? a(Loading, {}) : a(Problem, { error: loaded.error.value, again: loaded.again }) : devices.length === 0 ? a("p", { class: "hint", children: "No device is notified yet." }) : a("ul", { class: "rows", children: devices.map((device) => a("li", { children: [
      a("div", { children: [
        a("strong", { children: device.name }),
        device.id === thisDevice.value ? a("span", { class: "pill tone-accent", children: "This device" }) : null,
        a("small", { children: [
          device.person === me.value?.name ? "" : `${device.person} · `,
          device.service,
          " · added ",
          ago(device.created_at, now.value)
        ] })
      ] }),
      a("button", { type: "button", class: "button", "aria-label": `Send a test to ${device.name}`, disabled: isBusy.value, onClick: () => void attempt(test(device)), children: "Send a test" }),
      a(Confirm, { label: "Remove", about: device.name, asks: "This device is no longer notified.", yes: `Remove ${device.name}`, onYes: () => void attempt(drop(device)) })
    ] }, device.id)) })
  ] });
}

// src/views/settings.tsx
function Settings() {
  const refused = useSignal(false);
  const notify = async (wanted) => {
    if (!wanted) {
      notifies.value = false;
      return;
    }
    const answer = "Notification" in window ? await Notification.requestPermission() : "denied";
    notifies.value = answer === "granted";
    refused.value = answer !== "granted";
  };
  const who = me.value;
  return a("div", { class: "page", children: [
    a(Head, { title: "Settings" }),
    a("section", { class: "panel", children: [
      a("h2", { children: "While this page is open" }),
      a("label", { class: "tick", children: [
        a(
          "input",
          {
            type: "checkbox",
            checked: notifies.value,
            onChange: (event) => void notify(event.currentTarget.checked)
          }
        ),
        a("span", { children: [
          "Notify me while this tab is in the background",
          a("small", { children: "The notification does not show the call." })
        ] })
      ] }),
      refused.value ? a("p", { class: "hint", children: "The browser blocks notifications. Allow them in its settings for this page." }) : null,
      a("label", { class: "tick", children: [
        a(
          "input",
          {
            type: "checkbox",
            checked: sounds.value,
            onChange: (event) => sounds.value = event.currentTarget.checked
          }
        ),
        a("span", { children: [
          "Play a sound",
          a("small", { children: "Once for each burst of cards." })
        ] })
      ] })
    ] }),
    who?.role === "approver" || who?.role === "admin" ? a(Devices, {}) : null,
    a("section", { class: "panel", children: [
      a("h2", { children: "After an answer" }),
      a("label", { class: "tick", children: [
        a(
          "input",
          {
            type: "checkbox",
            checked: advances.value,
            onChange: (event) => advances.value = event.currentTarget.checked
          }
        ),
        a("span", { children: [
          "Open the next card",
          a("small", { children: "A second later. The new card must be in view for a moment before a key counts." })
        ] })
      ] })
    ] }),
    who === null ? null : a("section", { class: "panel", children: [
      a("h2", { children: "This browser" }),
      a(
        Facts,
        {
          fields: [
            { name: "Signed in as", text: who.name },
            { name: "Role", text: who.role },
            { name: "Tier", text: `${who.tier}, ${TIERS[who.tier] ?? ""}` }
          ]
        }
      ),
      a("button", { type: "button", class: "button", onClick: () => void signOut(), children: "Sign out" })
    ] })
  ] });
}
export {
  Settings
};
