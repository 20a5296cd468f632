// The keyboard help, from the key table.

import { KEYS } from "../keys";
import { Dialog } from "./dialog";

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map((row) => (
          <div key={row.command}>
            <dt>
              {row.shown.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{row.does}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">
        A key counts once a card has been in view for 0.7 seconds and nothing was pressed for 0.3. Earlier keys are
        ignored.
      </p>
    </Dialog>
  );
}
