//! `Complaint`: an error message, a hint and an exit code.

use std::io::Write;
use std::process::ExitCode;

/// Exit code for a wrong command line or wrong input to one call.
const USAGE: u8 = 2;
/// Exit code for anything else that went wrong.
const FAILED: u8 = 1;
/// Exit code when no gateway answers. For whoever asked, that counts as refused.
const UNREACHABLE: u8 = 22;

/// An error as a person reads it.
#[derive(Debug)]
pub(crate) struct Complaint {
    message: String,
    hint: String,
    code: u8,
}

impl Complaint {
    /// The command line or the call given on it cannot be used.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
            code: USAGE,
        }
    }

    /// Something else went wrong.
    pub(crate) fn failed(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
            code: FAILED,
        }
    }

    /// No gateway answers.
    pub(crate) fn unreachable(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: "start one with `countersign serve`, or name it with --url and --key-file"
                .to_owned(),
            code: UNREACHABLE,
        }
    }

    /// Returns what is wrong, without the hint.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Whether no gateway answers.
    pub(crate) const fn is_unreachable(&self) -> bool {
        self.code == UNREACHABLE
    }

    /// Returns message and hint in one line.
    pub(crate) fn in_one_line(&self) -> String {
        let end = |text: &str| {
            if text.ends_with(['.', '?', '!']) {
                ""
            } else {
                "."
            }
        };
        let (message, hint) = (&self.message, &self.hint);
        if hint.is_empty() {
            format!("{message}{}", end(message))
        } else {
            format!("{message}{} Hint: {hint}{}", end(message), end(hint))
        }
    }

    /// Returns what to do about it.
    pub(crate) fn hint(&self) -> &str {
        &self.hint
    }

    /// Writes it to standard error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let blue = anstyle::AnsiColor::Cyan.on_default();
        let mut stderr = anstream::stderr().lock();
        // A closed standard error leaves nobody to tell; the exit code still does.
        let _told = writeln!(stderr, "{red}error:{red:#} {}", self.message);
        if !self.hint.is_empty() {
            let _told = writeln!(stderr, "{blue}hint:{blue:#} {}", self.hint);
        }
        ExitCode::from(self.code)
    }
}

/// Returns the exit code after data could not be written; a reader that left is no fault.
pub(crate) fn written(result: std::io::Result<()>, then: ExitCode) -> Result<ExitCode, Complaint> {
    match result {
        Ok(()) => Ok(then),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(then),
        Err(error) => {
            let hint = "is the disk full or the terminal gone?";
            Err(Complaint::failed(
                format!("cannot write the result: {error}"),
                hint,
            ))
        }
    }
}
