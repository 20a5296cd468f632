//! Slash commands in chats.

use std::fmt::Write as _;

use countersign_agent::RunRequest;
use countersign_agent::message::Message;
use countersign_channels::chat::{NEVER_TAPPED, Typed};
use countersign_channels::press::{Click, Press, Proof, READ_AGAIN, Untrusted};
use countersign_channels::text::{code, fenced, quiet};
use countersign_core::approval::Choice;
use countersign_core::command::{Command, CommandError, TABLE};
use countersign_core::display::{inline, shortened};
use countersign_core::status::Status;
use countersign_core::time::UnixMillis;
use countersign_gate::GateError;
use countersign_gate::approvals::answer::ApprovalFilter;
use countersign_gate::base::principal::Principal;
use countersign_gate::chats::click::Refusal;
use countersign_gate::records::view::ApprovalView;
use countersign_gate::runs::{BUILTIN, builtin};
use countersign_gate::sessions::OverrideRequest;

use super::Desk;
use super::times::Times;

/// Longest card that is shown as the answer to a command, in characters.
pub(super) const SHOWN_CHARS_MAX: usize = 12_000;
/// The reply if no call is waiting. Questions of agents have their own cards.
const NOTHING: &str = "No call is waiting for you.";
/// Most lines of a list.
const LINES_MAX: usize = 20;

/// The question that an answer without an id is for.
pub(super) enum Meant {
    One(String),
    /// None, or several; said in these words.
    Unclear(String),
}

impl Desk {
    /// Does what was typed and returns the reply to the person.
    pub(crate) async fn typed(&self, typed: &Typed) -> String {
        let ticket = typed.ticket.as_deref();
        let may_be_read_again = ticket.is_some_and(|it| it.starts_with(READ_AGAIN));
        match self.typed_checked(typed).await {
            Ok(words) => words,
            // Nobody typed it again.
            Err(Refusal::Untrusted(Untrusted::Replayed)) if may_be_read_again => String::new(),
            Err(refusal) => {
                // What would have answered is in the ledger, as a refused click is.
                if let Ok(
                    Command::Approve { id, .. }
                    | Command::ApproveEdited { id }
                    | Command::Deny { id, .. },
                ) = Command::of(&typed.name, &typed.rest)
                {
                    let click = self.click(typed, id.unwrap_or_default(), Press::View, None);
                    self.gate.note_refusal(&click, &refusal).await;
                }
                refusal.words()
            }
        }
    }

    async fn typed_checked(&self, typed: &Typed) -> Result<String, Refusal> {
        typed.transport.map_err(Refusal::Untrusted)?;
        if let Some(ticket) = &typed.ticket {
            self.gate.use_ticket(self.chat.name(), ticket).await?;
        }
        let is_whoami = Command::of(&typed.name, &typed.rest) == Ok(Command::Whoami);
        let who = match self.person(&typed.clicker).await {
            Err(Refusal::Stranger) if is_whoami => return Ok(self.stranger(typed)),
            who => who?,
        };
        let mut command = match Command::of(&typed.name, &typed.rest) {
            Ok(command) => command,
            Err(error) => return Ok(self.misread(&error)),
        };
        let is_bare = typed.rest.trim().is_empty() && !typed.is_reply;
        if is_bare && self.chat.taps_send() && NEVER_TAPPED.contains(&typed.name.as_str()) {
            return self.tapped(typed, &who, &command).await;
        }
        if let Some(id) = command.id_mut() {
            *id = self.gate.whole_id(&who, id).await.map_err(failed)?;
        }
        match command {
            Command::Approve { id, choice } => {
                let press = Press::Choose(choice);
                self.answer(typed, &who, id, press, None).await
            }
            Command::Deny { id, note } => {
                let press = Press::Choose(Choice::Deny);
                self.answer(typed, &who, id, press, note).await
            }
            Command::ApproveEdited { id } => self.approve_edited(typed, &who, id).await,
            Command::Edit { id, text } => self.edit(typed, &who, id, text).await,
            Command::Before { id } => self.before(typed, &who, id).await,
            Command::Extend { id } => self.extend(typed, &who, id).await,
            Command::Pending => {
                let waiting = self.pending(&who).await?;
                Ok(listed(&waiting, &self.times(typed).await))
            }
            Command::Show { id } => self.show(typed, &who, &id).await,
            Command::Help => Ok(self.help()),
            other @ (Command::Grants
            | Command::Revoke { .. }
            | Command::Lift { .. }
            | Command::Yolo { .. }
            | Command::YoloOff
            | Command::Status
            | Command::Usage
            | Command::Model { .. }
            | Command::Skills
            | Command::New
            | Command::Retry
            | Command::Steer { .. }
            | Command::Stop
            | Command::Whoami) => {
                let list = if matches!(other, Command::Revoke { .. }) {
                    Command::Grants
                } else {
                    Command::Pending
                };
                match self.about(typed, &who, other).await {
                    Err(GateError::NotFound { kind, .. }) => Ok(self.no_such(kind, &list)),
                    done => done.map_err(failed),
                }
            }
        }
    }

    /// Says how a command is to be typed that permits something and may have been sent by a tap.
    async fn tapped(
        &self,
        typed: &Typed,
        who: &Principal,
        command: &Command,
    ) -> Result<String, Refusal> {
        let name = self.chat.typed_as(&typed.name).unwrap_or_default();
        if matches!(command, Command::Yolo { .. }) {
            return Ok(format!("Say for how many minutes, such as `{name} 15`."));
        }
        let waiting = self.pending(who).await?;
        if waiting.is_empty() {
            return Ok(NOTHING.to_owned());
        }
        let list = listed(&waiting, &self.times(typed).await);
        Ok(format!(
            "A tap can send this, so it allows nothing by itself: reply to the card, or name one, \
             `{name} ID`.\n{list}"
        ))
    }

    /// Says why a line is no command, with commands as they are typed in this chat.
    fn misread(&self, error: &CommandError) -> String {
        let typed = |name: &str| {
            let typed = self.chat.typed_as(name);
            typed.unwrap_or_else(|| format!("/{name}"))
        };
        match error {
            CommandError::NotOne => error.to_string(),
            CommandError::Unknown { name } => {
                let (unknown, help) = (typed(name), typed("help"));
                format!("there is no {unknown}; {help} lists the commands")
            }
            CommandError::Usage { name, hint } => format!("usage: {} {hint}", typed(name)),
        }
    }

    /// The commands that decide nothing about a call.
    async fn about(
        &self,
        typed: &Typed,
        who: &Principal,
        command: Command,
    ) -> Result<String, GateError> {
        match command {
            Command::Grants => self.grants(typed, who).await,
            Command::Revoke { id } => self.revoke(who, &id).await,
            Command::Lift { id } => {
                self.gate.lift_denial(who, &id).await?;
                Ok("Denial lifted; the agent may ask again.".to_owned())
            }
            Command::Yolo { minutes, all } => self.yolo(typed, who, minutes, all).await,
            Command::YoloOff => self.end_yolo(typed, who).await,
            Command::Status => self.status(who).await,
            Command::Usage => self.usage(who).await,
            Command::Model { name: None } => self.model(typed, who).await,
            Command::Model { name: Some(name) } => self.choose_model(typed, who, &name).await,
            Command::Skills => Ok(self.skills()),
            Command::New => self.renew(typed, who).await,
            Command::Retry => self.retry(typed, who).await,
            Command::Steer { text } => self.steer(typed, who, &text).await,
            Command::Stop => self.stop(typed, who).await,
            Command::Whoami => Ok(format!("You are {}.", code(&inline(&who.name)))),
            // Done before.
            Command::Approve { .. }
            | Command::ApproveEdited { .. }
            | Command::Edit { .. }
            | Command::Before { .. }
            | Command::Deny { .. }
            | Command::Extend { .. }
            | Command::Pending
            | Command::Show { .. }
            | Command::Help => Ok(String::new()),
        }
    }

    async fn answer(
        &self,
        typed: &Typed,
        who: &Principal,
        id: Option<String>,
        press: Press,
        text: Option<String>,
    ) -> Result<String, Refusal> {
        let subject = match self.subject(typed, who, id).await? {
            Meant::One(subject) => subject,
            Meant::Unclear(words) => return Ok(words),
        };
        let click = self.click(typed, subject, press, text);
        // It writes down itself what it refuses.
        match self.gate.click(&click).await {
            Ok(done) => Ok(done.words),
            Err(refusal) => Ok(refusal.words()),
        }
    }

    /// Gives a question more time; without an id, the one that an answer would be for.
    async fn extend(
        &self,
        typed: &Typed,
        who: &Principal,
        id: Option<String>,
    ) -> Result<String, Refusal> {
        let subject = match self.subject(typed, who, id).await? {
            Meant::One(subject) => subject,
            Meant::Unclear(words) => return Ok(words),
        };
        let extended = match self.gate.extend(who, &subject).await {
            Err(GateError::NotFound { kind, .. }) => {
                return Ok(self.no_such(kind, &Command::Pending));
            }
            extended => extended.map_err(failed)?,
        };
        let left = extended.expires_at - self.gate.clock().now().as_seconds();
        let minutes = (left / 60.0).ceil();
        Ok(format!(
            "It now expires in {minutes} min. It is still waiting for an answer."
        ))
    }

    /// Returns the question that a command is about: the one it names, or the one it must mean.
    pub(super) async fn subject(
        &self,
        typed: &Typed,
        who: &Principal,
        id: Option<String>,
    ) -> Result<Meant, Refusal> {
        match id {
            Some(id) => Ok(Meant::One(id)),
            None => self.meant(typed, who).await,
        }
    }

    /// Returns the question that an answer without an id is for: below a card, or in a conversation
    /// with one, that card and no other; in the open the only one that waits.
    async fn meant(&self, typed: &Typed, who: &Principal) -> Result<Meant, Refusal> {
        let mut pending = self.pending(who).await?;
        if typed.is_reply {
            let (channel, thread) = (self.chat.name(), typed.thread.as_str());
            let mut here = Vec::new();
            for view in pending {
                let is_here = self.gate.is_in_thread(&view.approval_id, channel, thread);
                if is_here.await.map_err(failed)? {
                    here.push(view);
                }
            }
            if here.is_empty() {
                // The card above may have been answered; that is then what the person is told. What
                // only looks like a card, such as words of the agent, was never delivered as one.
                if let Some(subject) = self.chat.card_above(thread).await
                    && let is_card = self.gate.is_in_thread(&subject, channel, thread)
                    && is_card.await.map_err(failed)?
                {
                    return Ok(Meant::One(subject));
                }
                let words = "No call is waiting in this thread. Name one by its id to answer it.";
                return Ok(Meant::Unclear(words.to_owned()));
            }
            pending = here;
        }
        Ok(match pending.as_slice() {
            [] => Meant::Unclear(NOTHING.to_owned()),
            [only] => Meant::One(only.approval_id.clone()),
            several => {
                let list = listed(several, &self.times(typed).await);
                Meant::Unclear(format!("Several are waiting; name one.\n{list}"))
            }
        })
    }

    /// Tells somebody who is not listed by which id an admin can list them.
    fn stranger(&self, typed: &Typed) -> String {
        let account = inline(&typed.clicker.account);
        let add = format!(
            "countersign people set NAME --role approver --account {}={account}",
            self.chat.name()
        );
        format!(
            "You are not listed, so you cannot answer. Your id here is {}. An admin can list you: {}",
            code(&account),
            code(&add)
        )
    }

    /// Returns what is said about an id that is nobody's.
    pub(super) fn no_such(&self, kind: &str, list: &Command) -> String {
        let row = TABLE
            .iter()
            .find(|row| Command::of(row.name, "").as_ref() == Ok(list));
        let mut words = format!("There is no {kind} with this id. Nothing was changed.");
        if let Some(list) = row.and_then(|row| self.chat.typed_as(row.name)) {
            let _infallible = write!(words, " `{list}` lists those there are.");
        }
        words
    }

    async fn revoke(&self, who: &Principal, id: &str) -> Result<String, GateError> {
        let live = self.gate.grants(who, false).await?.items;
        let was_live = live.iter().any(|grant| grant.grant_id == id);
        let grant = self.gate.revoke_grant(who, id).await?;
        let words = code(&grant.words);
        Ok(if was_live {
            format!("Revoked: {words}")
        } else {
            format!("This grant had ended or was revoked before: {words}. Nothing was changed.")
        })
    }

    async fn show(&self, typed: &Typed, who: &Principal, id: &str) -> Result<String, Refusal> {
        let view = match self.gate.approval(who, id).await {
            Err(GateError::NotFound { kind, .. }) => {
                return Ok(self.no_such(kind, &Command::Pending));
            }
            view => view.map_err(failed)?,
        };
        let mut text = fenced(&view.card.plain_text());
        if view.status == Status::Waiting {
            let end = self.times(typed).await.end(view.card.expires_at);
            text.insert_str(0, &format!("It {end}.\n"));
        }
        // As it is shown there, where it may be longer: what the server cuts off was not seen.
        if quiet(&text).chars().count() > SHOWN_CHARS_MAX {
            return Ok("It is too long to show here. Open the full text on the card.".to_owned());
        }
        if view.status != Status::Waiting {
            return Ok(text);
        }
        // What counts as read was sent before. Whoever may not answer it is refused below.
        let is_open = self.gate.is_open_to(who, id).await.map_err(failed)?;
        let wants_opening = self.gate.wants_opening(id, self.chat.name(), &who.name);
        if is_open && !wants_opening.await.map_err(failed)? {
            // All of it is on the card, or was read: this need not count, so the reply carries it.
            return Ok(text);
        }
        let mut is_shown = false;
        if let Some(shown) = self.chat.show_whole(typed, &text).filter(|_| is_open) {
            if let Err(error) = shown.await {
                tracing::warn!(%error, "a card could not be shown");
                return Ok("It could not be sent to you, so it does not count as read.".to_owned());
            }
            is_shown = true;
        }
        let click = self.click(typed, id.to_owned(), Press::View, None);
        self.gate.click(&click).await?;
        Ok(if is_shown {
            self.chat.shown_elsewhere().to_owned()
        } else {
            text
        })
    }

    pub(super) fn click(
        &self,
        typed: &Typed,
        subject: String,
        press: Press,
        text: Option<String>,
    ) -> Click {
        Click {
            channel: self.chat.name().to_owned(),
            platform: String::new(),
            tenant: String::new(),
            transport: Ok(()),
            ticket: None,
            proof: Proof::Typed,
            subject,
            press,
            digest: None,
            place: typed.place.clone(),
            reference: String::new(),
            clicker: typed.clicker.clone(),
            tier: self.chat.separation(),
            text,
        }
    }

    /// Returns what waits for this person, the oldest first.
    async fn pending(&self, who: &Principal) -> Result<Vec<ApprovalView>, Refusal> {
        let filter = ApprovalFilter {
            status: Some(Status::Waiting),
            limit: Some(500),
            ..ApprovalFilter::default()
        };
        let page = self.gate.approvals(who, filter).await.map_err(failed)?;
        let mut waiting = Vec::new();
        for view in page.items.into_iter().rev() {
            let is_open = self.gate.is_open_to(who, &view.approval_id).await;
            if is_open.map_err(failed)? {
                waiting.push(view);
            }
        }
        Ok(waiting)
    }

    /// Lists the commands as they are typed here; what is not registered is not named.
    fn help(&self) -> String {
        let mut lines = String::new();
        for row in TABLE {
            if let Some(typed) = self.chat.typed_as(row.name) {
                let line = format!("{typed} {}", row.hint);
                let _infallible = writeln!(lines, "{} {}", code(line.trim()), row.does);
            }
        }
        lines
    }

    async fn grants(&self, typed: &Typed, who: &Principal) -> Result<String, GateError> {
        let grants = self.gate.grants(who, false).await?.items;
        let times = self.times(typed).await;
        let mut lines = self.overrides(who).await?;
        if grants.is_empty() {
            lines.push_str("No active grants.");
        }
        for grant in grants.iter().take(LINES_MAX) {
            let line = format!("{} {}", grant.grant_id, grant.words);
            let mut limits = Vec::new();
            if let Some(session) = &grant.session_id {
                limits.push(format!("for session {}", code(&inline(session))));
            }
            if let Some(at) = grant.expires_at {
                limits.push(times.end(UnixMillis::of_seconds(at)));
            }
            if let Some(uses) = grant.uses_left {
                limits.push(format!("uses left: {uses}"));
            }
            if limits.is_empty() {
                limits.push("permanent".to_owned());
            }
            let (limits, by) = (limits.join(" · "), code(&inline(&grant.by)));
            let _infallible = writeln!(lines, "{} · {limits} · by {by}", code(&line));
        }
        if grants.len() > LINES_MAX {
            let _infallible = writeln!(lines, "and {} more", grants.len() - LINES_MAX);
        }
        Ok(lines)
    }

    async fn yolo(
        &self,
        typed: &Typed,
        who: &Principal,
        minutes: u32,
        all: bool,
    ) -> Result<String, GateError> {
        let Some(thread) = self.gate.thread(who, &typed.thread).await? else {
            return Ok("There is no conversation with the agent in this thread.".to_owned());
        };
        let wanted = OverrideRequest {
            minutes,
            reason: "typed in a chat",
            all,
        };
        let started = self
            .gate
            .start_override(who, Some(BUILTIN), &thread.session, wanted)
            .await?;
        Ok(format!(
            "For {minutes} minutes this conversation {}. Outbound calls, money, the firewall itself and \
             crisis still ask.{}",
            started.words,
            self.how_to_end()
        ))
    }

    async fn end_yolo(&self, typed: &Typed, who: &Principal) -> Result<String, GateError> {
        let Some(thread) = self.gate.thread(who, &typed.thread).await? else {
            return Ok("There is no conversation with the agent in this thread.".to_owned());
        };
        self.gate
            .end_override(who, Some(BUILTIN), &thread.session)
            .await?;
        Ok("This conversation asks questions again.".to_owned())
    }

    fn how_to_end(&self) -> String {
        let typed = self.chat.typed_as("yolo");
        typed.map_or_else(String::new, |typed| format!(" `{typed} off` ends it."))
    }

    /// Returns the sessions that run without questions, a line each.
    async fn overrides(&self, who: &Principal) -> Result<String, GateError> {
        let now = self.gate.clock().now().as_seconds();
        let mut lines = String::new();
        for it in self.gate.overrides(who).await?.iter().take(LINES_MAX) {
            let minutes = ((it.until.unwrap_or(now) - now) / 60.0).ceil();
            let _infallible = writeln!(
                lines,
                "Session {} {} for {minutes} more minutes (started by {}).",
                code(&inline(&it.session_id)),
                it.words,
                code(&inline(&it.by))
            );
        }
        Ok(lines)
    }

    async fn status(&self, who: &Principal) -> Result<String, GateError> {
        let filter = ApprovalFilter {
            status: Some(Status::Waiting),
            limit: Some(500),
            ..ApprovalFilter::default()
        };
        let waiting = self.gate.approvals(who, filter).await?.items.len();
        let model = self.agent.model();
        let model = model.as_deref().unwrap_or("none");
        let overrides = self.overrides(who).await?;
        Ok(format!(
            "{overrides}{waiting} waiting · model {} · countersign {}",
            code(&inline(model)),
            env!("CARGO_PKG_VERSION")
        ))
    }

    async fn retry(&self, typed: &Typed, who: &Principal) -> Result<String, GateError> {
        let Some(thread) = self.gate.thread(who, &typed.thread).await? else {
            return Ok("There is no conversation with the agent in this thread.".to_owned());
        };
        let said = self.gate.conversation(&thread.session).await?;
        let mut said = said.into_iter().rev();
        let last = said.find_map(|message| match serde_json::from_value(message) {
            Ok(message @ Message::User { .. }) => Some(message),
            Ok(Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. })
            | Err(_) => None,
        });
        let Some(last) = last else {
            return Ok("There are no messages here yet.".to_owned());
        };
        let request = RunRequest {
            input: vec![last],
            session: Some(thread.session.clone()),
            model: thread.model.clone(),
            ..RunRequest::default()
        };
        let run = self.agent.start(who, request).await?;
        self.speak_soon(who, &thread.place, &run.run_id).await?;
        Ok("Once more.".to_owned())
    }

    /// Begins another conversation. A run of the one before goes on, and asks and ends here.
    async fn renew(&self, typed: &Typed, who: &Principal) -> Result<String, GateError> {
        let thread = self.gate.thread(who, &typed.thread).await?;
        self.gate.renew_thread(who, &typed.thread).await?;
        let mut words = "Your next message starts a new conversation.".to_owned();
        if let Some(run) = thread.and_then(|thread| thread.run)
            && !self.gate.run_of(&builtin(), &run).await?.status.is_final()
        {
            words.push_str(" The last run is still under way and goes on here.");
            if let Some(stop) = self.chat.typed_as("stop") {
                let _infallible = write!(words, " `{stop}` stops it.");
            }
        }
        Ok(words)
    }

    /// Tells the agent something while it works.
    async fn steer(&self, typed: &Typed, who: &Principal, text: &str) -> Result<String, GateError> {
        let thread = self.gate.thread(who, &typed.thread).await?;
        let nothing = "Nothing is running here; send it as a message.";
        let Some(run) = thread.and_then(|thread| thread.run) else {
            return Ok(nothing.to_owned());
        };
        match self.agent.steer(who, &run, text).await {
            Ok(_) => Ok("The agent reads it before its next step.".to_owned()),
            Err(GateError::AlreadySettled { .. }) => Ok(nothing.to_owned()),
            Err(error) => Err(error),
        }
    }

    async fn stop(&self, typed: &Typed, who: &Principal) -> Result<String, GateError> {
        let thread = self.gate.thread(who, &typed.thread).await?;
        let Some(run) = thread.and_then(|thread| thread.run) else {
            return Ok("Nothing is running here.".to_owned());
        };
        self.agent.stop(who, &run).await?;
        Ok("Stopping.".to_owned())
    }
}

/// Returns what waits, a line each.
fn listed(waiting: &[ApprovalView], times: &Times) -> String {
    if waiting.is_empty() {
        return NOTHING.to_owned();
    }
    let mut lines = String::new();
    for view in waiting.iter().take(LINES_MAX) {
        let command = shortened(&view.command);
        let line = format!("{} {} {command}", view.approval_id, view.card.risk);
        let end = times.end(view.card.expires_at);
        let _infallible = writeln!(lines, "{} · {end}", code(&line));
    }
    if waiting.len() > LINES_MAX {
        let _infallible = writeln!(lines, "and {} more", waiting.len() - LINES_MAX);
    }
    lines
}

pub(super) fn failed(error: GateError) -> Refusal {
    match error {
        GateError::NotFound { .. } => Refusal::Unknown,
        GateError::Forbidden(why) => Refusal::NotYours(why),
        GateError::Invalid { message, .. } => Refusal::Failed(message),
        GateError::AlreadySettled { how, .. } => Refusal::Answered(how),
        GateError::AlreadyResolved(_)
        | GateError::Gone(_)
        | GateError::NotOffered(_)
        | GateError::Ambiguous(_)
        | GateError::TooMany { .. }
        | GateError::TokenUsed
        | GateError::TokenExpired
        | GateError::TokenInvalid
        | GateError::Policy(_)
        | GateError::Store(_) => Refusal::Failed(error.to_string()),
    }
}
