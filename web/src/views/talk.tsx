// Talk to the agent.

import { Head } from "../parts/states";

export function Talk() {
  return (
    <div class="page">
      <Head title="Talk" />
    </div>
  );
}
