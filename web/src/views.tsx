// The view table, used by the navigation and the router.

import type { ComponentType } from "preact";

import type { IconName } from "./parts/icon";
import { Grants } from "./views/grants";
import { History } from "./views/history";
import { Inbox } from "./views/inbox";
import { Insights } from "./views/insights";
import { Ledger } from "./views/ledger";
import { People } from "./views/people";
import { Reviews } from "./views/reviews";
import { Settings } from "./views/settings";
import { Talk } from "./views/talk";

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
  { name: "talk", label: "Talk", icon: "talk", isMain: true, component: Talk },
  { name: "history", label: "History", icon: "history", isMain: true, component: History },
  { name: "insights", label: "Insights", icon: "insights", isMain: true, component: Insights },
  { name: "reviews", label: "Reviews", icon: "reviews", isMain: false, component: Reviews },
  { name: "grants", label: "Grants", icon: "grants", isMain: false, component: Grants },
  { name: "people", label: "People and keys", icon: "people", isMain: false, component: People },
  { name: "ledger", label: "Ledger", icon: "ledger", isMain: false, component: Ledger },
  { name: "settings", label: "Settings", icon: "settings", isMain: false, component: Settings },
];

/** Other first parts of addresses, and the view that shows them. */
const ALSO: Record<string, string> = { "": "inbox", approvals: "inbox", questions: "inbox" };

/** Returns the view of an address that begins with `name`. */
export function viewOf(name: string): View | undefined {
  const wanted = ALSO[name] ?? name;
  return VIEWS.find((view) => view.name === wanted);
}
