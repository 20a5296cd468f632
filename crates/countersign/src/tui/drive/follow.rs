//! Follows a gateway's events and reconnects.

use std::time::Duration;

use countersign_gate::records::event::Event;
use tokio::sync::mpsc::Sender;

use crate::client::Client;
use crate::tui::screen::News;

/// Pause before a gateway that went away is looked for, the first time and at most.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// What comes of following.
#[derive(Debug)]
pub(crate) enum Heard {
    /// The first attempt to connect is over: events come, or they do not yet.
    Tried,
    /// Something to tell.
    News(News),
}

/// Follows the events of `path` until nobody wants them, or what they are about has ended.
pub(crate) async fn follow(client: &Client, path: String, tell: Sender<Heard>) {
    let (mut last, mut is_first, mut is_away) = (None, true, false);
    let mut pause = PAUSE_MIN;
    loop {
        let why = match client.events(&path, last).await {
            Ok(mut events) => {
                pause = PAUSE_MIN;
                if std::mem::take(&mut is_first) && tell.send(Heard::Tried).await.is_err() {
                    return;
                }
                if std::mem::take(&mut is_away) && say(&tell, News::Back).await.is_none() {
                    return;
                }
                while let Some(told) = events.next().await {
                    last = told.id.or(last);
                    let (news, is_last) = match told.event {
                        Ok(Some(event)) => {
                            let is_last = ends(&path, &event);
                            (News::Event(Box::new(event)), is_last)
                        }
                        // An event this program does not know is skipped.
                        Ok(None) => continue,
                        Err(why) => (News::Unreadable { why }, false),
                    };
                    if say(&tell, news).await.is_none() || is_last {
                        return;
                    }
                }
                "it stopped, or the connection broke".to_owned()
            }
            Err(complaint) => complaint.message().to_owned(),
        };
        if !std::mem::replace(&mut is_away, true) && say(&tell, News::Away { why }).await.is_none()
        {
            return;
        }
        if std::mem::take(&mut is_first) && tell.send(Heard::Tried).await.is_err() {
            return;
        }
        tokio::time::sleep(pause).await;
        pause = PAUSE_MAX.min(pause * 2);
        client.look_again();
    }
}

async fn say(tell: &Sender<Heard>, news: News) -> Option<()> {
    tell.send(Heard::News(news)).await.ok()
}

/// Whether nothing follows `event`: the stream of a run ends with the run.
fn ends(path: &str, event: &Event) -> bool {
    path.starts_with("/v1/runs/")
        && matches!(
            event,
            Event::RunCompleted(_) | Event::RunFailed(_) | Event::RunCancelled(_)
        )
}
