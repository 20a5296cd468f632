// Risk is word and colour, in this order, with a reason beside it.

import { RISKS } from "../words";
import type { Risk } from "../wire";

export function RiskWord({ risk }: { risk: Risk }) {
  return <span class={`risk risk-${risk}`}>{RISKS[risk] ?? risk}</span>;
}
