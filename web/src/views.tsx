// The views of the page: one table, from which navigation and routes are made.

import type { ComponentType } from "preact";

import type { IconName } from "./parts/icon";
import { Inbox } from "./views/inbox";
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
  { name: "settings", label: "Settings", icon: "settings", isMain: false, component: Settings },
];

/** Other first parts of addresses, and the view that shows them. */
const ALSO: Record<string, string> = { "": "inbox", approvals: "inbox", questions: "inbox" };

/** Returns the view of an address that begins with `name`. */
export function viewOf(name: string): View | undefined {
  const wanted = ALSO[name] ?? name;
  return VIEWS.find((view) => view.name === wanted);
}
