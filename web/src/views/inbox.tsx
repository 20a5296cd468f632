// The inbox: the list of waiting cards and the open card.

import { computed, signal, useComputed, useSignal, useSignalEffect, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { answer } from "../answer";
import { useArming } from "../arming";
import { now, span } from "../clock";
import { common, folded, type Row } from "../groups";
import { useKeys } from "../keys";
import { approvals, isCurrent, link, mayAnswer, need, questions, rows, say, tidy, waiting, type Item } from "../live";
import { asker, differing, filters, inOrder, isFiltered, matches, order, ORDERS, unfilter } from "../order";
import { needsOpening } from "../parts/body";
import { CardView } from "../parts/card";
import { Icon } from "../parts/icon";
import { Overrides } from "../parts/override";
import { QuestionView } from "../parts/question";
import { RiskWord } from "../parts/risk";
import { Empty, Loading } from "../parts/states";
import { VirtualList } from "../parts/virtual";
import { at, place, settle } from "../router";
import { advances } from "../settings";
import { isGrave, many, RISKS } from "../words";
import type * as wire from "../wire";
import { Nothing } from "./nothing";

const ROW_REM = 5.25;
/** How long the result of an answer is shown before the next card is opened. */
const ADVANCE_MS = 1000;

const opened = signal<ReadonlySet<string>>(new Set());
const selected = signal<ReadonlySet<string>>(new Set());

/** The one in the address; without one, the first that waits, as long as nobody chose another. */
const current = computed<Item | null>(() => {
  const [kind, id] = place.value.parts;
  if (kind === "approvals" && id !== undefined) {
    const approval = rows.value.get(id);
    return approval === undefined ? null : { kind: "approval", id, approval };
  }
  if (kind === "questions" && id !== undefined) {
    const question = questions.value.get(id);
    return question === undefined ? null : { kind: "question", id, question };
  }
  return null;
});

/** What was just answered stays in its place until the person goes on. */
const answered = computed<Item | null>(() => {
  const it = current.value;
  return it === null || !matches(it) || waiting.value.some((item) => item.id === it.id) ? null : it;
});

const listed = computed<Item[]>(() => waiting.value.filter(matches).sort(inOrder));

/** Going from one card to the next changes neither of the two, so a long list is not made anew for it. */
const shown = computed<Row[]>(() => {
  const items = answered.value === null ? listed.value : [...listed.value, answered.value].sort(inOrder);
  return folded(items, opened.value);
});

const addressOf = (item: Item): string => at(item.kind === "approval" ? "approvals" : "questions", item.id);

export function Inbox() {
  const [kind, id] = place.value.parts;
  const isChosen = kind !== undefined && kind !== "inbox" && id !== undefined;
  const field = useRef<HTMLInputElement>(null);
  useFirst(isChosen);
  useCards(kind, id);
  const move = (step: 1 | -1): boolean => {
    const list = shown.value;
    const from = list.findIndex((row) => row.kind === "item" && row.item.id === current.value?.id);
    // A card that the filter does not show stays open; the next one is the first of the list.
    for (let index = from + step; index >= 0 && index < list.length; index += step) {
      const row = list[index];
      if (row?.kind === "item") return select(row.item);
      if (row?.kind === "group" && !row.isOpen) {
        toggle(row.key);
        const [first] = row.members;
        if (first !== undefined) return select({ kind: "approval", id: first.approval_id, approval: first });
      }
    }
    return true;
  };
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    filter: () => {
      field.current?.focus();
      return true;
    },
    select: () => {
      if (current.value?.kind === "approval") mark([current.value.approval]);
      return true;
    },
    select_group: () => {
      mark(groupOf(current.value));
      return true;
    },
    close: (event) => {
      if (event.target === field.current) {
        unfilter();
        field.current?.blur();
        return true;
      }
      if (selected.value.size > 0) {
        selected.value = new Set();
        return true;
      }
      return false;
    },
  });
  if (link.value === "starting") return <Loading what="Loading the inbox" />;
  const isEmpty = waiting.value.length === 0 && current.value === null;
  if (isEmpty && !isChosen) {
    return (
      <>
        <Overrides />
        <Nothing />
      </>
    );
  }
  return (
    <div class={isChosen ? "inbox has-card" : "inbox"}>
      <section class="list" aria-label="Waiting">
        <div class="list-head">
          <h1>
            Inbox <span class="quantity">{`${waiting.value.length.toLocaleString()} waiting`}</span>
          </h1>
          <label class="search">
            <Icon name="search" />
            <span class="unseen">Filter</span>
            <input
              ref={field}
              type="search"
              placeholder="Filter"
              value={filters.words.value}
              onInput={(event) => (filters.words.value = event.currentTarget.value)}
            />
            <kbd aria-hidden="true">/</kbd>
          </label>
          <Narrowing />
        </div>
        <Overrides />
        <List />
        <Batch />
      </section>
      <section class="detail" aria-label="Card">
        <h1 class="unseen narrow">Card</h1>
        <a class="back" href="#/">
          <Icon name="back" /> Inbox
        </a>
        <Detail onNext={() => move(1)} isChosen={isChosen} />
      </section>
    </div>
  );
}

/** On a wide screen a card is in view at once; on a phone the list is. */
function useFirst(isChosen: boolean): void {
  useEffect(() => {
    const first = waiting.value[0];
    if (isChosen || first === undefined || !matchMedia("(min-width: 60rem)").matches) return;
    settle(addressOf(first));
  });
}

/** Reads the card in the address, and then those beside it in the list, so that going on shows them at once. */
function useCards(kind: string | undefined, id: string | undefined): void {
  const isRead = kind === "approvals" && id !== undefined && approvals.value.has(id);
  useEffect(() => {
    // What was answered and left is gone from the list.
    if (id !== undefined) tidy(id);
  }, [id]);
  useEffect(() => {
    if (kind !== "approvals" || id === undefined) return;
    if (!isRead) return need(id);
    const items = shown.value.filter((row) => row.kind === "item").map((row) => row.item);
    const index = items.findIndex((item) => item.id === id);
    for (const beside of [items[index + 1], items[index - 1]]) if (beside?.kind === "approval") need(beside.id);
  }, [kind, id, isRead, link.value]);
}

function select(item: Item): boolean {
  settle(addressOf(item));
  return true;
}

function toggle(key: string): void {
  const next = new Set(opened.value);
  if (!next.delete(key)) next.add(key);
  opened.value = next;
}

function mark(members: wire.Row[]): void {
  const ids = members.map((it) => it.approval_id);
  const next = new Set(selected.value);
  const isAll = ids.every((id) => next.has(id));
  for (const id of ids) {
    if (isAll) next.delete(id);
    else next.add(id);
  }
  selected.value = next;
}

function groupOf(item: Item | null): wire.Row[] {
  if (item?.kind !== "approval") return [];
  const group = shown.value.find((row) => row.kind === "group" && row.members.some((it) => it.approval_id === item.id));
  return group?.kind === "group" ? group.members : [item.approval];
}

function List() {
  const index = shown.value.findIndex((row) => row.kind === "item" && row.item.id === current.value?.id);
  if (shown.value.length === 0) {
    return (
      <p class="hint pad">
        No waiting card matches the filter.{" "}
        <button type="button" class="quiet" onClick={unfilter}>
          Clear the filter
        </button>
      </p>
    );
  }
  return (
    <VirtualList
      items={shown.value}
      rowRem={ROW_REM}
      label="Waiting"
      shown={index}
      id={(row) => row.key}
      row={(row) => (row.kind === "group" ? <GroupRow row={row} /> : <ItemRow item={row.item} isMember={row.isMember} />)}
    />
  );
}

/** How the list is ordered and what it is narrowed to. What has one value only is not offered. */
function Narrowing() {
  const choice = (name: string, value: Signal<string>, options: [string, string][]) =>
    options.length < 2 ? null : (
      <select aria-label={name} value={value.value} onChange={(event) => (value.value = event.currentTarget.value)}>
        {options.map(([word, label]) => (
          <option key={word} value={word}>
            {label}
          </option>
        ))}
      </select>
    );
  const any = (label: string, values: string[]): [string, string][] =>
    values.length === 0 ? [] : [["", label], ...values.map((value): [string, string] => [value, value])];
  const items = waiting.value;
  if (items.length < 2 && !isFiltered()) return null;
  return (
    <div class="narrowing">
      {choice("Order", order as Signal<string>, Object.entries(ORDERS))}
      {choice("Risk", filters.risk, [["", "Any risk"], ...Object.entries(RISKS).reverse()])}
      {choice("Agent", filters.agent, any("Any agent", differing(items, "agent")))}
      {choice("Session", filters.session, any("Any session", differing(items, "session")))}
    </div>
  );
}

function GroupRow({ row }: { row: Extract<Row, { kind: "group" }> }) {
  const [first] = row.members;
  if (first === undefined) return null;
  return (
    <button type="button" class={`row edge-${first.card.risk}`} aria-expanded={row.isOpen} onClick={() => toggle(row.key)}>
      <span class="row-top">
        <code>
          {row.members.length} × {short(common(row.members))} …
        </code>
      </span>
      <span class="row-meta">
        <RiskWord risk={first.card.risk} /> {asker(first)}
      </span>
      <span class="row-meta">
        {row.isOpen ? "Collapse" : "Expand"} · {first.description}
      </span>
    </button>
  );
}

function ItemRow({ item, isMember }: { item: Item; isMember: boolean }) {
  const isCurrentRow = current.value?.id === item.id;
  if (item.kind === "question") {
    return (
      <a class="row edge-question" href={addressOf(item)} aria-current={isCurrentRow ? "true" : undefined}>
        <span class="row-top">
          <span class="row-title">{item.question.question}</span>
          <Left until={item.question.expires_at} verb="" />
        </span>
        <span class="row-meta">
          <span class="risk risk-question">Question</span> of an agent
        </span>
        <span class="row-meta">session {item.question.session_id}</span>
      </a>
    );
  }
  const { approval } = item;
  const isSelected = selected.value.has(item.id);
  const isWaiting = approval.status === "waiting";
  const classes = ["row", `edge-${approval.card.risk}`, isMember ? "member" : "", isSelected ? "selected" : "", isWaiting ? "" : "settled"];
  return (
    <>
      <a class={classes.join(" ")} href={addressOf(item)} aria-current={isCurrentRow ? "true" : undefined}>
        <span class="row-top">
          <code>{short(gist(approval))}</code>
          {isWaiting ? <Left until={approval.expires_at} verb="" /> : <span class="left">{approval.status}</span>}
        </span>
        <span class="row-meta">
          <RiskWord risk={approval.card.risk} /> {asker(approval)}
        </span>
        <span class="row-meta">{approval.description}</span>
      </a>
      {mayAnswer.value && isWaiting ? (
        <label class="pick">
          <input type="checkbox" checked={isSelected} onChange={() => mark([approval])} />
          <span class="unseen">Select {approval.card.title}</span>
        </label>
      ) : null}
    </>
  );
}

/** A row has room for a line; the card has it all. A line break, which the gateway writes out, is a sign. */
const short = (text: string): string => text.slice(0, 400).replaceAll("⟨U+000A⟩", " ↵ ").slice(0, 200);

/** A command as it is; of another call its title and what it says, without what says nothing alone. */
function gist(approval: wire.Row): string {
  if (!approval.command.startsWith(`${approval.card.tool} {`)) return approval.command;
  const telling = approval.card.body
    .map((field) => field.text.replace(/\s+/g, " ").trim())
    .filter((text) => /\p{L}{2}/u.test(text) && !/^(true|false|null|none)$/i.test(text) && !approval.card.title.includes(text));
  return [approval.card.title, ...telling].join(" · ");
}

function Left({ until, verb }: { until: number; verb: string }) {
  const left = useComputed(() => span(until - now.value));
  return (
    <span class="left">
      {verb} {left}
    </span>
  );
}

function Detail({ onNext, isChosen }: { onNext: () => boolean; isChosen: boolean }) {
  const item = current.value;
  if (item === null) {
    if (!isChosen) return null;
    return link.value === "live" ? (
      <Empty icon="search" title="Card not found" isPart>
        <p>It may belong to another gateway, or its record was deleted.</p>
        <a class="button" href="#/">
          Go to the inbox
        </a>
      </Empty>
    ) : (
      <Loading />
    );
  }
  if (item.kind === "question") return <QuestionView key={item.id} question={item.question} hasKeys />;
  const card = approvals.value.get(item.id);
  if (card === undefined) return <Loading what="Loading the card" />;
  const isMore = waiting.value.some((it) => it.id !== item.id);
  return (
    <CardView
      key={item.id}
      approval={card}
      hasKeys
      onNext={isMore ? () => void onNext() : undefined}
      onAnswered={() => {
        if (!advances.value) return;
        setTimeout(() => {
          const it = current.value;
          // Whoever went elsewhere meanwhile, or can still take the answer back, stays there.
          if (it?.kind === "approval" && it.id === item.id && it.approval.status !== "waiting") onNext();
        }, ADVANCE_MS);
      }}
    />
  );
}

/** Several at once: anything can be denied together, only the harmless allowed. */
function Batch() {
  const chosen = useComputed(() =>
    [...selected.value]
      .map((id) => rows.value.get(id))
      .filter((it) => it?.status === "waiting" && it.held_until === null)
      .filter((it) => it !== undefined),
  );
  // Whether they may be allowed together is said by the full cards.
  useSignalEffect(() => need(...chosen.value.map((it) => it.approval_id)));
  const isBusy = useSignal(false);
  const { arming, armed, watch } = useArming(String(chosen.value.length));
  const count = chosen.value.length;
  if (count === 0) return <div ref={(element) => void (watch.current = element)} />;
  const mayAllow = chosen.value.every(({ approval_id: id }) => {
    const it = approvals.value.get(id);
    return it !== undefined && !isGrave(it.card.risk) && !it.assessment.crisis_sensitive && it.choices.includes("once") && !needsOpening(it);
  });
  const all = async (choice: "once" | "deny", event: Event): Promise<void> => {
    if (isBusy.value || !arming.admits(event) || (choice === "once" && (!mayAllow || !isCurrent.value))) return;
    isBusy.value = true;
    let failed = 0;
    for (const it of chosen.value) if ((await answer(it.approval_id, choice)) !== null) failed += 1;
    isBusy.value = false;
    selected.value = new Set();
    const done = `${many(count - failed, "card")} ${choice === "once" ? "allowed once" : "denied"}.`;
    say(failed === 0 ? done : `${done} ${many(failed, "card")} could not be answered.`);
  };
  return (
    <div class="batch" role="group" aria-label="Selected cards" ref={(element) => void (watch.current = element)}>
      <p>
        <strong>{count}</strong> selected
      </p>
      <button type="button" class="button" aria-disabled={!armed.value || isBusy.value} onClick={(event) => void all("deny", event)}>
        Deny {count}
      </button>
      <button
        type="button"
        class="button"
        aria-disabled={!armed.value || isBusy.value || !mayAllow || !isCurrent.value}
        title={mayAllow ? undefined : "Only low and medium risk can be allowed together."}
        onClick={(event) => void all("once", event)}
      >
        Allow {count} once
      </button>
      <button type="button" class="quiet" onClick={() => (selected.value = new Set())}>
        Clear
      </button>
      {mayAllow ? null : <p class="hint">Only low and medium risk can be allowed together.</p>}
    </div>
  );
}

