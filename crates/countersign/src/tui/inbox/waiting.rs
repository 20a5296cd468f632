//! The waiting tab: grouped by run, similar calls folded as the gateway says, the oldest first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use countersign_core::approval::Choice;
use countersign_core::display::{inline, shortened};
use countersign_core::status::{ClarificationStatus, Risk};
use countersign_core::time::UnixMillis;
use countersign_gate::clarifications::ClarificationView;
use countersign_gate::records::event::{ApprovalRequired, ClarifyRequired};
use countersign_gate::records::fold::FOLD_MIN;
use countersign_gate::records::view::ApprovalView;

use super::cursor::{Cursor, Stays};
use crate::words::{assessed, one_line};

/// Settled questions that are remembered, so that a list which was on its way cannot bring them back.
const SETTLED_MAX: usize = 1024;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Whether a call may run. It comes before what an agent would like to know.
    Approval,
    /// Something the agent would like to know.
    Question,
}

/// One thing that waits.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) run: String,
    /// Who asks, and from which directory.
    pub(super) asker: String,
    pub(super) directory: Option<String>,
    pub(super) tool: String,
    /// The call or the question on one line, in words where there are words for it.
    pub(super) what: String,
    /// The call on one line, for the filter.
    pub(super) command: String,
    /// How bad a mistake would be; `None` for a question.
    pub(super) risk: Option<Risk>,
    /// The gateway's key for folding; `None` if it has its own row, or is known by its event alone.
    pub(super) fold_key: Option<String>,
    pub(super) is_crisis: bool,
    pub(super) asked_at: UnixMillis,
    pub(super) expires_at: UnixMillis,
    /// Until when an answer is held back and can be taken back.
    pub(super) held_until: Option<UnixMillis>,
    pub(super) whole: Whole,
}

/// All that is known of one thing.
#[derive(Clone, Debug)]
pub(super) enum Whole {
    /// Only what an event told; the rest is asked for.
    Missing,
    /// The gateway sent an approval that this program cannot read. It can only be denied.
    Unreadable,
    /// The approval with its card.
    Approval(Box<ApprovalView>),
    /// The question.
    Question(Box<ClarificationView>),
}

impl Whole {
    /// Whether it is known by its event alone.
    pub(super) const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

impl Item {
    /// Returns what is listed of `approval`.
    pub(super) fn of_approval(approval: ApprovalView) -> Self {
        let command = shortened(&approval.command);
        let tool = inline(&approval.tool);
        // A shell command says best itself what it does; the JSON of other tools does not.
        let is_json = command
            .strip_prefix(&tool)
            .is_some_and(|rest| rest.starts_with(" {"));
        let lineage = |name: &str| {
            let mut fields = approval.card.lineage.iter();
            let field = fields.find(|field| field.name == name);
            field.map(|field| field.text.clone())
        };
        Self {
            id: approval.approval_id.clone(),
            kind: Kind::Approval,
            run: approval.run_id.clone(),
            asker: lineage("Agent")
                .or_else(|| lineage("Asked by"))
                .unwrap_or_default(),
            directory: lineage("Directory"),
            tool,
            what: if is_json {
                shortened(&approval.card.title)
            } else {
                one_line(&command)
            },
            command,
            risk: Some(approval.card.risk),
            fold_key: approval.fold_key.clone(),
            is_crisis: assessed(&approval.assessment).is_some_and(|it| it.crisis_sensitive),
            asked_at: UnixMillis::of_seconds(approval.created_at),
            expires_at: UnixMillis::of_seconds(approval.expires_at),
            held_until: approval.held_until.map(UnixMillis::of_seconds),
            whole: Whole::Approval(Box::new(approval)),
        }
    }

    /// Returns what is listed of a new approval until its card is there.
    pub(super) fn of_event(event: &ApprovalRequired) -> Self {
        Self {
            id: event.approval_id.clone(),
            kind: Kind::Approval,
            run: event.run_id.clone(),
            asker: event.agent.as_deref().map(inline).unwrap_or_default(),
            directory: None,
            tool: inline(&event.tool),
            what: shortened(&one_line(&event.command)),
            command: String::new(),
            risk: Some(event.risk),
            fold_key: None,
            is_crisis: false,
            asked_at: UnixMillis::of_seconds(event.timestamp),
            expires_at: UnixMillis::of_seconds(event.expires_at),
            held_until: None,
            whole: Whole::Missing,
        }
    }

    /// Returns what is listed of `question`.
    pub(super) fn of_question(question: ClarificationView) -> Self {
        Self {
            id: question.clarification_id.clone(),
            kind: Kind::Question,
            run: question.run_id.clone(),
            asker: String::new(),
            directory: None,
            tool: "clarify".to_owned(),
            what: shortened(&question.question.replace('\n', " ")),
            command: String::new(),
            risk: None,
            fold_key: None,
            is_crisis: false,
            asked_at: UnixMillis::of_seconds(question.created_at),
            expires_at: UnixMillis::of_seconds(question.expires_at),
            held_until: None,
            whole: Whole::Question(Box::new(question)),
        }
    }

    /// Returns what is listed of a question that an event tells of.
    pub(super) fn of_asked(event: &ClarifyRequired) -> Self {
        Self::of_question(ClarificationView {
            clarification_id: event.clarification_id.clone(),
            status: ClarificationStatus::Waiting,
            question: event.question.clone(),
            choices: event.choices.clone(),
            session_id: event.session_id.clone(),
            run_id: event.run_id.clone(),
            answer: None,
            created_at: event.timestamp,
            expires_at: event.expires_at,
        })
    }

    /// Whether it may be allowed together with others.
    pub(super) fn may_be_allowed_in_a_batch(&self) -> bool {
        let Whole::Approval(approval) = &self.whole else {
            return false;
        };
        approval.card.risk <= Risk::Medium
            && !self.is_crisis
            && approval.choices.contains(&Choice::Once)
    }

    fn matches(&self, words: &[String]) -> bool {
        let all = [
            self.what.as_str(),
            &self.command,
            &self.tool,
            self.risk.map_or("", Risk::word),
            &self.asker,
            &self.run,
            &self.id,
        ];
        let all = all.map(str::to_lowercase);
        words
            .iter()
            .all(|word| all.iter().any(|it| it.contains(word)))
    }
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A run, and how many of its questions follow.
    Heading { run: String, count: usize },
    /// Like things.
    Fold { members: Vec<String>, is_open: bool },
    /// One thing; one of several under a fold.
    One { id: String, is_inside: bool },
}

/// The waiting items.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    items: BTreeMap<String, Item>,
    /// When each run's first question came: the order of runs, which stays when it is answered.
    runs: BTreeMap<String, UnixMillis>,
    settled: VecDeque<String>,
    /// The keys of the folds that are open.
    opened: BTreeSet<String>,
    chosen: BTreeSet<String>,
    filter: Vec<String>,
    rows: Vec<Row>,
    names: Vec<Option<String>>,
    is_stale: bool,
    pub(super) cursor: Cursor,
}

impl Waiting {
    /// Returns how many wait, whether the filter shows them or not.
    pub(super) fn count(&self) -> usize {
        self.items.len()
    }

    /// Returns one thing.
    pub(super) fn get(&self, id: &str) -> Option<&Item> {
        self.items.get(id)
    }

    /// Returns who asks in `run`, if that is known.
    pub(super) fn asker(&self, run: &str) -> Option<&str> {
        let of_run = self.items.values().filter(|item| item.run == run);
        let mut askers = of_run.map(|item| item.asker.as_str());
        askers.find(|asker| !asker.is_empty())
    }

    /// Returns everything that waits.
    pub(super) fn all(&self) -> impl Iterator<Item = &Item> {
        self.items.values()
    }

    /// Takes a thing that waits, or what more is known of it. Returns whether it is new.
    pub(super) fn put(&mut self, item: Item) -> bool {
        if self.settled.contains(&item.id) {
            return false;
        }
        // What is known of it in full is not replaced by less.
        let known = self.items.get(&item.id);
        if item.whole.is_missing() && known.is_some() {
            return false;
        }
        let is_new = known.is_none();
        self.runs.entry(item.run.clone()).or_insert(item.asked_at);
        self.items.insert(item.id.clone(), item);
        self.is_stale = true;
        is_new
    }

    /// Notes that the gateway's answer about `id` cannot be read.
    pub(super) fn cannot_be_read(&mut self, id: &str) {
        if let Some(item) = self.items.get_mut(id) {
            item.whole = Whole::Unreadable;
        }
    }

    /// Takes away what is settled.
    pub(super) fn settle(&mut self, id: &str) -> Option<Item> {
        if self.settled.len() >= SETTLED_MAX {
            self.settled.pop_front();
        }
        self.settled.push_back(id.to_owned());
        self.remove(id)
    }

    /// Takes away what a list that was asked for anew no longer has.
    pub(super) fn retain(&mut self, kind: Kind, listed: &BTreeSet<String>) {
        let gone = self.items.values().filter(|item| {
            item.kind == kind && !item.whole.is_missing() && !listed.contains(&item.id)
        });
        let gone: Vec<String> = gone.map(|item| item.id.clone()).collect();
        for id in gone {
            self.remove(&id);
        }
    }

    fn remove(&mut self, id: &str) -> Option<Item> {
        let item = self.items.remove(id)?;
        self.chosen.remove(id);
        if !self.items.values().any(|other| other.run == item.run) {
            self.runs.remove(&item.run);
        }
        self.is_stale = true;
        Some(item)
    }

    /// Shows only what has all of these words.
    pub(super) fn filter(&mut self, text: &str) {
        self.filter = text.split_whitespace().map(str::to_lowercase).collect();
        self.is_stale = true;
    }

    /// Returns the rows as they are now.
    pub(super) fn rows(&mut self) -> &[Row] {
        self.refresh();
        &self.rows
    }

    /// Goes up or down.
    pub(super) fn go(&mut self, rows: isize) {
        self.refresh();
        self.cursor.go(rows, &self.names);
    }

    /// Returns the selected row.
    pub(super) fn selected(&mut self) -> Option<&Row> {
        self.refresh();
        self.rows.get(self.cursor.index())
    }

    /// Returns what the selected row stands for.
    pub(super) fn under_cursor(&mut self) -> Vec<String> {
        match self.selected() {
            Some(Row::Fold { members, .. }) => members.clone(),
            Some(Row::One { id, .. }) => vec![id.clone()],
            Some(Row::Heading { .. }) | None => Vec::new(),
        }
    }

    /// Opens or closes the fold under the cursor. Returns whether there is one.
    pub(super) fn toggle_fold(&mut self) -> bool {
        let Some(Row::Fold { members, .. }) = self.selected() else {
            return false;
        };
        let first = members.first().cloned().unwrap_or_default();
        let item = self.items.get(&first);
        if let Some(key) = item.and_then(|item| item.fold_key.clone()) {
            let is_open = !self.opened.remove(&key);
            if is_open {
                self.opened.insert(key);
            }
            self.is_stale = true;
            let name = if is_open { open_name(&first) } else { first };
            self.cursor.rename(&name);
            self.refresh();
        }
        true
    }

    /// Selects these for a batch, or no longer, if all of them are.
    pub(super) fn choose(&mut self, ids: &[String]) {
        let are_all = ids.iter().all(|id| self.chosen.contains(id));
        for id in ids {
            if are_all {
                self.chosen.remove(id);
            } else if self.items.contains_key(id) {
                self.chosen.insert(id.clone());
            }
        }
    }

    /// Selects the run under the cursor for a batch, as far as the filter shows it.
    pub(super) fn choose_run(&mut self) {
        let under = self.under_cursor();
        let run = under.first().and_then(|id| self.items.get(id));
        let Some(run) = run.map(|item| item.run.clone()) else {
            return;
        };
        let of_run = self.shown().filter(|item| item.run == run);
        let ids: Vec<String> = of_run.map(|item| item.id.clone()).collect();
        self.choose(&ids);
    }

    /// Selects nothing for a batch.
    pub(super) fn choose_none(&mut self) {
        self.chosen.clear();
    }

    /// Returns what is selected for a batch.
    pub(super) fn chosen(&self) -> &BTreeSet<String> {
        &self.chosen
    }

    fn shown(&self) -> impl Iterator<Item = &Item> {
        let is_shown = |item: &&Item| item.matches(&self.filter);
        self.items.values().filter(is_shown)
    }

    fn refresh(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let mut of_runs: BTreeMap<(UnixMillis, &str), Vec<&Item>> = BTreeMap::new();
        for item in self.shown() {
            let began = self.runs.get(&item.run).copied().unwrap_or(item.asked_at);
            of_runs.entry((began, &item.run)).or_default().push(item);
        }
        let mut rows = Vec::new();
        for ((_, run), mut items) in of_runs {
            items.sort_by_key(|item| (item.kind, item.asked_at, &item.id));
            let (run, count) = (run.to_owned(), items.len());
            rows.push(Row::Heading { run, count });
            self.fold(&items, &mut rows);
        }
        // Whoever is on a row that was folded away stays where it went.
        let here = self.cursor.name().map(str::to_owned);
        let around = rows.iter().find_map(|row| match row {
            Row::Fold { members, is_open } if !is_open => members
                .iter()
                .any(|it| Some(it) == here.as_ref())
                .then(|| members.first().cloned())
                .flatten(),
            Row::Fold { .. } | Row::Heading { .. } | Row::One { .. } => None,
        });
        if let Some(around) = around {
            self.cursor.rename(&around);
        }
        self.names = rows.iter().map(name).collect();
        self.rows = rows;
        self.cursor.take_over(&self.names, Stays::InPlace);
    }

    /// Appends `items`, like ones folded where the first of them stands.
    fn fold(&self, items: &[&Item], rows: &mut Vec<Row>) {
        let mut folds: BTreeMap<&String, Vec<String>> = BTreeMap::new();
        for item in items {
            if let Some(key) = &item.fold_key {
                folds.entry(key).or_default().push(item.id.clone());
            }
        }
        for item in items {
            let key = item.fold_key.as_ref();
            let folded = key.and_then(|key| folds.get_key_value(key));
            let Some((key, members)) = folded.filter(|(_, it)| it.len() >= FOLD_MIN) else {
                let (id, is_inside) = (item.id.clone(), false);
                rows.push(Row::One { id, is_inside });
                continue;
            };
            if members.first() != Some(&item.id) {
                continue;
            }
            let (members, is_open) = (members.clone(), self.opened.contains(*key));
            let inside = members.clone();
            rows.push(Row::Fold { members, is_open });
            if is_open {
                rows.extend(inside.into_iter().map(|id| Row::One {
                    id,
                    is_inside: true,
                }));
            }
        }
    }
}

/// Returns by what a row is known when the list changes. A closed fold goes by its first member, so
/// that the first of several like ones does not lose its name when the others come.
fn name(row: &Row) -> Option<String> {
    match row {
        Row::Heading { .. } => None,
        Row::Fold { members, is_open } => {
            let first = members.first()?;
            Some(if *is_open {
                open_name(first)
            } else {
                first.clone()
            })
        }
        Row::One { id, .. } => Some(id.clone()),
    }
}

/// An open fold and its first member are two rows.
fn open_name(first: &str) -> String {
    format!("fold {first}")
}

/// Returns what is common to these lines, cut behind its last whole part; empty if that is little.
pub(super) fn common<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut lines = lines.into_iter();
    let Some(first) = lines.next() else {
        return String::new();
    };
    let mut common = first;
    for line in lines {
        let same = common.char_indices().zip(line.chars());
        let end = same
            .take_while(|((_, one), other)| one == other)
            .map(|((at, letter), _)| at + letter.len_utf8())
            .last()
            .unwrap_or(0);
        common = common.get(..end).unwrap_or_default();
    }
    if common.len() == first.len() {
        return first.to_owned();
    }
    let end = common.rfind(['/', ' ']).map_or(0, |at| at + 1);
    common.get(..end).unwrap_or_default().to_owned()
}
