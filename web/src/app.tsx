// The frame around every view: navigation, state of the connection, who is signed in, help.

import { useSignal, type Signal } from "@preact/signals";

import { now, span } from "./clock";
import { useKeys } from "./keys";
import { link, lostAt, me, retry, signOut, spoken, toast, waiting } from "./live";
import { Help } from "./parts/help";
import { Icon, Mark } from "./parts/icon";
import { Empty, Loading } from "./parts/states";
import { at, go, place } from "./router";
import { VIEWS, viewOf, type View } from "./views";
import { SignedOut } from "./views/signed_out";

export function App({ problem }: { problem: Signal<string | null> }) {
  if (link.value === "signed_out") return <SignedOut problem={problem.value} />;
  if (me.value === null) {
    return link.value === "away" ? <NeverThere /> : <Loading what="Connecting to the gateway" />;
  }
  return <Frame />;
}

function Frame() {
  const help = useSignal(false);
  const name = place.value.parts[0] ?? "";
  const view = viewOf(name);
  const visit = (view: string) => () => {
    go(at(view));
    return true;
  };
  useKeys({
    help: () => (help.value = !help.value),
    inbox: visit("inbox"),
    talk: visit("talk"),
    history: visit("history"),
  });
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={skip}>
        Skip to main content
      </a>
      <Sidebar current={view} isMore={name === "more"} onHelp={() => (help.value = true)} />
      <main id="main" tabIndex={-1}>
        <Connection />
        {name === "more" ? <More /> : view === undefined ? <Nowhere /> : <view.component />}
      </main>
      <TabBar current={view} isMore={name === "more"} />
      <Toast />
      <p class="unseen" role="status" aria-live="polite">
        {spoken.value}
      </p>
      {help.value ? <Help onClose={() => (help.value = false)} /> : null}
    </div>
  );
}

function skip(event: Event): void {
  // The fragment is the address of a view; it must not change.
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Sidebar({ current, isMore, onHelp }: { current: View | undefined; isMore: boolean; onHelp: () => void }) {
  return (
    <header class="sidebar">
      <a class="brand" href="#/">
        <Mark />
        <span>Countersign</span>
      </a>
      <nav aria-label="Views">
        {VIEWS.map((view) => (
          <NavLink key={view.name} view={view} isCurrent={!isMore && view === current} />
        ))}
      </nav>
      <div class="sidebar-foot">
        <button type="button" class="quiet" onClick={onHelp}>
          Keyboard <kbd>?</kbd>
        </button>
        <p class="who">
          <strong>{me.value?.name}</strong>
          <span>{me.value?.role}</span>
        </p>
        <button type="button" class="quiet" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </header>
  );
}

function NavLink({ view, isCurrent }: { view: View; isCurrent: boolean }) {
  const count = view.name === "inbox" ? waiting.value.length : 0;
  return (
    <a href={view.name === "inbox" ? "#/" : at(view.name)} aria-current={isCurrent ? "page" : undefined}>
      <Icon name={view.icon} />
      <span>{view.label}</span>
      {count > 0 ? (
        <span class="count">
          {count.toLocaleString()}
          <span class="unseen"> waiting</span>
        </span>
      ) : null}
    </a>
  );
}

function TabBar({ current, isMore }: { current: View | undefined; isMore: boolean }) {
  const main = VIEWS.filter((view) => view.isMain);
  return (
    <nav class="tabbar" aria-label="Views, short">
      {main.map((view) => (
        <NavLink key={view.name} view={view} isCurrent={!isMore && view === current} />
      ))}
      <a href="#/more" aria-current={isMore || current?.isMain === false ? "page" : undefined}>
        <Icon name="more" />
        <span>More</span>
      </a>
    </nav>
  );
}

/** What a phone's bar has no room for. */
function More() {
  return (
    <div class="page">
      <h1>More</h1>
      <nav class="more" aria-label="More views">
        {VIEWS.filter((view) => !view.isMain).map((view) => (
          <NavLink key={view.name} view={view} isCurrent={false} />
        ))}
      </nav>
      <p class="who">
        <strong>{me.value?.name}</strong> <span>{me.value?.role}</span>
      </p>
      <button type="button" class="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </div>
  );
}

function Connection() {
  switch (link.value) {
    case "away":
      return (
        <div class="banner" role="alert">
          <p>
            <strong>Gateway offline, reconnecting.</strong>{" "}
            {lostAt.value === null ? "" : `Lost ${span(now.value - lostAt.value)} ago. `}
            This page shows what was last known; nothing can be answered. If the gateway has stopped, start it
            with <code>countersign serve</code>.
          </p>
          <button type="button" class="button" onClick={retry}>
            Try now
          </button>
        </div>
      );
    case "catching_up":
      return (
        <div class="banner calm" role="status">
          <p>Reconnected, loading what changed. Nothing can be allowed until this is done.</p>
        </div>
      );
    case "starting":
    case "live":
    case "signed_out":
      return null;
  }
}

function Toast() {
  return toast.value === null ? null : <div class="toast" aria-hidden="true">{toast.value}</div>;
}

function NeverThere() {
  return (
    <main class="alone">
      <Empty icon="ledger" title="Gateway offline, reconnecting">
        <p>
          The gateway does not respond. While it is stopped, calls that need a person do not run. Start it
          with <code>countersign serve</code>; this page reconnects by itself.
        </p>
        <button type="button" class="button" onClick={retry}>
          Try now
        </button>
      </Empty>
    </main>
  );
}

function Nowhere() {
  return (
    <Empty icon="search" title="Page not found">
      <p>
        No view has this address. <a href="#/">Go to the inbox</a>
      </p>
    </Empty>
  );
}
