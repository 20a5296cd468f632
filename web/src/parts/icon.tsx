// Line icons. They always have a text beside them.

const PATHS = {
  inbox: "M4 13h4l1.5 3h5L16 13h4M4 13l2.5-8h11L20 13v6H4z",
  talk: "M5 5h14v11h-7l-4 4v-4H5z",
  history: "M12 7v5l3.5 2M4.5 12a7.5 7.5 0 1 0 2.4-5.5M4.5 4.5v4h4",
  insights: "M5 19V11M12 19V5M19 19v-6",
  reviews: "M3 12s3.5-6 9-6 9 6 9 6-3.5 6-9 6-9-6-9-6zM12 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  grants: "M8 20a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM10.8 13.2L19 5M16 8l2.5 2.5M13.4 10.6l1.8 1.8",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-3.5 2.5-6 6-6s6 2.5 6 6M16 4.5a3.2 3.2 0 0 1 0 6M17.5 14.5c2.2.6 3.5 2.6 3.5 5.5",
  rules: "M12 4v16M7 20h10M5 8l7-2 7 2M5 8l-2.5 5.5h5zM19 8l-2.5 5.5h5z",
  ledger: "M7 4h10v16H7zM10 8h4M10 12h4M10 16h4",
  more: "M4.5 7h15M4.5 12h15M4.5 17h15",
  clock: "M12 7.5V12l3 2M12 19.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15z",
  check: "M5 12.5l4.5 4.5L19 7",
  cross: "M6 6l12 12M18 6L6 18",
  back: "M14 6l-6 6 6 6",
  copy: "M9 9h10v10H9zM5 15V5h10",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 7m-2 0a2 2 0 1 0 4 0 2 2 0 1 0-4 0M8 17m-2 0a2 2 0 1 0 4 0 2 2 0 1 0-4 0",
  stop: "M7 7h10v10H7z",
  plus: "M12 5v14M5 12h14",
  question: "M9 9.5a3 3 0 1 1 4.3 2.7c-.9.5-1.3 1.1-1.3 2.3M12 18v.01",
  search: "M11 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM15.5 15.5L20 20",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark of the project. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="9" />
      <path d="M8.5 16.8l5 5L23.5 10.6" />
    </svg>
  );
}
