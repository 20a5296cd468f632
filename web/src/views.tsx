// The view table, used by the navigation and the router. The inbox is there at once; every other view
// is loaded when it is opened.

import type { ComponentType } from "preact";

import type { IconName } from "./parts/icon";
import { lazy } from "./parts/lazy";
import { Inbox } from "./views/inbox";

export interface View {
  /** First part of its address. */
  name: string;
  label: string;
  icon: IconName;
  /** Whether it stands in the bar at the bottom of a phone; the others are under *More*. */
  isMain: boolean;
  component: ComponentType;
}

export const VIEWS: View[] = [
  { name: "inbox", label: "Inbox", icon: "inbox", isMain: true, component: Inbox },
  { name: "talk", label: "Talk", icon: "talk", isMain: true, component: lazy(async () => (await import("./views/talk")).Talk) },
  { name: "history", label: "History", icon: "history", isMain: true, component: lazy(async () => (await import("./views/history")).History) },
  { name: "insights", label: "Insights", icon: "insights", isMain: true, component: lazy(async () => (await import("./views/insights")).Insights) },
  { name: "reviews", label: "Reviews", icon: "reviews", isMain: false, component: lazy(async () => (await import("./views/reviews")).Reviews) },
  { name: "grants", label: "Grants", icon: "grants", isMain: false, component: lazy(async () => (await import("./views/grants")).Grants) },
  { name: "people", label: "People and keys", icon: "people", isMain: false, component: lazy(async () => (await import("./views/people")).People) },
  { name: "rules", label: "Rules", icon: "rules", isMain: false, component: lazy(async () => (await import("./views/rules")).Rules) },
  { name: "ledger", label: "Ledger", icon: "ledger", isMain: false, component: lazy(async () => (await import("./views/ledger")).Ledger) },
  { name: "settings", label: "Settings", icon: "settings", isMain: false, component: lazy(async () => (await import("./views/settings")).Settings) },
];

/** Other first parts of addresses, and the view that shows them. */
const ALSO: Record<string, string> = { "": "inbox", approvals: "inbox", questions: "inbox" };

/** Returns the view of an address that begins with `name`. */
export function viewOf(name: string): View | undefined {
  const wanted = ALSO[name] ?? name;
  return VIEWS.find((view) => view.name === wanted);
}
