// When lists are read again, step by step, without a browser or a gateway.

import { expect, test } from "@playwright/test";

import {
  approvalsChanged,
  catchUpEnded,
  catchUpStarted,
  claimed,
  isDue,
  questionsChanged,
  released,
  START,
  taken,
} from "../src/sync";

const stream = (): AbortSignal => new AbortController().signal;

test("a change is due until it is taken", () => {
  expect(isDue(START, "approvals")).toBe(false);
  const changed = approvalsChanged(START, ["appr_1"]);
  expect(isDue(changed, "approvals")).toBe(true);
  expect(isDue(changed, "questions")).toBe(false);
  expect(isDue(taken(changed, "approvals"), "approvals")).toBe(false);
});

test("a list is read by one reader at a time, and changes during the read are due afterwards", () => {
  const reading = taken(claimed(approvalsChanged(START, ["appr_1"]), "approvals"), "approvals");
  const changed = approvalsChanged(reading, ["appr_2"]);
  expect(isDue(changed, "approvals")).toBe(false);
  const done = released(changed, "approvals");
  expect(isDue(done, "approvals")).toBe(true);
  expect([...done.changes.approvals]).toEqual(["appr_2"]);
});

test("one list does not hold up the other", () => {
  const changed = questionsChanged(claimed(approvalsChanged(START, ["appr_1"]), "approvals"));
  expect(isDue(changed, "questions")).toBe(true);
});

test("nothing is read beside catching up, and nothing that changed meanwhile is lost", () => {
  const opened = stream();
  const behind = questionsChanged(approvalsChanged(catchUpStarted(START, opened), ["appr_1"]));
  expect(isDue(behind, "approvals")).toBe(false);
  expect(isDue(behind, "questions")).toBe(false);
  const following = catchUpEnded(behind, opened);
  expect(isDue(following, "approvals")).toBe(true);
  expect(isDue(following, "questions")).toBe(true);
});

test("the end of an older stream does not end catching up for a newer one", () => {
  const [older, newer] = [stream(), stream()];
  const again = catchUpStarted(catchUpStarted(START, older), newer);
  expect(catchUpEnded(again, older).kind).toBe("catching_up");
  expect(catchUpEnded(again, newer).kind).toBe("following");
});

test("changes that could not be read are due again", () => {
  const read = taken(claimed(approvalsChanged(START, ["appr_1"]), "approvals"), "approvals");
  const failed = released(approvalsChanged(read, ["appr_1"]), "approvals");
  expect(isDue(failed, "approvals")).toBe(true);
});
