// The signed-out page: how to get a sign-in link.

import { Mark } from "../parts/icon";
import { Commands } from "../parts/states";

export function SignedOut({ problem }: { problem: string | null }) {
  return (
    <main class="alone">
      <section class="sign-in">
        <Mark />
        <h1>Countersign</h1>
        {problem === null ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <p>This browser is not signed in. On the machine of the gateway, ask for a link and open it here:</p>
        <Commands lines={["countersign keys login"]} />
        <p class="hint">
          <code>countersign serve</code> prints such a link as well when it starts. A link works once, for ten minutes,
          and signs in the owner of the key that created it. Its code is in the URL fragment, which browsers do not send.
        </p>
      </section>
    </main>
  );
}
