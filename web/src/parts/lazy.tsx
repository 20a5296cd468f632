// A view whose script is loaded when it is first opened.

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";

import { Empty, Loading } from "./states";

/** Returns a component that shows what `load` loads. */
export function lazy(load: () => Promise<ComponentType>): ComponentType {
  const loaded = signal<ComponentType | null>(null);
  const isFailed = signal(false);
  const begin = (): void => {
    isFailed.value = false;
    load().then(
      (found) => (loaded.value = found),
      () => (isFailed.value = true),
    );
  };
  return function Lazy() {
    useEffect(() => {
      if (loaded.value === null) begin();
    }, []);
    if (loaded.value !== null) return <loaded.value />;
    return isFailed.value ? <NotLoaded /> : <Loading />;
  };
}

/** A browser may remember that a script could not be loaded; only a reload is sure to try again. */
function NotLoaded() {
  return (
    <Empty icon="search" title="This view could not be loaded">
      <p>The gateway is offline, or it was updated after this page was opened.</p>
      <button type="button" class="button" onClick={() => location.reload()}>
        Reload the page
      </button>
    </Empty>
  );
}
