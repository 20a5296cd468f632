// The risk as a word with a colour.

import { RISKS } from "../words";
import type { Risk } from "../wire";

export function RiskWord({ risk }: { risk: Risk }) {
  return <span class={`risk risk-${risk}`}>{RISKS[risk] ?? risk}</span>;
}
