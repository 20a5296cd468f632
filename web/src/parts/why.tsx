// The *why* panel: every factor and finding.

import { FACTORS, RISKS, score, SIDE_EFFECTS } from "../words";
import { riskOf } from "../verdicts";
import type { Assessment, Factor } from "../wire";
import { Facts } from "./fields";

const PATTERNS: Record<string, string> = {
  pre_execution_gate: "confirmed before it runs",
  post_execution_review: "reviewed after it ran",
  confidence_threshold: "by risk and confidence",
};

export function Why({ assessment }: { assessment: Assessment }) {
  return (
    <div class="why">
      <Facts
        fields={[
          { name: "Risk", text: `${RISKS[riskOf(assessment)]} ${score(assessment.risk_score)}` },
          { name: "Confidence", text: score(assessment.confidence) },
          { name: "Effect", text: SIDE_EFFECTS[assessment.side_effect] ?? assessment.side_effect },
          { name: "Can be undone", text: assessment.reversible ? "yes" : "no" },
          { name: "Outbound", text: assessment.outbound ? "yes" : "no" },
          { name: "Pattern", text: PATTERNS[assessment.pattern] ?? assessment.pattern },
        ]}
      />
      <h3>Factors</h3>
      <ul class="factors">
        {assessment.factors.map((factor) => (
          <li key={factor.factor} class={tone(factor)}>
            <span class="factor-name">{FACTORS[factor.factor] ?? factor.factor}</span>
            <span class="factor-score">{score(factor.score)}</span>
            <span class="bar" aria-hidden="true">
              <span style={{ width: `${factor.score * 100}%` }} />
            </span>
            {factor.evidence === "" ? null : <span class="evidence">{factor.evidence}</span>}
          </li>
        ))}
      </ul>
      {assessment.findings.length === 0 ? null : (
        <>
          <h3>Findings</h3>
          <ul class="findings">
            {assessment.findings.map((finding, index) => (
              <li key={index}>
                <span class={`severity severity-${finding.severity}`}>{finding.severity}</span>
                <span>{finding.message}</span>
                <code>{finding.code}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** How bad a factor is. Certainty is good where the others are bad. */
function tone({ factor, score }: Factor): "low" | "medium" | "high" {
  const bad = factor === "context_certainty" ? 1 - score : score;
  return bad < 0.25 ? "low" : bad <= 0.6 ? "medium" : "high";
}
