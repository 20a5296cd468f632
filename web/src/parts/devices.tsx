// Settings of notifications: this device on or off, all devices, a test.

import { useSignal } from "@preact/signals";

import { explain, post, remove, segment } from "../api";
import { ago, now } from "../clock";
import { ability, readDevices, thisDevice, turnOff, turnOn, type Ability } from "../device";
import { me, say } from "../live";
import { useLoaded } from "../load";
import type { DeviceTest, DeviceView } from "../wire.gen";
import { Confirm } from "./confirm";
import { Loading, Problem } from "./states";

const UNABLE: Record<Exclude<Ability, "able">, string> = {
  insecure: "Browsers allow notifications over https only. Open this page over https, or on the gateway's own machine.",
  install_first: "On an iPhone or iPad, first add this page to the Home Screen: Share, Add to Home Screen. Then open it from there.",
  unsupported: "This browser cannot be notified while the page is closed.",
};

export function Devices() {
  const loaded = useLoaded(readDevices, ["device."]);
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const can = ability();
  const attempt = async (act: () => Promise<string | null | void>): Promise<void> => {
    isBusy.value = true;
    problem.value = null;
    try {
      problem.value = (await act()) ?? null;
    } catch (error) {
      problem.value = explain(error);
    }
    isBusy.value = false;
    loaded.again();
  };
  const test = (device: DeviceView) => async (): Promise<string | null> => {
    const { why } = await post<DeviceTest>(`/v1/devices/${segment(device.id)}/test`);
    if (why === null) say(`A test was sent to ${device.name}.`);
    return why === null ? null : `Nothing was sent to ${device.name}: ${why}.`;
  };
  const drop = (device: DeviceView) => async (): Promise<void> => {
    if (device.id === thisDevice.value) await turnOff();
    else await remove(`/v1/devices/${segment(device.id)}`);
    say(`${device.name} is no longer notified.`);
  };
  const devices = loaded.value.value;
  return (
    <section class="panel fill" aria-label="Devices">
      <h2>Notifications on your devices</h2>
      <label class="tick">
        <input
          type="checkbox"
          checked={thisDevice.value !== null}
          disabled={can !== "able" || isBusy.value}
          onChange={(event) => void attempt(event.currentTarget.checked ? turnOn : turnOff)}
        />
        <span>
          Notify this device
          <small>Also while the page is closed. A tap opens the card; nothing can be answered in the notification.</small>
        </span>
      </label>
      {can === "able" ? null : <p class="hint">{UNABLE[can]}</p>}
      {problem.value === null ? null : (
        <p class="hint" role="alert">
          {problem.value}
        </p>
      )}
      {devices === null ? (
        loaded.error.value === null ? <Loading /> : <Problem error={loaded.error.value} again={loaded.again} />
      ) : devices.length === 0 ? (
        <p class="hint">No device is notified yet.</p>
      ) : (
        <ul class="rows">
          {devices.map((device) => (
            <li key={device.id}>
              <div>
                <strong>{device.name}</strong>
                {device.id === thisDevice.value ? <span class="pill tone-accent">This device</span> : null}
                <small>
                  {device.person === me.value?.name ? "" : `${device.person} · `}
                  {device.service} · added {ago(device.created_at, now.value)}
                </small>
              </div>
              <button type="button" class="button" aria-label={`Send a test to ${device.name}`} disabled={isBusy.value} onClick={() => void attempt(test(device))}>
                Send a test
              </button>
              <Confirm label="Remove" about={device.name} asks="This device is no longer notified." yes={`Remove ${device.name}`} onYes={() => void attempt(drop(device))} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
