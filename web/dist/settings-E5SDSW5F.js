import {
  Facts,
  Head,
  TIERS,
  a,
  advances,
  me,
  notifies,
  signOut,
  sounds,
  useSignal
} from "./chunk-OXIQVGR3.js";

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
    a(Head, { title: "Settings", lead: "Stored in this browser only." }),
    a("section", { class: "panel", children: [
      a("h2", { children: "When something is waiting" }),
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
