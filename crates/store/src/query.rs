//! Queries on records.

use crate::Kind;

/// The sort order by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The oldest.
    #[default]
    OldestFirst,
    /// The newest.
    NewestFirst,
}

/// A question about records: everything that is set must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// What kind.
    pub kind: Kind,
    /// Exactly this status.
    pub status: Option<String>,
    /// Of this key.
    pub owner: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// Of this run.
    pub run: Option<String>,
    /// Found by this.
    pub link: Option<String>,
    /// Made at or after this moment.
    pub since: Option<i64>,
    /// Due at or before this moment.
    pub due_by: Option<i64>,
    /// Behind this record, in the order asked for: its `at` and id.
    pub behind: Option<(i64, String)>,
    /// Which end first; equal times are ordered by id.
    pub order: Order,
    /// At most so many.
    pub limit: u32,
}

impl Query {
    /// Asks for all records of `kind`, the oldest first, a thousand at most.
    pub const fn of(kind: Kind) -> Self {
        Self {
            kind,
            status: None,
            owner: None,
            session: None,
            run: None,
            link: None,
            since: None,
            due_by: None,
            behind: None,
            order: Order::OldestFirst,
            limit: 1000,
        }
    }
}

/// The columns of a record, in the order they are read; kind and id are the first two.
pub(crate) const COLUMNS: &str =
    "kind, id, version, status, owner, session, run, link, at, due_at, body";

/// The columns of an entry, in the order they are read.
pub(crate) const ENTRY_COLUMNS: &str =
    "seq, at, event, owner, run, session, subject, body, previous, hash";

/// A value that is compared with a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
}

/// A query in the words of SQL, with the values of its parameters `$1`, `$2` … in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

impl Query {
    /// Returns the statement that reads the records.
    pub(crate) fn reading(&self) -> Statement {
        let mut statement = self.conditions(&format!("SELECT {COLUMNS} FROM records"));
        statement.sql.push_str(match self.order {
            Order::OldestFirst => " ORDER BY at ASC, id ASC",
            Order::NewestFirst => " ORDER BY at DESC, id DESC",
        });
        statement.add(" LIMIT ", Value::Number(i64::from(self.limit)));
        statement
    }

    /// Returns the statement that counts the records.
    pub(crate) fn counting(&self) -> Statement {
        self.conditions("SELECT count(*) FROM records")
    }

    fn conditions(&self, select: &str) -> Statement {
        let mut statement = Statement {
            sql: select.to_owned(),
            values: Vec::new(),
        };
        statement.add(" WHERE kind = ", Value::Text(self.kind.word().to_owned()));
        let texts = [
            ("link", &self.link),
            ("run", &self.run),
            ("session", &self.session),
            ("status", &self.status),
            ("owner", &self.owner),
        ];
        for (column, value) in texts {
            let Some(value) = value else { continue };
            statement.add(&format!(" AND {column} = "), Value::Text(value.clone()));
        }
        if let Some(column) = self.narrowest() {
            // The indexes of these columns leave out what is empty. Saying so for one column
            // alone keeps the planner, which may know nothing of the values, from another.
            statement.sql.push_str(" AND ");
            statement.sql.push_str(column);
            statement.sql.push_str(" <> ''");
        }
        if let Some(since) = self.since {
            statement.add(" AND at >= ", Value::Number(since));
        }
        if let Some(due_by) = self.due_by {
            statement.add(" AND due_at <= ", Value::Number(due_by));
        }
        if let Some((at, id)) = &self.behind {
            let (of_time, of_pair) = match self.order {
                Order::OldestFirst => (" AND at >= ", " AND (at, id) > ("),
                Order::NewestFirst => (" AND at <= ", " AND (at, id) < ("),
            };
            // The pair alone would do; the time alone is what an index can begin with.
            statement.add(of_time, Value::Number(*at));
            statement.add(of_pair, Value::Number(*at));
            statement.add(", ", Value::Text(id.clone()));
            statement.sql.push(')');
        }
        statement
    }
}

impl Query {
    /// Returns the column by whose index the fewest records are read: few share a link, many an
    /// owner. What is due has an index of its own, which beats the last two.
    fn narrowest(&self) -> Option<&'static str> {
        let columns = [
            ("link", &self.link, true),
            ("run", &self.run, true),
            ("session", &self.session, true),
            ("status", &self.status, self.due_by.is_none()),
            ("owner", &self.owner, self.due_by.is_none()),
        ];
        columns
            .into_iter()
            .find(|(_, value, helps)| *helps && value.as_ref().is_some_and(|it| !it.is_empty()))
            .map(|(column, _, _)| column)
    }
}

impl Statement {
    fn add(&mut self, sql: &str, value: Value) {
        self.values.push(value);
        self.sql.push_str(sql);
        self.sql.push('$');
        self.sql.push_str(&self.values.len().to_string());
    }
}
