// Notifications on this device: turns the browser's push subscription on and off.

import { signal } from "@preact/signals";

import { ApiError, get, post, remove } from "./api";
import type { DeviceList, DeviceView, PushView } from "./wire.gen";

/** Whether this browser can be notified while the page is closed, and why not. */
export type Ability = "able" | "insecure" | "install_first" | "unsupported";

/** The device this browser is, while it is notified. */
export const thisDevice = signal<string | null>(null);

export function ability(): Ability {
  if (!window.isSecureContext) return "insecure";
  if ("serviceWorker" in navigator && "PushManager" in window && "Notification" in window) return "able";
  // Safari on a phone offers push to installed pages only.
  return /iPhone|iPad/.test(navigator.userAgent) || navigator.maxTouchPoints > 1 ? "install_first" : "unsupported";
}

/** Reads the devices, and finds out whether this browser is one of them. */
export async function readDevices(): Promise<DeviceView[]> {
  const { devices } = await get<DeviceList>("/v1/devices");
  const subscribed = await subscription();
  const id = subscribed === null ? null : await idOf(subscribed.endpoint);
  thisDevice.value = devices.find((device) => device.id === id)?.id ?? null;
  return devices;
}

/** Notifies this device from now on. Returns what is in the way, in words. */
export async function turnOn(): Promise<string | null> {
  if ((await Notification.requestPermission()) !== "granted") {
    return "The browser blocks notifications. Allow them in its settings for this page.";
  }
  const { public_key: key } = await get<PushView>("/v1/push");
  const worker = await navigator.serviceWorker.ready;
  // One for another key, of a gateway that was here before, would be refused.
  const old = await worker.pushManager.getSubscription();
  if (old !== null && text(old.options.applicationServerKey) !== key) await old.unsubscribe();
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const body = {
    name: nameOf(navigator.userAgent),
    endpoint: made.endpoint,
    p256dh: text(made.getKey("p256dh")),
    auth: text(made.getKey("auth")),
  };
  thisDevice.value = (await post<DeviceView>("/v1/devices", body)).id;
  return null;
}

/** Does not notify this device any more. */
export async function turnOff(): Promise<void> {
  const subscribed = await subscription();
  const id = thisDevice.value ?? (subscribed === null ? null : await idOf(subscribed.endpoint));
  // The browser first: from here on nothing can reach it, whatever the gateway answers.
  await subscribed?.unsubscribe();
  thisDevice.value = null;
  if (id === null) return;
  await remove(`/v1/devices/${id}`).catch((error: unknown) => {
    // It was somebody else's, or is gone already.
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  });
}

async function subscription(): Promise<PushSubscription | null> {
  if (ability() !== "able") return null;
  const worker = await navigator.serviceWorker.getRegistration();
  return (await worker?.pushManager.getSubscription()) ?? null;
}

/** Whether this browser is notified while the page is closed. */
export async function isNotified(): Promise<boolean> {
  return (await subscription()) !== null;
}

/** Returns the id under which the gateway knows the device at `endpoint`. */
async function idOf(endpoint: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint));
  const hex = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `dev_${hex.slice(0, 32)}`;
}

/** Returns bytes in base64url. */
function text(bytes: ArrayBuffer | null): string {
  const letters = String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0)));
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const BROWSERS: [RegExp, string][] = [
  [/Edg/, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox|FxiOS/, "Firefox"],
  [/Chrome|CriOS/, "Chrome"],
  [/Safari/, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Mac OS/, "Mac"],
  [/Windows/, "Windows"],
  [/Linux/, "Linux"],
];

/** Returns a name for the device that its owner recognises: `Firefox on Android`. */
function nameOf(agent: string): string {
  const named = (table: [RegExp, string][], usual: string): string =>
    table.find(([pattern]) => pattern.test(agent))?.[1] ?? usual;
  return `${named(BROWSERS, "A browser")} on ${named(SYSTEMS, "another system")}`;
}
