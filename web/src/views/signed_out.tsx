// The sign-in view: takes a link, its code, or a key, and says where to get one.

import { useSignal } from "@preact/signals";

import { me } from "../live";
import { Mark } from "../parts/icon";
import { Commands } from "../parts/states";
import { signInWith } from "../session";

export function SignedOut({ problem }: { problem: string | null }) {
  const text = useSignal("");
  const refused = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    refused.value = await signInWith(text.value);
    isBusy.value = false;
    // The address stays: whoever followed a link to a card sees that card.
    if (refused.value === null) location.reload();
  };
  const said = refused.value ?? problem;
  return (
    <main class="alone">
      <section class="sign-in">
        <Mark />
        <h1>Sign in to Countersign</h1>
        {said === null ? null : (
          <p class="problem" role="alert">
            {said}
          </p>
        )}
        <p>
          {me.value === null ? "This browser is not signed in." : "Your session has ended."} On the machine of the gateway,
          create a link and open it here:
        </p>
        <Commands lines={["countersign keys login"]} />
        <form class="sign-in-form" onSubmit={(event) => void send(event)}>
          <label>
            Or paste the link, its code, or your key
            <input
              type="password"
              autocomplete="off"
              spellcheck={false}
              value={text.value}
              onInput={(event) => (text.value = event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="button primary" aria-disabled={isBusy.value}>
            Sign in
          </button>
        </form>
        <p class="hint">
          A link works once, for ten minutes, and signs in the owner of the key that created it. Keys of approvers, admins
          and viewers can sign in; the key itself is not stored here.
        </p>
      </section>
    </main>
  );
}
