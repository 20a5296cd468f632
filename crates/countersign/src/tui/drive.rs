//! Event loop of a full-screen program: passes keys and events in, performs its requests, and
//! redraws on change.
//!
//! Keys carry the moment they were read, not the moment somebody got round to them: a key pressed
//! before a card was on the screen can then never be taken for an answer to it.

mod clock;
mod follow;
mod window;

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, read};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use self::clock::Clock;
pub(crate) use self::follow::{Heard, follow};
use self::window::Window;
use super::screen::{News, Screen, Tag, Wish};
use crate::client::{Answer, Client};
use crate::complaint::Complaint;

/// Requests that are under way at once; others wait their turn.
const REQUESTS_MAX: usize = 8;
/// Keys and events that may wait to be looked at.
const WAITING_MAX: usize = 1024;
/// What is looked at before the next frame is drawn.
const BATCH_MAX: usize = 256;
/// Shortest time between two frames.
const FRAME: Duration = Duration::from_millis(16);

/// Runs `screen` until it wants to leave, or the terminal is gone.
pub(crate) fn run(screen: &mut dyn Screen, client: &Client) -> Result<(), Complaint> {
    let mut keys = Keys::read().map_err(|error| no_terminal(&error))?;
    client.block_on(show(screen, client, &mut keys))
}

/// Shows `screen` until it wants to leave, or the terminal is gone, and gives the terminal back.
pub(crate) async fn show(
    screen: &mut dyn Screen,
    client: &Client,
    keys: &mut Keys,
) -> Result<(), Complaint> {
    let failed = |error: std::io::Error| no_terminal(&error);
    let mut window = Window::open().map_err(failed)?;
    let mut drive = Drive::new(client, keys).map_err(failed)?;
    drive.until_left(screen, &mut window).await.map_err(failed)
}

/// What is typed at the terminal. There is one reader for the life of a program: reading cannot be
/// broken off, and two readers would take keys from each other.
#[derive(Debug)]
pub(crate) struct Keys {
    typed: mpsc::Receiver<(Instant, Event)>,
}

impl Keys {
    /// Begins to read.
    pub(crate) fn read() -> std::io::Result<Self> {
        let (tell, typed) = mpsc::channel(WAITING_MAX);
        std::thread::Builder::new().spawn(move || {
            while let Ok(event) = read() {
                if tell.blocking_send((Instant::now(), event)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { typed })
    }

    /// Forgets what was typed so far.
    pub(crate) fn forget(&mut self) {
        while self.typed.try_recv().is_ok() {}
    }

    /// Returns when Enter was pressed; never, if the terminal is gone.
    pub(crate) async fn enter(&mut self) {
        while let Some((_, event)) = self.typed.recv().await {
            if matches!(event, Event::Key(key) if key.code == KeyCode::Enter) {
                return;
            }
        }
        std::future::pending::<()>().await;
    }
}

fn no_terminal(error: &std::io::Error) -> Complaint {
    let hint = "`--plain` needs no more of a terminal than lines";
    Complaint::failed(format!("this terminal cannot be used: {error}"), hint)
}

type Working<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

struct Drive<'a> {
    client: &'a Client,
    clock: Clock,
    keys: &'a mut Keys,
    ends: Ends,
    /// Queued and running sends.
    queued: VecDeque<Wish>,
    requests: FuturesUnordered<Working<'a, News>>,
    following: Option<Working<'a, ()>>,
    heard: mpsc::Receiver<Heard>,
    /// Whether events were asked for and nobody knows yet whether they come. Requests wait for it, so
    /// that nothing can happen between a list and the first event.
    is_connecting: bool,
    has_left: bool,
}

/// Why the loop woke up.
enum Woken {
    Typed(Option<(Instant, Event)>),
    Heard(Option<Heard>),
    News(News),
    Time,
    Continued,
    Ended,
}

impl<'a> Drive<'a> {
    fn new(client: &'a Client, keys: &'a mut Keys) -> std::io::Result<Self> {
        let (_, heard) = mpsc::channel(1);
        Ok(Self {
            client,
            clock: Clock::new(),
            keys,
            ends: Ends::new()?,
            queued: VecDeque::new(),
            requests: FuturesUnordered::new(),
            following: None,
            heard,
            is_connecting: false,
            has_left: false,
        })
    }

    async fn until_left(
        &mut self,
        screen: &mut dyn Screen,
        window: &mut Window,
    ) -> std::io::Result<()> {
        let begin = screen.begin(self.clock.now());
        self.carry_out(begin, window)?;
        let mut is_stale = true;
        let mut frame_at = Instant::now();
        while !self.has_left {
            if is_stale && frame_at <= Instant::now() {
                let now = self.clock.now();
                window.draw(|frame| screen.draw(frame, now))?;
                frame_at = Instant::now() + FRAME;
                is_stale = false;
            }
            let now = self.clock.now();
            let wake_at = if is_stale {
                Some(frame_at)
            } else {
                let changes_at = screen.changes_at(now);
                changes_at.map(|at| frame_at.max(self.clock.instant(at)))
            };
            match self.next(wake_at).await {
                Woken::Time => is_stale = true,
                Woken::Ended | Woken::Typed(None) => return Ok(()),
                Woken::Continued => {
                    window.reopen()?;
                    is_stale = true;
                }
                Woken::Typed(Some(typed)) => {
                    is_stale = true;
                    self.type_in(typed, screen, window)?;
                }
                Woken::Heard(heard) => {
                    is_stale = true;
                    self.hear(heard, screen, window)?;
                }
                Woken::News(news) => {
                    is_stale = true;
                    self.tell(news, screen, window)?;
                }
            }
            self.rest_of_batch(screen, window)?;
        }
        Ok(())
    }

    async fn next(&mut self, wake_at: Option<Instant>) -> Woken {
        let following = self.following.is_some();
        tokio::select! {
            typed = self.keys.typed.recv() => Woken::Typed(typed),
            heard = self.heard.recv(), if following => Woken::Heard(heard),
            () = ongoing(&mut self.following) => {
                self.following = None;
                Woken::Heard(self.heard.try_recv().ok())
            }
            Some(news) = self.requests.next() => Woken::News(news),
            () = until(wake_at), if wake_at.is_some() => Woken::Time,
            end = self.ends.next() => end,
        }
    }

    /// Takes what has come meanwhile, so that a burst is drawn once.
    fn rest_of_batch(
        &mut self,
        screen: &mut dyn Screen,
        window: &mut Window,
    ) -> std::io::Result<()> {
        for _ in 0..BATCH_MAX {
            if self.has_left {
                return Ok(());
            }
            if let Ok(typed) = self.keys.typed.try_recv() {
                self.type_in(typed, screen, window)?;
            } else if let Ok(heard) = self.heard.try_recv() {
                self.hear(Some(heard), screen, window)?;
            } else {
                return Ok(());
            }
        }
        Ok(())
    }

    fn type_in(
        &mut self,
        (at, event): (Instant, Event),
        screen: &mut dyn Screen,
        window: &mut Window,
    ) -> std::io::Result<()> {
        let at = self.clock.at(at);
        let wishes = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => screen.key(key, at),
            Event::Paste(text) => screen.pasted(&text, at),
            // A window of another size is drawn anew, and that is all.
            Event::Key(_)
            | Event::Resize(..)
            | Event::Mouse(_)
            | Event::FocusGained
            | Event::FocusLost => Vec::new(),
        };
        self.carry_out(wishes, window)
    }

    fn hear(
        &mut self,
        heard: Option<Heard>,
        screen: &mut dyn Screen,
        window: &mut Window,
    ) -> std::io::Result<()> {
        match heard {
            None => Ok(()),
            Some(Heard::Tried) => {
                self.is_connecting = false;
                self.send_more();
                Ok(())
            }
            Some(Heard::News(news)) => self.tell(news, screen, window),
        }
    }

    fn tell(
        &mut self,
        news: News,
        screen: &mut dyn Screen,
        window: &mut Window,
    ) -> std::io::Result<()> {
        let wishes = screen.told(news, self.clock.now());
        self.carry_out(wishes, window)
    }

    fn carry_out(&mut self, wishes: Vec<Wish>, window: &mut Window) -> std::io::Result<()> {
        for wish in wishes {
            match wish {
                Wish::Send { .. } => self.queued.push_back(wish),
                Wish::Follow { path } => {
                    let (tell, heard) = mpsc::channel(WAITING_MAX);
                    self.heard = heard;
                    self.following = Some(Box::pin(follow(self.client, path, tell)));
                    self.is_connecting = true;
                }
                Wish::Title(title) => window.title(&title)?,
                Wish::Bell => window.bell()?,
                Wish::Leave => self.has_left = true,
            }
        }
        self.send_more();
        Ok(())
    }

    fn send_more(&mut self) {
        while !self.is_connecting && self.requests.len() < REQUESTS_MAX {
            let Some(wish) = self.queued.pop_front() else {
                return;
            };
            if let Wish::Send {
                tag,
                method,
                path,
                body,
            } = wish
            {
                let client = self.client;
                self.requests.push(Box::pin(async move {
                    let answer = client.send(method, &path, body.as_ref()).await;
                    answered(tag, answer)
                }));
            }
        }
    }
}

fn answered(tag: Tag, answer: Result<Answer, Complaint>) -> News {
    match answer {
        Ok(answer) => News::Answered { tag, answer },
        Err(complaint) => News::Unanswered {
            tag,
            why: complaint.message().to_owned(),
        },
    }
}

async fn ongoing(work: &mut Option<Working<'_, ()>>) {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

async fn until(moment: Option<Instant>) {
    if let Some(moment) = moment {
        tokio::time::sleep_until(moment.into()).await;
    }
}

/// What ends a program from outside, or wakes it after it was stopped.
struct Ends {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    continued: Signal,
}

impl Ends {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            continued: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    async fn next(&mut self) -> Woken {
        tokio::select! {
            _ = self.terminate.recv() => Woken::Ended,
            _ = self.hang_up.recv() => Woken::Ended,
            _ = self.interrupt.recv() => Woken::Ended,
            _ = self.continued.recv() => Woken::Continued,
        }
    }
}
