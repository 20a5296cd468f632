//! Judges a stream of calls on all cores, with results in order.
//!
//! One thread reads whatever is there, cuts it at line ends and hands it on; workers judge; the
//! caller's thread writes. A read returns what has arrived, so a slow producer is answered line by
//! line and a fast one in large pieces, without a timer. All queues are bounded.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::config::policies::PolicyCache;
use crate::wire;
use countersign_core::judge::judge;
use countersign_core::{canonical, record};

/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;
/// Longest line that is looked at; a longer one is an error.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Most worker threads.
const WORKERS_MAX: usize = 64;
/// What an answer is usually longer than its call, for sizing the buffer.
const ANSWER_RATIO: usize = 10;

/// How many lines were answered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Lines that could not be read as a call.
    pub(super) unreadable: u64,
}

/// Lines to judge, and where their answers go.
struct Job {
    lines: Lines,
    answer: SyncSender<Answer>,
}

enum Lines {
    Text(Vec<u8>),
    TooLong,
    Unreadable(String),
}

struct Answer {
    text: Vec<u8>,
    unreadable: u64,
}

/// Judges every line of `input` and writes the answers to `output`.
///
/// Threads are not waited for: when the reader of the answers has left, the one that waits for
/// input ends with the process.
pub(super) fn run(
    policies: &PolicyCache,
    input: impl Read + Send + 'static,
    mut output: impl Write,
) -> std::io::Result<Tally> {
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(WORKERS_MAX);
    let (jobs, queue) = sync_channel::<Job>(workers * 2);
    let (answers, in_order) = sync_channel::<Receiver<Answer>>(workers * 4);
    let queue = Arc::new(Mutex::new(queue));
    for _ in 0..workers {
        let (queue, policies) = (Arc::clone(&queue), policies.share());
        std::thread::Builder::new().spawn(move || work(&queue, policies))?;
    }
    std::thread::Builder::new().spawn(move || read(input, &jobs, &answers))?;
    let mut tally = Tally::default();
    for answer in in_order {
        let Ok(answer) = answer.recv() else {
            return Err(std::io::Error::other("a worker ended without an answer"));
        };
        tally.unreadable += answer.unreadable;
        output.write_all(&answer.text)?;
        output.flush()?;
    }
    Ok(tally)
}

/// Cuts the input at line ends. Ends when there is no more, or nobody wants it.
fn read(mut input: impl Read, jobs: &SyncSender<Job>, answers: &SyncSender<Receiver<Answer>>) {
    let send = |lines: Lines| {
        let (answer, receiver) = sync_channel(1);
        answers.send(receiver).is_ok() && jobs.send(Job { lines, answer }).is_ok()
    };
    let mut piece = vec![0; READ_BYTES];
    let mut line: Vec<u8> = Vec::new();
    let mut skipping = false;
    loop {
        let count = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                send(Lines::Unreadable(format!(
                    "cannot read standard input: {error}"
                )));
                return;
            }
        };
        let mut fresh = piece.get(..count).unwrap_or(&[]);
        if skipping {
            let Some(end) = memchr::memchr(b'\n', fresh) else {
                continue;
            };
            fresh = fresh.get(end + 1..).unwrap_or(&[]);
            skipping = false;
        }
        let Some(end) = memchr::memrchr(b'\n', fresh) else {
            line.extend_from_slice(fresh);
            if line.len() > LINE_BYTES_MAX {
                line = Vec::new();
                skipping = true;
                if !send(Lines::TooLong) {
                    return;
                }
            }
            continue;
        };
        let (whole, begun) = fresh.split_at(end + 1);
        line.extend_from_slice(whole);
        let lines = std::mem::replace(&mut line, begun.to_vec());
        if !send(Lines::Text(lines)) {
            return;
        }
    }
    if !line.is_empty() {
        send(Lines::Text(line));
    }
}

fn work(queue: &Mutex<Receiver<Job>>, mut policies: PolicyCache) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { lines, answer }) = job else {
            return;
        };
        let mut reply = Answer {
            text: Vec::new(),
            unreadable: 0,
        };
        match lines {
            Lines::Text(text) => {
                reply
                    .text
                    .reserve(text.len().saturating_mul(ANSWER_RATIO).min(4 * 1024 * 1024));
                for line in text.split(|byte| *byte == b'\n') {
                    if !line.trim_ascii().is_empty() {
                        judge_line(line, &mut policies, &mut reply);
                    }
                }
            }
            Lines::TooLong => {
                let limit = LINE_BYTES_MAX / 1024 / 1024;
                complain(
                    &mut reply,
                    None,
                    &format!("the line is longer than {limit} MiB"),
                );
            }
            Lines::Unreadable(message) => complain(&mut reply, None, &message),
        }
        // Nobody waits for it when the writer has left.
        let _left = answer.send(reply);
    }
}

fn judge_line(line: &[u8], policies: &mut PolicyCache, reply: &mut Answer) {
    let mut object = match canonical::parse(line) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return complain(reply, None, "the line is not a JSON object"),
        Err(error) => return complain(reply, None, &format!("the line is not JSON: {error}")),
    };
    let id = object.remove("id");
    let id = id.as_ref();
    let call = match wire::call::from_object(object) {
        Ok(call) => call,
        Err(message) => return complain(reply, id, &message),
    };
    let policy = match policies.at(call.cwd.as_deref()) {
        Ok(policy) => policy,
        Err(complaint) => return complain(reply, id, complaint.message()),
    };
    // A fault in the judge must cost one line, not the stream; the line then has no verdict.
    let judged = catch_unwind(AssertUnwindSafe(|| judge(&policy, &call)));
    match judged {
        Ok(judged) => {
            record::write(&mut reply.text, id, &judged);
            reply.text.push(b'\n');
        }
        Err(_) => complain(reply, id, "the judge failed on this call; do not run it"),
    }
}

fn complain(reply: &mut Answer, id: Option<&Value>, message: &str) {
    reply.unreadable += 1;
    record::write_error(&mut reply.text, id, message);
    reply.text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{LINE_BYTES_MAX, run};
    use crate::config::policies::PolicyCache;

    /// Gives out a text in pieces of a few bytes, as a slow pipe would.
    struct Drip(Vec<u8>, usize);

    impl Read for Drip {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    fn answers(input: Vec<u8>, piece: usize) -> (Vec<String>, u64) {
        let mut output = Vec::new();
        let tally = run(&PolicyCache::defaults(), Drip(input, piece), &mut output).unwrap();
        (
            String::from_utf8(output)
                .unwrap()
                .lines()
                .map(str::to_owned)
                .collect(),
            tally.unreadable,
        )
    }

    #[test]
    fn answers_come_in_the_order_of_the_lines_however_they_arrive() {
        let lines: Vec<String> = (0..500)
            .map(|id| format!(r#"{{"id":{id},"command":"echo {id}"}}"#))
            .collect();
        for piece in [1, 7, 64, 4096, 1 << 20] {
            let (answers, unreadable) = answers(lines.join("\n").into_bytes(), piece);
            assert_eq!((answers.len(), unreadable), (500, 0), "pieces of {piece}");
            for (id, answer) in answers.iter().enumerate() {
                assert!(answer.starts_with(&format!(r#"{{"id":{id},"#)), "{answer}");
            }
        }
    }

    #[test]
    fn a_line_without_end_is_an_error_and_the_rest_goes_on() {
        let mut input = vec![b'x'; LINE_BYTES_MAX + 100_000];
        input.extend_from_slice(b"\n{\"id\":1,\"command\":\"ls\"}\n");
        let (answers, unreadable) = answers(input, 1 << 16);
        assert_eq!((answers.len(), unreadable), (2, 1));
        assert!(answers[0].contains("longer than 8 MiB"), "{}", answers[0]);
        assert!(
            answers[1].contains("\"verdict\":\"allow\""),
            "{}",
            answers[1]
        );
    }
}
