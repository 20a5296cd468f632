//! The router for side tasks: who is asked, in which order, and who is left alone for how long.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_agent::auxiliary::{Accounts, Router, RouterParts};
use countersign_agent::message::Message;
use countersign_agent::model::{ChatRequest, Endpoint, ModelError, Usage};
use countersign_core::time::UnixMillis;
use countersign_gate::base::clock::Clock;
use countersign_testkit::model::{ModelServer, Reply};

#[derive(Debug, Default)]
struct Book(Mutex<Vec<(String, String, Usage)>>);

impl Accounts for Book {
    fn record(&self, task: &str, model: &str, usage: Usage) {
        let row = (task.to_owned(), model.to_owned(), usage);
        self.0.lock().unwrap().push(row);
    }
}

fn endpoint(server: &ModelServer, model: &str) -> Endpoint {
    Endpoint {
        base_url: server.url(),
        model: model.to_owned(),
        api_key: None,
    }
}

/// A router over `chain` whose clock and book the test holds.
fn router(chain: Vec<Endpoint>, time: Duration) -> (Router, Clock, Arc<Book>) {
    let (clock, book) = (Clock::manual(UnixMillis(0)), Arc::new(Book::default()));
    let parts = RouterParts {
        tasks: BTreeMap::new(),
        chain,
        main: None,
        accounts: Arc::clone(&book) as Arc<dyn Accounts>,
        clock: clock.clone(),
        time,
    };
    (Router::new(parts).unwrap(), clock, book)
}

fn question() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: "a title?".to_owned(),
        }],
        ..ChatRequest::default()
    }
}

async fn ask(router: &Router) -> Result<String, ModelError> {
    router
        .ask("title", &question())
        .await
        .map(|completion| completion.text)
}

const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn the_tasks_own_model_comes_first_then_the_chain_then_the_agents() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let server = {
        let asked = Arc::clone(&asked);
        ModelServer::answering(move |request| {
            let model = request["model"].as_str().unwrap().to_owned();
            asked.lock().unwrap().push(model.clone());
            match model.as_str() {
                "main" => Reply::text(["done"]).usage(3, 4),
                "own" => Reply::status(404, "no such model"),
                "first" => Reply::text(["half"]).then_breaks_off(),
                _ => Reply::raw("text/html", ["<html>".to_owned()]),
            }
        })
        .unwrap()
    };
    let book = Arc::new(Book::default());
    let router = Router::new(RouterParts {
        tasks: BTreeMap::from([("title".to_owned(), endpoint(&server, "own"))]),
        // The task's own model also stands in the chain, and is not asked twice.
        chain: ["first", "own", "second"]
            .map(|it| endpoint(&server, it))
            .into(),
        main: Some(endpoint(&server, "main")),
        accounts: Arc::clone(&book) as Arc<dyn Accounts>,
        clock: Clock::manual(UnixMillis(0)),
        time: LONG,
    })
    .unwrap();
    assert_eq!(ask(&router).await, Ok("done".to_owned()));
    assert_eq!(*asked.lock().unwrap(), ["own", "first", "second", "main"]);
    let usage = Usage {
        prompt_tokens: 3,
        completion_tokens: 4,
    };
    let expected = [("title".to_owned(), "main".to_owned(), usage)];
    assert_eq!(*book.0.lock().unwrap(), expected);

    asked.lock().unwrap().clear();
    router.ask("other", &question()).await.unwrap();
    assert_eq!(*asked.lock().unwrap(), ["first", "own", "second", "main"]);
}

#[tokio::test]
async fn who_is_out_of_credit_is_left_alone_for_ten_minutes() {
    let poor = ModelServer::answering(|_| Reply::status(402, "{}")).unwrap();
    let rich = ModelServer::answering(|_| Reply::text(["yes"])).unwrap();
    // Two models of one account: when it is empty, neither is asked.
    let chain = vec![
        endpoint(&poor, "a"),
        endpoint(&poor, "b"),
        endpoint(&rich, "c"),
    ];
    let (router, clock, _) = router(chain, LONG);
    for (name, later, asked) in [
        ("at first it is asked", Duration::ZERO, 1),
        ("then not", Duration::ZERO, 1),
        ("nor before ten minutes", Duration::from_millis(599_999), 1),
        ("then again", Duration::from_millis(1), 2),
        ("and not", Duration::ZERO, 2),
    ] {
        clock.advance(later);
        assert_eq!(ask(&router).await, Ok("yes".to_owned()), "{name}");
        assert_eq!(poor.requests().len(), asked, "{name}");
    }
    assert_eq!(rich.requests().len(), 5);
}

#[tokio::test]
async fn who_is_busy_is_left_alone_for_as_long_as_it_says() {
    for (name, reply, millis) in [
        (
            "it says so",
            Reply::status(429, "").header("retry-after", "5"),
            5_000,
        ),
        ("it does not say", Reply::status(429, ""), 60_000),
        (
            "it says too much",
            Reply::status(429, "").header("retry-after", "999999"),
            600_000,
        ),
    ] {
        let busy = ModelServer::answering(move |_| reply.clone()).unwrap();
        let free = ModelServer::answering(|_| Reply::text(["yes"])).unwrap();
        let chain = vec![endpoint(&busy, "a"), endpoint(&free, "b")];
        let (router, clock, _) = router(chain, LONG);
        for (later, asked) in [(0, 1), (millis - 1, 1), (1, 2)] {
            clock.advance(Duration::from_millis(later));
            assert_eq!(ask(&router).await, Ok("yes".to_owned()), "{name}");
            assert_eq!(busy.requests().len(), asked, "{name}, {later}");
        }
    }
}

#[tokio::test]
async fn who_is_slow_is_left_alone_only_after_three_times_in_a_row() {
    let slow = ModelServer::answering(|_| Reply::text([]).then_hangs()).unwrap();
    let quick = ModelServer::answering(|_| Reply::text(["yes"])).unwrap();
    let chain = vec![endpoint(&slow, "a"), endpoint(&quick, "b")];
    let (router, clock, _) = router(chain, Duration::from_secs(2));
    for (later, asked) in [(0, 1), (0, 2), (0, 3), (59_999, 3), (1, 4)] {
        clock.advance(Duration::from_millis(later));
        assert_eq!(ask(&router).await, Ok("yes".to_owned()));
        assert_eq!(slow.requests().len(), asked);
    }
}

#[tokio::test]
async fn a_chain_that_hangs_ends_in_time() {
    let hangs = ModelServer::answering(|_| Reply::text([]).then_hangs()).unwrap();
    let chain = ["a", "b", "c"].map(|it| endpoint(&hangs, it)).into();
    let (router, _, book) = router(chain, Duration::from_millis(1_500));
    let begun = Instant::now();
    assert_eq!(ask(&router).await, Err(ModelError::TimedOut));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(hangs.requests().len(), 3);
    assert!(book.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn when_nobody_answers_it_is_said_why() {
    let (nobody, _, _) = router(Vec::new(), LONG);
    assert_eq!(ask(&nobody).await, Err(ModelError::NotConfigured));

    let poor = ModelServer::answering(|_| Reply::status(402, "{}")).unwrap();
    let (router, _, _) = router(vec![endpoint(&poor, "a")], LONG);
    for _ in 0..2 {
        assert_eq!(ask(&router).await, Err(ModelError::OutOfCredit));
    }
    assert_eq!(poor.requests().len(), 1);
}
