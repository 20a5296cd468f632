//! `countersign chat`: a conversation with the built-in agent, full-screen or line by line.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use countersign_core::card::{edited_args, edited_text};
use countersign_core::command::Command;
use countersign_core::display::{full, line as one_line};
use countersign_gate::records::view::{ApprovalView, EditedView};
use reqwest::Method;
use serde_json::{Value, json};

use super::approvals::card;
use super::follow::{Ended, Follow, Reads, Shows};
use super::inbox::{Surface, WantsLines};
use super::run::{Task, directory, start};
use crate::cli::Chat;
use crate::client::segment;
use crate::client::{Client, Reach};
use crate::complaint::Complaint;
use crate::slash::{MODELS, Means, chosen_model, means, said};
use crate::tui::chat::Chat as Conversation;
use crate::tui::drive;
use crate::tui::theme::Theme;
use crate::wire::shown::RunView;
use crate::words::sentence;

/// Talks until the person leaves or the input ends.
pub(crate) fn run(args: &Chat, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?.in_terminal();
    match Surface::here(WantsLines(args.plain)) {
        Surface::Screen => {
            let cwd = directory(args.cwd.as_deref());
            let cwd = cwd.and_then(|cwd| cwd.into_os_string().into_string().ok());
            let theme = Theme::of_environment();
            let mut chat = Conversation::new(args.session.clone(), cwd, theme);
            drive::run(&mut chat, &client)?;
            if let Some(session) = chat.session() {
                eprintln!(
                    "Continue with: countersign chat --session {}",
                    one_line(session)
                );
            }
            Ok(ExitCode::SUCCESS)
        }
        Surface::Lines | Surface::Output => client.block_on(async {
            let mut lines = Lines {
                client: &client,
                follow: Follow::new(&client, Shows::Progress, Reads::lines()),
                session: args.session.clone(),
                model: None,
                said: None,
                shown: Vec::new(),
                edited: Vec::new(),
            };
            lines.talk(args.cwd.as_deref()).await
        }),
    }
}

/// A conversation line by line.
struct Lines<'a> {
    client: &'a Client,
    follow: Follow<'a>,
    session: Option<String>,
    /// The model that was chosen here.
    model: Option<String>,
    /// The last message.
    said: Option<String>,
    /// Cards that were printed: only those can be allowed.
    shown: Vec<String>,
    /// Calls that were edited and judged here, and their arguments.
    edited: Vec<(String, Value)>,
}

/// What a line comes to.
enum Next {
    Say(String),
    Nothing,
    Leave,
}

impl Lines<'_> {
    async fn talk(&mut self, cwd: Option<&Path>) -> Result<ExitCode, Complaint> {
        if self.follow.is_terminal() {
            eprintln!("Type a message to the agent; /help lists the commands.");
        }
        loop {
            let Some(typed) = self.follow.line("> ").await else {
                return Ok(ExitCode::SUCCESS);
            };
            let words = match self.next(&typed).await? {
                Next::Say(words) => words,
                Next::Nothing => continue,
                Next::Leave => return Ok(ExitCode::SUCCESS),
            };
            let task = Task {
                text: &words,
                session: self.session.as_deref(),
                cwd,
                model: self.model.as_deref(),
            };
            let run = start(self.client, &task).await?;
            self.said = Some(words);
            if self.session.is_none() {
                let path = format!("/v1/runs/{}", segment(&run));
                let known = self.client.send(Method::GET, &path, None).await?;
                self.session = Some(known.read::<RunView>()?.session_id);
            }
            match self.follow.run(&run).await? {
                Ended::Completed => {}
                Ended::Failed(why) => eprintln!("The run failed: {why}"),
                Ended::Cancelled => eprintln!("Stopped."),
            }
            let _flushed = std::io::stderr().flush();
        }
    }

    async fn next(&mut self, typed: &str) -> Result<Next, Complaint> {
        match typed.trim() {
            "" => return Ok(Next::Nothing),
            "/quit" | "/exit" => return Ok(Next::Leave),
            words if !words.starts_with('/') => return Ok(Next::Say(typed.to_owned())),
            _ => {}
        }
        let command = match Command::parse(typed) {
            Ok(command) => command,
            Err(error) => {
                eprintln!("{}.", sentence(&error.to_string()));
                return Ok(Next::Nothing);
            }
        };
        match means(command, self.session.as_deref()) {
            Means::Say(words) => eprintln!("{words}"),
            Means::Ask(requests) => {
                for request in requests {
                    let answer = self
                        .client
                        .send(request.method, &request.path, request.body.as_ref())
                        .await?;
                    eprintln!("{}", said(request.what, &answer));
                }
            }
            Means::Own(command) => return self.own(command).await,
        }
        Ok(Next::Nothing)
    }

    async fn own(&mut self, command: Command) -> Result<Next, Complaint> {
        match command {
            Command::New => self.session = None,
            Command::Retry => match self.said.clone() {
                Some(words) => return Ok(Next::Say(words)),
                None => eprintln!("No messages yet."),
            },
            Command::Stop => {
                eprintln!("The agent is idle.");
            }
            Command::Show { id } => {
                if let Some(approval) = self.card(&id).await? {
                    self.print(approval);
                }
            }
            Command::Approve {
                id: Some(id),
                choice,
            } => {
                let Some(approval) = self.card(&id).await? else {
                    return Ok(Next::Nothing);
                };
                if !self.shown.contains(&approval.approval_id) {
                    self.print(approval);
                    eprintln!("Now that you have seen it, type the command again to allow it.");
                    return Ok(Next::Nothing);
                }
                let path = format!("/v1/approvals/{}/resolve", segment(&approval.approval_id));
                let body = json!({ "choice": choice.word() });
                let answer = self.client.send(Method::POST, &path, Some(&body)).await?;
                eprintln!("{}", said("answer", &answer));
            }
            Command::Model { name: Some(name) } => {
                let answer = self.client.send(Method::GET, MODELS, None).await?;
                let (is_known, words) = chosen_model(&name, &answer);
                if is_known {
                    self.model = Some(name);
                }
                eprintln!("{words}");
            }
            // Line by line nothing is typed while the agent works.
            Command::Steer { text } => return Ok(Next::Say(text)),
            Command::Edit {
                id: Some(id),
                text: Some(text),
            } => self.edit(&id, &text).await?,
            Command::Edit { id: Some(id), .. } => {
                if let Some(approval) = self.card(&id).await? {
                    eprintln!("{}", full(&edited_text(&approval.args)));
                    eprintln!("Type /edit {} and the new text.", approval.approval_id);
                }
            }
            Command::ApproveEdited { id: Some(id) } => self.approve_edited(&id).await?,
            Command::Approve { id: None, .. }
            | Command::ApproveEdited { id: None }
            | Command::Edit { id: None, .. }
            | Command::Before { .. }
            | Command::Deny { .. }
            | Command::Extend { .. } => {
                eprintln!("Which one? /pending lists the waiting cards.");
            }
            Command::Pending
            | Command::Grants
            | Command::Revoke { .. }
            | Command::Lift { .. }
            | Command::Yolo { .. }
            | Command::YoloOff
            | Command::Status
            | Command::Usage
            | Command::Model { name: None }
            | Command::Skills
            | Command::Whoami
            | Command::Help => {}
        }
        Ok(Next::Nothing)
    }

    /// Allows the call of `id` as it was edited here.
    async fn approve_edited(&self, id: &str) -> Result<(), Complaint> {
        let Some(approval) = self.card(id).await? else {
            return Ok(());
        };
        let of_it = |(id, _): &&(String, Value)| *id == approval.approval_id;
        let Some((_, args)) = self.edited.iter().rfind(of_it) else {
            eprintln!("You have not edited this call. /edit does that first.");
            return Ok(());
        };
        let path = format!("/v1/approvals/{}/resolve", segment(&approval.approval_id));
        let body = json!({ "choice": "once", "args": args });
        let answer = self.client.send(Method::POST, &path, Some(&body)).await?;
        eprintln!("{}", said("answer", &answer));
        Ok(())
    }

    /// Has the call of `id` judged with `text`, shows it and remembers it.
    async fn edit(&mut self, id: &str, text: &str) -> Result<(), Complaint> {
        let Some(approval) = self.card(id).await? else {
            return Ok(());
        };
        let args = edited_args(&approval.args, text).filter(|_| approval.editable);
        let Some(args) = args else {
            eprintln!("This call cannot be edited so.");
            return Ok(());
        };
        let path = format!("/v1/approvals/{}/assess", segment(&approval.approval_id));
        let body = json!({ "args": args });
        let answer = self.client.send(Method::POST, &path, Some(&body)).await?;
        if !answer.is_success() {
            eprintln!("{} Nothing was answered.", said("assess", &answer));
            return Ok(());
        }
        let judged: EditedView = answer.read()?;
        eprintln!("{}", judged.card.plain_text().trim_end());
        eprintln!(
            "Nothing was answered yet. /approve {} edited allows exactly this, once.",
            approval.approval_id
        );
        self.edited.push((approval.approval_id, args));
        Ok(())
    }

    /// Returns the approval that `id`, which may be shortened, stands for; otherwise says why there is
    /// none.
    async fn card(&self, id: &str) -> Result<Option<ApprovalView>, Complaint> {
        let path = format!("/v1/approvals/{}", segment(id));
        let answer = self.client.send(Method::GET, &path, None).await?;
        if answer.is_success() {
            return answer.read().map(Some);
        }
        eprintln!("{}", said("show", &answer));
        Ok(None)
    }

    fn print(&mut self, approval: ApprovalView) {
        eprintln!("{}", card(&approval).trim_end());
        self.shown.push(approval.approval_id);
    }
}
