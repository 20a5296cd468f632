//! Searches past calls: by person, outcome, or text of the command.
//!
//! Searched are the newest [`CALLS_MAX`](crate::history::recent_calls::CALLS_MAX) calls; a page costs one pass
//! over them in memory and as many reads as it has rows.

use countersign_core::status::Status;
use countersign_store::Kind;

use crate::GateError;
use crate::base::principal::Principal;
use crate::history::History;
use crate::history::recent_calls::{Chronicle, Line};
use crate::history::traces::{TraceFilter, TraceView};
use crate::records::error::invalid;
use crate::records::stored::{StoredCall, read};
use crate::records::view::Page;

/// Longest text that is looked for, in bytes.
const TEXT_BYTES_MAX: usize = 200;
/// What stands before the place where a page of found calls ended.
const PLACE: char = 's';

/// Additional filters. An unset filter matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Where the call stands.
    pub outcome: Option<Status>,
    /// The person who decided.
    pub by: Option<String>,
    /// The tool, or the beginning of its name with `*` behind it.
    pub tool: Option<String>,
    /// Words that the command, the reason or the names of agent and tool contain, small or capital.
    pub text: Option<String>,
    /// Before this moment, in milliseconds.
    pub until: Option<i64>,
}

/// What a line is held against.
struct Wanted {
    owner: Option<String>,
    filter: TraceFilter,
    search: Search,
    words: Vec<String>,
    behind: Option<u64>,
}

impl History {
    /// Returns the calls that `filter` and its search ask for, the newest first.
    pub(crate) async fn search(
        &self,
        who: &Principal,
        mut filter: TraceFilter,
        limit: u32,
    ) -> Result<Page<TraceView>, GateError> {
        let search = filter.search.take().unwrap_or_default();
        let text = search.text.as_deref().unwrap_or_default();
        if text.len() > TEXT_BYTES_MAX {
            let message = "the search text is longer than 200 bytes";
            return Err(invalid("q", "too_long", message));
        }
        let behind = filter.behind.as_deref().map(place).transpose()?;
        let words = text.to_lowercase();
        let wanted = Wanted {
            owner: (!who.role.sees_all()).then(|| who.key.0.clone()),
            words: words.split_whitespace().map(str::to_owned).collect(),
            filter,
            search,
            behind,
        };
        let most = limit as usize;
        let found = self
            .looked_through(move |chronicle| {
                let found = chronicle.newest().filter(|line| wanted.is(chronicle, line));
                let found = found.map(|line| (line.seq, line.call_id.clone()));
                found.take(most + 1).collect::<Vec<_>>()
            })
            .await?;
        let mut items = Vec::new();
        for (_, id) in found.iter().take(most) {
            if let Some(record) = self.base.store.get(Kind::Call, id).await? {
                let call: StoredCall = read(&record)?;
                items.push(self.trace_view(who, call).await?);
            }
        }
        let last = found.get(most.saturating_sub(1));
        let more = last.filter(|_| found.len() > most);
        Ok(Page {
            items,
            next: more.map(|(seq, _)| format!("{PLACE}{seq}")),
        })
    }
}

impl Wanted {
    fn is(&self, chronicle: &Chronicle, line: &Line) -> bool {
        let same = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|it| it == is);
        let by = || {
            let question = chronicle.question_of(line);
            question
                .and_then(|it| it.answer.as_ref())
                .map_or("", |it| &*it.by)
        };
        self.behind.is_none_or(|seq| line.seq < seq)
            && self.filter.since.is_none_or(|since| line.at >= since)
            && self.search.until.is_none_or(|until| line.at < until)
            && same(&self.owner, &line.owner)
            && same(&self.filter.run, &line.run)
            && same(&self.filter.session, &line.session)
            && same(&self.filter.verdict, line.verdict.word())
            && self
                .search
                .outcome
                .is_none_or(|it| it == chronicle.status_of(line))
            && (self.search.by.is_none() || same(&self.search.by, by()))
            && self
                .search
                .tool
                .as_ref()
                .is_none_or(|tool| names(tool, &line.tool))
            && self.says(line)
    }

    /// Whether every word is in what is shown of the call.
    fn says(&self, line: &Line) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let shown = [&*line.command, &*line.reason, &*line.agent, &*line.tool];
        let shown = shown.map(str::to_lowercase);
        let is_shown = |word: &String| shown.iter().any(|text| text.contains(word.as_str()));
        self.words.iter().all(is_shown)
    }
}

fn names(wanted: &str, tool: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => tool == wanted,
    }
}

fn place(text: &str) -> Result<u64, GateError> {
    let number = text.strip_prefix(PLACE).and_then(|it| it.parse().ok());
    let message = "`behind` is the `next` of a page of the same search";
    number.ok_or_else(|| invalid("behind", "invalid_cursor", message))
}
