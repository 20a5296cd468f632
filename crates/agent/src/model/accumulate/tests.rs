//! Tests for streaming: one row per known server behaviour, each cut at random places.

use proptest::prelude::*;

use super::*;
use crate::model::stream::{Frame, Frames};

/// A stream and what it says.
struct Row {
    name: &'static str,
    /// Payloads; each is framed as an event unless it is the only one and begins with `!`.
    payloads: &'static [&'static str],
    /// The deltas, with reasoning in brackets.
    said: &'static [&'static str],
    /// Id, tool, arguments.
    calls: &'static [(&'static str, &'static str, &'static str)],
    usage: (u64, u64),
}

const END: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const DONE: &str = "[DONE]";

const ROWS: &[Row] = &[
    Row {
        name: "text as it should be",
        payloads: &[
            r#"{"id":"x","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
            r#"{"model":"m-1","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}"#,
            r#"{"model":"m-1","choices":[{"index":0,"delta":{"content":"lo ü"},"finish_reason":null}]}"#,
            END,
            r#"{"model":"m-1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}"#,
            DONE,
        ],
        said: &["Hel", "lo ü"],
        calls: &[],
        usage: (12, 3),
    },
    Row {
        name: "two calls in parallel, interleaved",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read_file","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"terminal","arguments":"{\"comm"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"and\":\"ls\"}"}},{"index":0,"function":{"arguments":"\"x\"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            DONE,
        ],
        said: &[],
        calls: &[
            ("a", "read_file", r#"{"path":"x"}"#),
            ("b", "terminal", r#"{"command":"ls"}"#),
        ],
        usage: (0, 0),
    },
    Row {
        name: "no index, whole calls, arguments as an object, `stop`",
        payloads: &[
            r#"{"choices":[{"delta":{"content":"","tool_calls":[{"id":"call_1","function":{"name":"terminal","arguments":{"command": "ls"}}},{"id":"call_2","function":{"name":"terminal","arguments":{"command":"pwd"}}}]},"finish_reason":null}]}"#,
            END,
            DONE,
        ],
        said: &[],
        calls: &[
            ("call_1", "terminal", r#"{"command": "ls"}"#),
            ("call_2", "terminal", r#"{"command":"pwd"}"#),
        ],
        usage: (0, 0),
    },
    Row {
        name: "every index is 0",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"terminal","arguments":"{\"a\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"terminal","arguments":"{\"b\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"2}"}}]}}]}"#,
            END,
        ],
        said: &[],
        calls: &[
            ("a", "terminal", r#"{"a":1}"#),
            ("b", "terminal", r#"{"b":2}"#),
        ],
        usage: (0, 0),
    },
    Row {
        name: "every index is 0, fragments told apart by id",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{"}},{"index":0,"id":"b","function":{"name":"two","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"arguments":" }"}}]}}]}"#,
            END,
        ],
        said: &[],
        calls: &[("a", "one", "{}"), ("b", "two", "{ }")],
        usage: (0, 0),
    },
    Row {
        name: "neither index nor id",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"terminal","arguments":"{\"a\":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"terminal","arguments":"{\"b\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"2}"}}]}}]}"#,
            END,
        ],
        said: &[],
        calls: &[
            ("minted-1", "terminal", r#"{"a":1}"#),
            ("minted-2", "terminal", r#"{"b":2}"#),
        ],
        usage: (0, 0),
    },
    Row {
        name: "neither index nor id, told apart by position",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"one","arguments":"{"}},{"function":{"name":"two","arguments":"["}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}},{"function":{"arguments":"]"}}]}}]}"#,
            END,
        ],
        said: &[],
        calls: &[("minted-1", "one", "{}"), ("minted-2", "two", "[]")],
        usage: (0, 0),
    },
    Row {
        name: "id and name in every fragment",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"terminal","arguments":"{\"c\":\"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"terminal","arguments":"\\\"\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"terminal","arguments":"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":""}}]},"finish_reason":"tool_calls"}]}"#,
        ],
        said: &[],
        calls: &[("a", "terminal", r#"{"c":"}\""}"#)],
        usage: (0, 0),
    },
    Row {
        name: "ids that stand twice, that are empty, that are no ids",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call","function":{"name":"one","arguments":"{}"}},{"index":1,"id":"call","function":{"name":"one","arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":2,"id":"","function":{"name":"one","arguments":"{}"}},{"index":3,"id":"a b","function":{"name":"one","arguments":"{}"}},{"index":4,"id":7,"function":{"name":"one","arguments":"{}"}}]}}]}"#,
            END,
        ],
        said: &[],
        calls: &[
            ("call", "one", "{}"),
            ("minted-1", "one", "{}"),
            ("minted-2", "one", "{}"),
            ("minted-3", "one", "{}"),
            ("minted-4", "one", "{}"),
        ],
        usage: (0, 0),
    },
    Row {
        name: "the same id without index, whole calls",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"call","function":{"name":"one","arguments":"{\"a\":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"call","function":{"name":"one","arguments":"{\"a\":2}"}}]}}]}"#,
            END,
        ],
        said: &[],
        calls: &[
            ("call", "one", r#"{"a":1}"#),
            ("minted-1", "one", r#"{"a":2}"#),
        ],
        usage: (0, 0),
    },
    Row {
        name: "no arguments",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"now"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"now","arguments":""}},{"index":2,"id":"c","function":{"name":"now","arguments":null}}]}}]}"#,
            END,
        ],
        said: &[],
        calls: &[("a", "now", "{}"), ("b", "now", "{}"), ("c", "now", "{}")],
        usage: (0, 0),
    },
    Row {
        name: "keys that stand twice are left to the judge",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"terminal","arguments":{"command":"ls","command":"rm"}}}]}}]}"#,
            END,
        ],
        said: &[],
        calls: &[("a", "terminal", r#"{"command":"ls","command":"rm"}"#)],
        usage: (0, 0),
    },
    Row {
        name: "arguments that are no JSON are left to the judge",
        payloads: &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"terminal","arguments":"{\"command\":"}}]}}]}"#,
            END,
        ],
        said: &[],
        calls: &[("a", "terminal", r#"{"command":"#)],
        usage: (0, 0),
    },
    Row {
        name: "the end in the same payload as the last words, no [DONE]",
        payloads: &[
            r#"{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"input_tokens":5,"output_tokens":1}}"#,
        ],
        said: &["Hi"],
        calls: &[],
        usage: (5, 1),
    },
    Row {
        name: "null content, timings, unknown keys, usage in every payload",
        payloads: &[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":null},"finish_reason":null,"logprobs":null}],"object":"chat.completion.chunk","usage":null}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"b"}}],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#,
            r#"{"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"timings":{"prompt_n":1,"predicted_ms":2.5}}"#,
            DONE,
        ],
        said: &["a", "b"],
        calls: &[],
        usage: (9, 2),
    },
    Row {
        name: "thinking aloud, under both names at once and each alone",
        payloads: &[
            r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":" so"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":" it is","content":""}}]}"#,
            r#"{"choices":[{"delta":{"content":"Yes"}}]}"#,
            END,
        ],
        said: &["[hm]", "[ so]", "[ it is]", "Yes"],
        calls: &[],
        usage: (0, 0),
    },
    Row {
        name: "content in parts",
        payloads: &[
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"A"},{"type":"text","text":"B"}]}}]}"#,
            END,
        ],
        said: &["A", "B"],
        calls: &[],
        usage: (0, 0),
    },
    Row {
        name: "a second choice nobody asked for",
        payloads: &[
            r#"{"choices":[{"index":0,"delta":{"content":"A"}},{"index":1,"delta":{"content":"B"},"finish_reason":"stop"}]}"#,
            END,
        ],
        said: &["A"],
        calls: &[],
        usage: (0, 0),
    },
    Row {
        name: "deltas, then the whole message again",
        payloads: &[
            r#"{"choices":[{"delta":{"content":"A"}}]}"#,
            r#"{"choices":[{"message":{"role":"assistant","content":"A"},"finish_reason":"stop"}]}"#,
        ],
        said: &["A"],
        calls: &[],
        usage: (0, 0),
    },
    Row {
        name: "not streamed",
        payloads: &[
            r#"!{"id":"x","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"a","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#,
        ],
        said: &["Hi"],
        calls: &[("a", "terminal", r#"{"command":"ls"}"#)],
        usage: (3, 4),
    },
];

impl Row {
    fn stream(&self) -> String {
        if let [only] = self.payloads
            && let Some(body) = only.strip_prefix('!')
        {
            return body.to_owned();
        }
        let events = self.payloads.iter().map(|it| format!("data: {it}\n\n"));
        format!(": OPENROUTER PROCESSING\n\n{}", events.collect::<String>())
    }
}

/// Reads `stream` in pieces that end at `cuts`; returns the answer and its deltas.
fn read(stream: &[u8], cuts: &[usize]) -> (Result<Completion, ModelError>, Vec<String>) {
    let mut said = Vec::new();
    let completion = put_together(stream, cuts, &mut |delta| {
        said.push(match delta {
            Delta::Text(text) => text.to_owned(),
            Delta::Reasoning(text) => format!("[{text}]"),
        });
    });
    (completion, said)
}

fn put_together(
    stream: &[u8],
    cuts: &[usize],
    on: &mut (dyn FnMut(Delta<'_>) + Send),
) -> Result<Completion, ModelError> {
    let mut frames = Frames::new(1 << 20, 1 << 16);
    let mut answer = Accumulator::default();
    let mut parts = Vec::new();
    let mut start = 0;
    for end in cuts.iter().copied().chain([stream.len()]) {
        parts.extend(frames.push(&stream[start..end])?);
        start = end;
    }
    parts.extend(frames.finish()?);
    for part in parts {
        match part {
            Frame::Payload(payload) => answer.push(&payload, on)?,
            Frame::Done => answer.end(),
        }
    }
    let mut count = 0;
    answer.finish(&mut || {
        count += 1;
        format!("minted-{count}")
    })
}

#[test]
fn every_known_way_to_stream_is_understood() {
    for row in ROWS {
        let (completion, said) = read(row.stream().as_bytes(), &[]);
        let completion = completion.unwrap_or_else(|error| panic!("{}: {error}", row.name));
        let calls: Vec<_> = completion
            .tool_requests
            .iter()
            .map(|it| (it.id.as_str(), it.name.as_str(), it.arguments.as_str()))
            .collect();
        assert_eq!(said, row.said, "{}", row.name);
        assert_eq!(calls, row.calls, "{}", row.name);
        let text: String = said
            .iter()
            .filter(|it| !it.starts_with('['))
            .cloned()
            .collect();
        assert_eq!(completion.text, text, "{}", row.name);
        let usage = (
            completion.usage.prompt_tokens,
            completion.usage.completion_tokens,
        );
        assert_eq!(usage, row.usage, "{}", row.name);
        assert!(!completion.cut_off, "{}", row.name);
    }
}

#[test]
fn what_is_no_answer_is_told_apart() {
    let broke_off = |why: &str| ModelError::BrokeOff(why.to_owned());
    for (name, stream, expected) in [
        (
            "no end",
            "data: {\"choices\":[{\"delta\":{\"content\":\"A\"}}]}\n\n",
            broke_off("it has no end"),
        ),
        (
            "an error in the middle",
            "data: {\"choices\":[{\"delta\":{\"content\":\"A\"}}]}\n\ndata: {\"error\":{\"code\":502,\"message\":\"Provider disconnected\"},\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n",
            broke_off("Provider disconnected"),
        ),
        (
            "an error in the choice",
            "data: {\"choices\":[{\"delta\":{},\"error\":{\"code\":500,\"message\":\"x\"}}]}\n\n",
            broke_off("x"),
        ),
        (
            "an end that is an error",
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
            broke_off("the server failed"),
        ),
        (
            "no credit in the middle",
            "data: {\"error\":{\"code\":402,\"message\":\"pay\"}}\n\n",
            ModelError::OutOfCredit,
        ),
        (
            "no quota in the middle",
            "data: {\"error\":{\"code\":\"insufficient_quota\",\"message\":\"pay\"}}\n\n",
            ModelError::OutOfCredit,
        ),
        (
            "busy in the middle",
            "event: error\ndata: {\"error\":{\"code\":\"429\",\"message\":\"wait\"}}\n\n",
            ModelError::RateLimited { retry_after: None },
        ),
        (
            "an error without frame",
            "{\"error\":\"overloaded\"}",
            broke_off("overloaded"),
        ),
    ] {
        assert_eq!(read(stream.as_bytes(), &[]).0, Err(expected), "{name}");
    }
}

#[test]
fn garbage_is_malformed() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":N,"function":{"name":"x"}}]}}]}"#;
    let many: Vec<_> = (0..129)
        .map(|index| format!("data: {}", call.replace('N', &index.to_string())))
        .collect();
    let many = many.join("\n\n");
    for (name, stream) in [
        ("nothing", ""),
        ("a page", "<html><body>hello</body></html>"),
        ("only the end", "data: [DONE]\n\n"),
        ("no JSON", "data: oops\n\n"),
        ("JSON that breaks off", "data: {\"choices\":[\n\n"),
        (
            "keys that stand twice",
            "data: {\"choices\":[],\"choices\":[]}\n\n",
        ),
        (
            "a call without a tool",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}\n\n",
        ),
        ("too many calls", &many),
        (
            "no text",
            "data: {\"choices\":[{\"delta\":{\"content\":\"\u{fffd}\"}}]}\n\ndata: \u{1}\n\n",
        ),
    ] {
        let answer = read(stream.as_bytes(), &[]).0;
        assert!(
            matches!(answer, Err(ModelError::Malformed(_))),
            "{name}: {answer:?}"
        );
    }
}

#[test]
fn an_answer_that_a_limit_cut_off_says_so() {
    for reason in ["length", "max_tokens", "content_filter"] {
        let stream = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"A\"}},\"finish_reason\":\"{reason}\"}}]}}\n\n"
        );
        assert!(read(stream.as_bytes(), &[]).0.unwrap().cut_off, "{reason}");
    }
}

proptest! {
    #[test]
    fn where_a_stream_is_cut_does_not_matter(
        row in 0..ROWS.len(),
        cuts in proptest::collection::vec(0.0..1.0_f64, 0..12),
    ) {
        let stream = ROWS[row].stream();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place within the stream")]
        let mut cuts: Vec<usize> =
            cuts.into_iter().map(|it| (it * stream.len() as f64) as usize).collect();
        cuts.sort_unstable();
        prop_assert_eq!(read(stream.as_bytes(), &cuts), read(stream.as_bytes(), &[]));
    }

    #[test]
    fn no_bytes_make_the_reader_fall(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        // Random bytes hold no answer that has ended.
        prop_assert!(read(&bytes, &[]).0.is_err());
    }

    #[test]
    fn no_broken_stream_makes_the_reader_fall(
        row in 0..ROWS.len(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut stream = ROWS[row].stream().into_bytes();
        let place = place.index(stream.len());
        stream[place] = byte;
        let whole = read(&stream, &[]);
        prop_assert_eq!(read(&stream, &[place]), whole);
    }
}
