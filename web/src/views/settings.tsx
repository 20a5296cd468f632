// Settings of this browser.

import { useSignal } from "@preact/signals";

import { me, signOut } from "../live";
import { Devices } from "../parts/devices";
import { Facts } from "../parts/fields";
import { Head } from "../parts/states";
import { advances, notifies, sounds } from "../settings";
import { TIERS } from "../words";

export function Settings() {
  const refused = useSignal(false);
  const notify = async (wanted: boolean): Promise<void> => {
    if (!wanted) {
      notifies.value = false;
      return;
    }
    const answer = "Notification" in window ? await Notification.requestPermission() : "denied";
    notifies.value = answer === "granted";
    refused.value = answer !== "granted";
  };
  const who = me.value;
  return (
    <div class="page">
      <Head title="Settings" />
      <section class="panel">
        <h2>While this page is open</h2>
        <label class="tick">
          <input
            type="checkbox"
            checked={notifies.value}
            onChange={(event) => void notify(event.currentTarget.checked)}
          />
          <span>
            Notify me while this tab is in the background
            <small>The notification does not show the call.</small>
          </span>
        </label>
        {refused.value ? <p class="hint">The browser blocks notifications. Allow them in its settings for this page.</p> : null}
        <label class="tick">
          <input
            type="checkbox"
            checked={sounds.value}
            onChange={(event) => (sounds.value = event.currentTarget.checked)}
          />
          <span>
            Play a sound
            <small>Once for each burst of cards.</small>
          </span>
        </label>
      </section>
      {who?.role === "approver" || who?.role === "admin" ? <Devices /> : null}
      <section class="panel">
        <h2>After an answer</h2>
        <label class="tick">
          <input
            type="checkbox"
            checked={advances.value}
            onChange={(event) => (advances.value = event.currentTarget.checked)}
          />
          <span>
            Open the next card
            <small>A second later. The new card must be in view for a moment before a key counts.</small>
          </span>
        </label>
      </section>
      {who === null ? null : (
        <section class="panel">
          <h2>This browser</h2>
          <Facts
            fields={[
              { name: "Signed in as", text: who.name },
              { name: "Role", text: who.role },
              { name: "Tier", text: `${who.tier}, ${TIERS[who.tier] ?? ""}` },
            ]}
          />
          <button type="button" class="button" onClick={() => void signOut()}>
            Sign out
          </button>
        </section>
      )}
    </div>
  );
}
