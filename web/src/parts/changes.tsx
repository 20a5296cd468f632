// How a waiting call would change files, compared with what they hold now. The gateway reads them for
// approvers; the arguments as sent stand below, complete.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { get, segment } from "../api";
import { moment } from "../clock";
import { compare } from "../diff";
import { mayAnswer } from "../live";
import { languageOf } from "../syntax";
import type { Approval } from "../wire";
import type { FileChange, FileChanges as Read } from "../wire.gen";
import { Difference } from "./difference";

/** How often the files are looked at again while the card is in view. */
const AGAIN_MS = 5000;

/** Whether a call may be one of a file tool; the gateway knows. */
const mayChangeFiles = (approval: Approval): boolean => !approval.card.body.some((field) => field.name === "Command");

export function FileChanges({ approval }: { approval: Approval }) {
  const read = useSignal<Read | null>(null);
  const changedAt = useSignal<number | null>(null);
  const isAsked = mayAnswer.value && approval.status === "waiting" && mayChangeFiles(approval);
  useEffect(() => {
    read.value = null;
    changedAt.value = null;
    if (!isAsked) return undefined;
    const look = async (): Promise<void> => {
      if (document.visibilityState !== "visible") return;
      // Without a comparison the card is complete all the same.
      const found = await get<Read>(`/v1/approvals/${segment(approval.approval_id)}/changes`).catch(() => null);
      if (found === null) return;
      if (read.value !== null && !isSame(read.value, found)) changedAt.value = found.read_at;
      read.value = found;
      // No file now is none later: which files may be compared is known from the call.
      if (found.files.length === 0) clearInterval(timer);
    };
    const timer = window.setInterval(() => void look(), AGAIN_MS);
    void look();
    return () => clearInterval(timer);
  }, [approval.approval_id, isAsked]);
  if (read.value === null || read.value.files.length === 0) return null;
  return (
    <>
      {changedAt.value === null ? null : (
        <p class="problem" role="status">
          A file changed at {moment(changedAt.value)}, while this card was open. The difference below is the new one.
        </p>
      )}
      {read.value.files.map((file) => (
        <OneFile key={file.path} file={file} />
      ))}
    </>
  );
}

const isSame = (one: Read, other: Read): boolean => JSON.stringify(one.files) === JSON.stringify(other.files);

function OneFile({ file }: { file: FileChange }) {
  const name = `Change to ${file.path}`;
  const after = file.after ?? null;
  if (after === null) {
    return (
      <section class="long">
        <h3>{name}</h3>
        <p class="hint">Not compared with the file on disk: {file.why ?? "it cannot be read"}.</p>
      </section>
    );
  }
  const before = file.before ?? null;
  if (before === after) {
    return (
      <section class="long">
        <h3>{name}</h3>
        <p class="hint">The file already holds exactly this text.</p>
      </section>
    );
  }
  const lines = before === null ? after.split("\n").map((text, index) => ({ kind: "new" as const, text, fresh: index + 1 })) : compare(before, after);
  return (
    <Difference name={name} lines={lines} of={languageOf(file.path)} folds>
      <p class="hint">{before === null ? "A new file." : "Compared with the file as it is now."}</p>
    </Difference>
  );
}
