import {
  A,
  T,
  a,
  useSignal
} from "./chunk-FKD5T3PG.js";

// src/parts/confirm.tsx
function Confirm({ label, about, asks, yes, onYes }) {
  const isAsking = useSignal(false);
  const keep = T(null);
  const first = T(null);
  const wasAsking = T(false);
  A(() => {
    if (isAsking.value) keep.current?.focus();
    else if (wasAsking.current) first.current?.focus();
    wasAsking.current = isAsking.value;
  }, [isAsking.value]);
  if (!isAsking.value) {
    return a("button", { type: "button", class: "button", ref: first, onClick: () => isAsking.value = true, children: [
      label,
      a("span", { class: "unseen", children: [
        " ",
        about
      ] })
    ] });
  }
  const escape = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    isAsking.value = false;
  };
  return a("div", { class: "confirm", role: "group", "aria-label": `${label} ${about}`, onKeyDown: escape, children: [
    a("p", { children: asks }),
    a("div", { class: "row-of-buttons", children: [
      a("button", { type: "button", class: "button", ref: keep, onClick: () => isAsking.value = false, children: "Leave it" }),
      a(
        "button",
        {
          type: "button",
          class: "button danger",
          onClick: () => {
            isAsking.value = false;
            onYes();
          },
          children: yes
        }
      )
    ] })
  ] });
}

export {
  Confirm
};
