//! `countersign doctor`: what works, what does not, and what to do about it.

use std::process::ExitCode;

use crate::cli::Doctor;
use crate::client::Reach;
use crate::complaint::{Complaint, written};
use crate::doctor::report::{Report, Shown};
use crate::doctor::{Canary, Scope, attack, examine};
use crate::show::{print, print_json};

/// Does what the command line says.
pub(crate) fn run(args: &Doctor, reach: &Reach) -> Result<ExitCode, Complaint> {
    if args.as_agent {
        return as_agent(args, reach);
    }
    let scope = Scope {
        agent: args.agent,
        canary: if args.no_canary {
            Canary::Stays
        } else {
            Canary::Runs
        },
    };
    let shown = if args.json {
        Shown::AtTheEnd
    } else {
        Shown::AtOnce
    };
    let mut report = Report::new(shown);
    examine(reach, scope, &mut report)?;
    let code = ExitCode::from(u8::from(report.has_failed()));
    if args.json {
        return written(print_json(&report.json()), code);
    }
    let summary = report.summary();
    written(report.written().and_then(|()| print(&summary)), code)
}

fn as_agent(args: &Doctor, reach: &Reach) -> Result<ExitCode, Complaint> {
    let measured = attack::measure(reach)?;
    let code = ExitCode::from(u8::from(measured.is_broken()));
    let result = if args.json {
        print_json(&measured.json())
    } else {
        print(&measured.text())
    };
    written(result, code)
}
