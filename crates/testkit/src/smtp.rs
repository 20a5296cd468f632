//! A test mail server that records what it receives.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long anything may take before a test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// The position of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is connected and was greeted.
    Connected,
    /// It has said who it is.
    Hello,
    /// It has named the sender.
    Sender,
    /// It has named a recipient.
    Recipient,
    /// It wants to begin with the letter, and has not been told that it may.
    Data,
    /// The letter is kept; the client has not been told.
    Kept,
    /// The client was told.
    Told,
}

/// A letter as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Whom the envelope names as sender.
    pub from: String,
    /// Whom it names as recipients.
    pub to: Vec<String>,
    /// Headers and body.
    pub data: String,
}

/// Says what is answered to a line instead of the usual; an empty answer ends the connection. The
/// line `.` is the end of a letter, which is kept before.
type Rule = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A mail server. It listens for as long as the process lives.
#[derive(Clone)]
pub struct Smtp {
    address: SocketAddr,
    letters: Arc<Mutex<Vec<Letter>>>,
    arrived: Arc<Condvar>,
}

impl std::fmt::Debug for Smtp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Smtp")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Smtp {
    /// Starts one.
    pub fn start() -> std::io::Result<Self> {
        Self::start_telling(|_| {})
    }

    /// Starts one that tells how far clients come. It goes on when `tell` returns.
    pub fn start_telling(tell: impl Fn(Step) + Send + Sync + 'static) -> std::io::Result<Self> {
        Self::start_with(tell, |_| None)
    }

    /// Starts one that answers by `rule`: an answer instead of the usual one, or an empty one, which
    /// ends the connection. The line `.` is the end of a letter, which is kept before.
    pub fn start_answering(
        rule: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        Self::start_with(|_| {}, rule)
    }

    fn start_with(
        tell: impl Fn(Step) + Send + Sync + 'static,
        rule: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let server = Self {
            address: listener.local_addr()?,
            letters: Arc::default(),
            arrived: Arc::default(),
        };
        let (tell, rule) = (Arc::new(tell), Arc::new(rule));
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (serving, tell) = (serving.clone(), Arc::clone(&tell));
                let rule = Arc::clone(&rule);
                // A client that goes away ends its conversation, and nothing else.
                std::thread::spawn(move || {
                    let talked = serving.talk(stream, tell.as_ref(), rule.as_ref());
                    talked.is_ok()
                });
            }
        });
        Ok(server)
    }

    /// Returns where it listens.
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns what arrived, in order.
    pub fn letters(&self) -> Vec<Letter> {
        self.kept().clone()
    }

    /// Waits until what arrived is as `holds` wants it; `None` if it never is.
    pub fn until(&self, holds: impl Fn(&[Letter]) -> bool) -> Option<Vec<Letter>> {
        let kept = self.kept();
        let waited = self
            .arrived
            .wait_timeout_while(kept, PATIENCE, |kept| !holds(kept));
        let (kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        holds(&kept).then(|| kept.clone())
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Vec<Letter>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn talk(&self, mut stream: TcpStream, tell: &dyn Fn(Step), rule: &Rule) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        stream.write_all(b"220 test\r\n")?;
        tell(Step::Connected);
        let (mut from, mut to) = (String::new(), Vec::new());
        while let Some(line) = lines.next() {
            let line = line?;
            let word = line.split([' ', ':']).next().unwrap_or_default();
            let inside = || {
                let text = line.split_once('<').map_or("", |(_, rest)| rest);
                text.split('>').next().unwrap_or_default().to_owned()
            };
            if let Some(instead) = rule(&line) {
                if instead.is_empty() {
                    return Ok(());
                }
                stream.write_all(format!("{instead}\r\n").as_bytes())?;
                continue;
            }
            let (answer, step) = match word.to_ascii_uppercase().as_str() {
                "EHLO" | "HELO" => ("250-test\r\n250 8BITMIME", Some(Step::Hello)),
                "MAIL" => {
                    from = inside();
                    ("250 yes", Some(Step::Sender))
                }
                "RCPT" => {
                    to.push(inside());
                    ("250 yes", Some(Step::Recipient))
                }
                "DATA" => {
                    tell(Step::Data);
                    stream.write_all(b"354 go on\r\n")?;
                    let mut data = String::new();
                    loop {
                        // A letter that breaks off has not arrived.
                        let Some(line) = lines.next().transpose()? else {
                            return Ok(());
                        };
                        if line == "." {
                            break;
                        }
                        data.push_str(line.strip_prefix('.').unwrap_or(&line));
                        data.push('\n');
                    }
                    self.kept().push(Letter {
                        from: std::mem::take(&mut from),
                        to: std::mem::take(&mut to),
                        data,
                    });
                    self.arrived.notify_all();
                    tell(Step::Kept);
                    if rule(".").is_some() {
                        return Ok(());
                    }
                    ("250 kept", Some(Step::Told))
                }
                "QUIT" => {
                    stream.write_all(b"221 bye\r\n")?;
                    return Ok(());
                }
                "NOOP" | "RSET" => ("250 yes", None),
                _ => ("502 no", None),
            };
            stream.write_all(answer.as_bytes())?;
            stream.write_all(b"\r\n")?;
            step.into_iter().for_each(tell);
        }
        Ok(())
    }
}
