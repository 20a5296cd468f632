//! Evaluates a batch of changes: which of them apply, and what is written.
//!
//! Both databases let only one batch at a time look and write, so looking first is safe, and what
//! a change means is decided here once and not in two dialects of SQL. The statements that write
//! name the version that was seen all the same, and a batch that misses one is given up.

use std::collections::HashMap;
use std::sync::Arc;

use countersign_core::digest::Digest;
use countersign_core::ledger::{Draft, Entry};

use crate::queue::{Job, Outcome};
use crate::{Expect, Kind, Record, StoreError};

/// What a record is found by.
pub(crate) type Key<'a> = (Kind, &'a str);

/// What is written.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    /// Records, each once.
    pub(crate) rows: Vec<Row<'a>>,
    /// What becomes of each job, in order, if the batch is written.
    pub(crate) outcomes: Vec<Outcome>,
    /// The last entry's number and hash.
    pub(crate) end: (u64, Digest),
}

/// A record that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) record: &'a Record,
    /// The version that is there, or 0.
    pub(crate) was: u64,
    /// The version that will be there.
    pub(crate) version: u64,
    /// Whether whoever sent it went on without waiting.
    pub(crate) is_appended: bool,
}

impl<'a> Batch<'a> {
    /// Returns the records that must be looked at.
    pub(crate) fn keys(jobs: &'a [Job]) -> impl Iterator<Item = Key<'a>> {
        let puts = jobs.iter().flat_map(|job| &job.change.puts);
        puts.map(|put| (put.record.kind, put.record.id.as_str()))
    }

    /// Works out what `jobs` come to where these versions of the records are there and `end` is
    /// the last entry.
    pub(crate) fn of(
        jobs: &'a [Job],
        versions: &HashMap<Key<'a>, u64>,
        end: (u64, Digest),
    ) -> Self {
        let mut batch = Self {
            rows: Vec::with_capacity(jobs.len()),
            outcomes: Vec::with_capacity(jobs.len()),
            end,
        };
        let mut places: HashMap<Key<'a>, usize> = HashMap::with_capacity(jobs.len());
        for job in jobs {
            let outcome = batch.add(job, versions, &mut places);
            batch.outcomes.push(outcome);
        }
        batch
    }

    /// Returns the entries that are written, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.outcomes.iter().flatten().flatten().map(Arc::as_ref)
    }

    /// Returns the entries that are written, in order: those of appended changes that follow each
    /// other together, and those of commits.
    pub(crate) fn runs(&self, jobs: &[Job]) -> Vec<(bool, Vec<&Entry>)> {
        let mut runs: Vec<(bool, Vec<&Entry>)> = Vec::new();
        for (job, entries) in jobs.iter().zip(&self.outcomes) {
            let entries = entries.iter().flatten().map(Arc::as_ref);
            match runs.last_mut() {
                Some((is_appended, run)) if *is_appended == job.is_appended() => {
                    run.extend(entries);
                }
                Some(_) | None => runs.push((job.is_appended(), entries.collect())),
            }
        }
        runs
    }

    fn add(
        &mut self,
        job: &'a Job,
        versions: &HashMap<Key<'a>, u64>,
        places: &mut HashMap<Key<'a>, usize>,
    ) -> Outcome {
        let mut staged: Vec<(Key<'a>, Row<'a>)> = Vec::with_capacity(job.change.puts.len());
        for put in &job.change.puts {
            let record = &put.record;
            let key = (record.kind, record.id.as_str());
            let before = staged
                .iter()
                .rev()
                .find(|(staged, _)| *staged == key)
                .map(|(_, row)| row)
                .or_else(|| self.rows.get(*places.get(&key)?));
            let was = versions.get(&key).copied().unwrap_or(0);
            let (was, now) = before.map_or((was, was), |row| (row.was, row.version));
            let as_expected = match put.expect {
                Expect::Absent => now == 0,
                Expect::Version(version) => now == version && version > 0,
                Expect::Anything => true,
            };
            if !as_expected {
                return Err(StoreError::Conflict {
                    kind: record.kind,
                    id: record.id.clone(),
                });
            }
            let version = now + 1;
            staged.push((
                key,
                Row {
                    record,
                    was,
                    version,
                    is_appended: job.is_appended(),
                },
            ));
        }
        for (key, row) in staged {
            if let Some(there) = places.get(&key).and_then(|place| self.rows.get_mut(*place)) {
                *there = row;
            } else {
                places.insert(key, self.rows.len());
                self.rows.push(row);
            }
        }
        let seal = |draft: &Draft| {
            let (seq, previous) = self.end;
            let entry = Entry::seal(draft.clone(), seq + 1, previous);
            self.end = (entry.seq, entry.hash);
            Arc::new(entry)
        };
        Ok(job.change.entries.iter().map(seal).collect())
    }
}
