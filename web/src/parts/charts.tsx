// SVG bar charts with text labels. Each has a table, so no value depends on colour or length alone.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export interface Series {
  /** Which tone it has: `allow`, `ask`, … */
  tone: string;
  label: string;
}

export interface Column {
  /** When it begins, short, for the axis. */
  short: string;
  /** The same in full, for the readout and the table. */
  full: string;
  /** One number for each series. */
  counts: number[];
}

const STEP = 10;
const HEIGHT = 100;
/** Ends of the axis: the first that is not below the highest column. */
const ENDS = [1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10];
/** Words under the axis, at most. */
const TICKS_MAX = 8;

/** Returns a round number that is not below `highest`. */
export function roundEnd(highest: number): number {
  if (highest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  const end = ENDS.find((end) => end * power >= highest && Number.isInteger(Math.round(end * power * 10) / 10)) ?? 10;
  return Math.round(end * power);
}

const sum = (counts: number[]): number => counts.reduce((all, count) => all + count, 0);

/** Columns of stacked parts over time. */
export function Columns({ series, columns, label }: { series: Series[]; columns: Column[]; label: string }) {
  const pointed = useSignal<number | null>(null);
  const end = roundEnd(Math.max(0, ...columns.map((column) => sum(column.counts))));
  const width = columns.length * STEP;
  const told = pointed.value === null ? undefined : columns[pointed.value];
  const ticks = ticksOf(columns);
  return (
    <figure class="chart">
      <figcaption class="unseen">{label}</figcaption>
      <ul class="legend">
        {series.map((it) => (
          <li key={it.tone}>
            <span class={`swatch tone-${it.tone}`} aria-hidden="true" />
            {it.label}
          </li>
        ))}
      </ul>
      <div class="plot" aria-hidden="true" onPointerLeave={() => (pointed.value = null)}>
        <span class="axis-end">{end.toLocaleString()}</span>
        <span class="axis-half">{end % 2 === 0 ? (end / 2).toLocaleString() : ""}</span>
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" focusable="false">
          {columns.map((column, index) => (
            <g key={index} onPointerEnter={() => (pointed.value = index)}>
              <rect class={pointed.value === index ? "hit pointed" : "hit"} x={index * STEP} y={0} width={STEP} height={HEIGHT} />
              {stacked(column.counts, end).map((part, place) => (
                <rect
                  key={place}
                  class={`tone-${series[place]?.tone ?? ""}`}
                  x={index * STEP + STEP * 0.12}
                  y={part.y}
                  width={STEP * 0.76}
                  height={part.height}
                />
              ))}
            </g>
          ))}
        </svg>
      </div>
      <div class="axis" aria-hidden="true">
        {ticks.map((index) => (
          <span key={index} style={{ left: `${(index / columns.length) * 100}%` }}>
            {columns[index]?.short}
          </span>
        ))}
      </div>
      <p class="readout" aria-hidden="true">
        {told === undefined ? "Point at a column to read it." : `${told.full}: ${words(series, told.counts)}`}
      </p>
      <Numbers label={label} head={["When", ...series.map((it) => it.label)]}>
        {columns.filter((column) => sum(column.counts) > 0).map((column) => (
          <tr key={column.full}>
            <th scope="row">{column.full}</th>
            {column.counts.map((count, place) => (
              <td key={place}>{count.toLocaleString()}</td>
            ))}
          </tr>
        ))}
      </Numbers>
    </figure>
  );
}

/** Returns which columns have a word under them: those at which the word changes, but not too many. */
function ticksOf(columns: Column[]): number[] {
  const changes = columns.flatMap((column, index) => (column.short === columns[index - 1]?.short ? [] : [index]));
  const every = Math.max(1, Math.ceil(changes.length / TICKS_MAX));
  const room = columns.length * 0.06;
  const chosen = changes.filter((index, place) => place % every === 0 && index / columns.length < 0.88);
  return chosen.filter((index, place) => (chosen[place + 1] ?? Infinity) - index > room);
}

function stacked(counts: number[], end: number): { y: number; height: number }[] {
  let top = HEIGHT;
  return counts.map((count) => {
    const height = (count / end) * HEIGHT;
    top -= height;
    return { y: top, height };
  });
}

function words(series: Series[], counts: number[]): string {
  const said = series.map((it, place) => `${(counts[place] ?? 0).toLocaleString()} ${it.label.toLowerCase()}`);
  return said.filter((_, place) => (counts[place] ?? 0) > 0).join(", ") || "nothing";
}

export interface Bar {
  name: string;
  /** What stands under the name. */
  detail?: string;
  counts: number[];
  /** What stands at the end. */
  said: string;
}

/** Rows of bars, each with its name and what it says. */
export function Bars({ series, bars, label }: { series: Series[]; bars: Bar[]; label: string }) {
  const end = Math.max(1, ...bars.map((bar) => sum(bar.counts)));
  return (
    <div class="chart">
      {series.length < 2 ? null : (
        <ul class="legend">
          {series.map((it) => (
            <li key={it.tone}>
              <span class={`swatch tone-${it.tone}`} aria-hidden="true" />
              {it.label}
            </li>
          ))}
        </ul>
      )}
      <ul class="bars" aria-label={label}>
        {bars.map((bar) => (
          <li key={bar.name}>
            <span class="bar-name">{bar.name}</span>
            <span class="bar-said">{bar.said}</span>
            {bar.detail === undefined ? null : <span class="bar-detail">{bar.detail}</span>}
            <svg class="bar-line" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
              <rect class="bar-rest" x={0} y={0} width={100} height={4} />
              {bar.counts.map((count, place) => (
                <rect
                  key={place}
                  class={`tone-${series[place]?.tone ?? ""}`}
                  x={(sum(bar.counts.slice(0, place)) / end) * 100}
                  y={0}
                  width={(count / end) * 100}
                  height={4}
                />
              ))}
            </svg>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The numbers of a chart, for whoever would rather read them. */
function Numbers({ label, head, children }: { label: string; head: string[]; children: ComponentChildren }) {
  return (
    <details class="numbers">
      <summary>Show as a table</summary>
      <div class="table-box" tabIndex={0} role="region" aria-label={`${label}, as a table`}>
        <table>
          <thead>
            <tr>
              {head.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </details>
  );
}
