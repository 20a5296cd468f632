// Sessions that run without questions: what that covers, who started it, how long, and a button
// that ends it.

import { useSignal } from "@preact/signals";

import { explain, get, remove, segment } from "../api";
import { now, span } from "../clock";
import { mayAnswer, say } from "../live";
import { useLoaded } from "../load";
import type { OverrideList, OverrideView } from "../wire.gen";

/** Every session that runs without questions now. */
export function Overrides() {
  const free = useLoaded(() => get<OverrideList>("/v1/overrides"), ["session.override"]);
  const live = (free.value.value?.overrides ?? []).filter((it) => (it.until ?? 0) > now.value);
  return (
    <>
      {live.map((it) => (
        <Override key={`${it.key_id} ${it.session_id}`} override={it} onEnded={free.again} />
      ))}
    </>
  );
}

function Override({ override, onEnded }: { override: OverrideView; onEnded: () => void }) {
  const problem = useSignal<string | null>(null);
  const end = async (): Promise<void> => {
    try {
      await remove(`/v1/sessions/${segment(override.session_id)}/yolo?key_id=${segment(override.key_id)}`);
      say("The session asks questions again.");
      onEnded();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  const left = override.until ? span(override.until - now.value) : "";
  return (
    <section class="panel fill warning">
      <header class="item-head">
        <span class="pill tone-ask">{left} left</span>
        <h2>
          Session {override.session_id} {override.words}
        </h2>
      </header>
      <p>
        Started by {override.by}: {override.reason === "" ? "no reason given" : override.reason}. Catastrophic calls are still refused; crisis, money, the
        firewall itself and outbound calls still ask.
      </p>
      {problem.value === null ? null : <p class="problem" role="alert">{problem.value}</p>}
      {mayAnswer.value ? (
        <button type="button" class="button" onClick={() => void end()}>
          End now
        </button>
      ) : null}
    </section>
  );
}
