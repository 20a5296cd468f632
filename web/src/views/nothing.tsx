// The empty inbox: a summary of the last hour, or how to connect the first agent.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { explain, get, post } from "../api";
import { now } from "../clock";
import { listen, mayAnswer } from "../live";
import { Commands, Empty, Loading, Problem } from "../parts/states";
import { at, go } from "../router";
import type { StatsView } from "../wire.gen";
import { many } from "../words";

const HOUR = 3600;
/** How to connect an agent, one way per row. */
const WAYS: { name: string; lines: string[] }[] = [
  {
    name: "Connect the agents on this machine",
    lines: ["countersign init"],
  },
  {
    name: "Or give another agent a key",
    lines: ["countersign keys create --role agent --name my-agent"],
  },
  {
    name: "Then have it ask before each tool",
    lines: [
      "curl $COUNTERSIGN_URL/v1/calls -H \"Authorization: Bearer $KEY\" \\",
      "  --json '{\"tool\":\"terminal\",\"args\":{\"command\":\"ls\"},\"session_id\":\"s1\"}'",
    ],
  },
];

export function Nothing() {
  const recent = useSignal<StatsView | null>(null);
  const isNew = useSignal(false);
  const problem = useSignal<unknown>(null);
  const look = async (): Promise<void> => {
    try {
      // Statistics leave practice out: a practice card connects no agent.
      const since = Math.floor(now.peek() - HOUR);
      const found = await get<StatsView>(`/v1/stats?since=${since}`);
      if (found.calls === 0) isNew.value = (await get<StatsView>("/v1/stats?since=0")).calls === 0;
      else isNew.value = false;
      recent.value = found;
    } catch (error) {
      problem.value = error;
    }
  };
  useEffect(() => {
    void look();
    let timer = 0;
    const stop = listen((event) => {
      if (event.event !== "call.assessed") return;
      clearTimeout(timer);
      timer = window.setTimeout(() => void look(), 500);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  if (problem.value !== null) return <Problem error={problem.value} again={() => void look()} />;
  if (recent.value === null) return <Loading />;
  if (isNew.value) return <FirstVisit />;
  const { buckets, calls } = recent.value;
  const alone = buckets.reduce((all, bucket) => all + bucket.allow + bucket.allow_then_review, 0);
  const refused = buckets.reduce((all, bucket) => all + bucket.refuse, 0);
  const asked = calls - alone - refused;
  return (
    <Empty icon="check" title="Nothing waiting">
      <p>
        {calls === 0
          ? "No agent asked for anything in the last hour."
          : `In the last hour: ${many(alone, "call")} ran without a question, ${refused} refused, ${many(asked, "question")} asked.`}
      </p>
      <p class="hint">A card appears here when a call needs a person. Its buttons work after a short delay, so nothing is answered by accident.</p>
      <Practice />
    </Empty>
  );
}

function FirstVisit() {
  return (
    <div class="page first-visit">
      <h1>Nothing waiting, and no agent connected yet</h1>
      <p class="lead">
        Every call of an agent is judged here first. Harmless calls run immediately; the few that matter wait
        for you on this page.
      </p>
      <section class="panel highlight">
        <h2>Try it</h2>
        <p>A practice card looks like a real one. Nothing runs, whatever you answer.</p>
        <Practice />
      </section>
      {WAYS.map((way) => (
        <section class="panel" key={way.name}>
          <h2>{way.name}</h2>
          <Commands lines={way.lines} />
        </section>
      ))}
    </div>
  );
}

function Practice() {
  const problem = useSignal<string | null>(null);
  if (!mayAnswer.value) return null;
  const ask = async (): Promise<void> => {
    try {
      const made = await post<{ approval_id: string }>("/v1/practice");
      go(at("approvals", made.approval_id));
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return (
    <>
      <button type="button" class="button primary" onClick={() => void ask()}>
        Try a practice card
      </button>
      {problem.value === null ? null : <p class="problem">{problem.value}</p>}
    </>
  );
}
