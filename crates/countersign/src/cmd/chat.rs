//! `countersign chat --plain`: a conversation with the built-in agent, line by line.

use std::io::Write as _;
use std::process::ExitCode;

use reqwest::Method;

use super::approvals::segment;
use super::follow::{Ended, Follow, Shows};
use super::run::start;
use super::show::text;
use crate::cli::Chat;
use crate::client::{Client, Reach, expect_done};
use crate::complaint::Complaint;

const HELP: &str = "\
/new     begin another conversation
/quit    leave (so does the end of input)
Ctrl-C   stop what the agent is doing
";

/// Talks until the input ends.
pub(crate) fn run(args: &Chat, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let mut follow = Follow::new(&client, Shows::Progress, true);
    client.block_on(async {
        let mut session = args.session.clone();
        if follow.is_terminal() {
            eprintln!("Talk to the agent; /help lists what else can be typed.");
        }
        loop {
            let Some(line) = follow.line("> ").await else {
                return Ok(ExitCode::SUCCESS);
            };
            match line.trim() {
                "" => continue,
                "/quit" | "/exit" => return Ok(ExitCode::SUCCESS),
                "/help" => {
                    eprint!("{HELP}");
                    continue;
                }
                "/new" => {
                    session = None;
                    continue;
                }
                command if command.starts_with('/') => {
                    eprintln!("There is no {command}; /help lists what there is.");
                    continue;
                }
                _ => {}
            }
            let cwd = args.cwd.as_deref();
            let run = start(&client, &line, session.as_deref(), cwd).await?;
            if session.is_none() {
                let path = format!("/v1/runs/{}", segment(&run));
                let known = client.send(Method::GET, &path, None).await?;
                session = Some(text(&expect_done(known)?, "session_id"));
            }
            match follow.run(&run).await? {
                Ended::Completed => {}
                Ended::Failed(why) => eprintln!("The run failed: {why}"),
                Ended::Cancelled => eprintln!("Stopped."),
            }
            let _flushed = std::io::stderr().flush();
        }
    })
}
