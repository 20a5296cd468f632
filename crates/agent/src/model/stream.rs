//! Splits a streamed answer into JSON payloads.
//!
//! The stream is server-sent events, read more kindly than the standard asks: a `data` line that is
//! a whole JSON text is a payload although no blank line follows, and a line of bare JSON counts as
//! `data`. Some servers do not stream although they were asked to; a body that begins like JSON is
//! read as a whole.

use serde_json::value::RawValue;

use super::ModelError;

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// JSON, or what stands in its place.
    Payload(Vec<u8>),
    /// The server says that nothing follows.
    Done,
}

/// Reads one answer as it arrives, in pieces of any size.
#[derive(Debug)]
pub(super) struct Frames {
    answer_bytes_max: usize,
    line_bytes_max: usize,
    read: usize,
    shape: Shape,
    /// A line without its end so far, or a whole body.
    unfinished: Vec<u8>,
    /// `data` lines that make a payload only together.
    pending: Vec<u8>,
}

/// What the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Nothing but blanks so far.
    Unknown,
    /// Server-sent events.
    Events,
    /// JSON without events around it.
    Json,
}

impl Frames {
    /// Returns a reader that gives up beyond these limits.
    pub(super) fn new(answer_bytes_max: usize, line_bytes_max: usize) -> Self {
        Self {
            answer_bytes_max,
            line_bytes_max,
            read: 0,
            shape: Shape::Unknown,
            unfinished: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Takes the next piece; returns the parts that are complete with it.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<Frame>, ModelError> {
        self.read = self.read.saturating_add(bytes.len());
        if self.read > self.answer_bytes_max {
            let max = self.answer_bytes_max;
            return Err(ModelError::Malformed(format!(
                "it is longer than {max} bytes"
            )));
        }
        if self.shape == Shape::Unknown {
            bytes = bytes.trim_ascii_start();
            self.shape = match bytes.first() {
                None => Shape::Unknown,
                Some(b'{' | b'[') => Shape::Json,
                Some(_) => Shape::Events,
            };
        }
        let mut frames = Vec::new();
        match self.shape {
            Shape::Unknown => {}
            Shape::Json => self.unfinished.extend_from_slice(bytes),
            Shape::Events => {
                for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                    self.unfinished.extend_from_slice(piece);
                    if self.unfinished.len() > self.line_bytes_max {
                        let max = self.line_bytes_max;
                        return Err(ModelError::Malformed(format!(
                            "a line is longer than {max} bytes"
                        )));
                    }
                    if piece.ends_with(b"\n") {
                        let line = std::mem::take(&mut self.unfinished);
                        self.take_line(&line, &mut frames);
                    }
                }
            }
        }
        Ok(frames)
    }

    /// Returns what the end of the stream completes.
    pub(super) fn finish(mut self) -> Result<Vec<Frame>, ModelError> {
        let mut frames = Vec::new();
        let rest = std::mem::take(&mut self.unfinished);
        match self.shape {
            Shape::Unknown => {}
            Shape::Events => {
                self.take_line(&rest, &mut frames);
                self.take_line(b"", &mut frames);
            }
            Shape::Json => {
                for text in serde_json::Deserializer::from_slice(&rest).into_iter::<&RawValue>() {
                    let text = text.map_err(|_| {
                        ModelError::Malformed("it is neither JSON nor events".to_owned())
                    })?;
                    frames.push(Frame::Payload(text.get().as_bytes().to_vec()));
                }
            }
        }
        Ok(frames)
    }

    fn take_line(&mut self, line: &[u8], frames: &mut Vec<Frame>) {
        let line = line.trim_ascii_end();
        if line.is_empty() {
            if !self.pending.is_empty() {
                frames.push(Frame::Payload(std::mem::take(&mut self.pending)));
            }
            return;
        }
        let data = match line.strip_prefix(b"data:") {
            Some(data) => data.trim_ascii_start(),
            None if line.starts_with(b"{") => line,
            // Comments keep the connection alive; other fields say nothing about the answer.
            None => return,
        };
        if data == b"[DONE]" {
            frames.push(Frame::Done);
        } else if self.pending.is_empty() && serde_json::from_slice::<&RawValue>(data).is_ok() {
            frames.push(Frame::Payload(data.to_vec()));
        } else if !data.is_empty() {
            if !self.pending.is_empty() {
                self.pending.push(b'\n');
            }
            self.pending.extend_from_slice(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Result<Vec<String>, ModelError> {
        let mut reader = Frames::new(1_000, 100);
        let mut all = reader.push(bytes)?;
        all.extend(reader.finish()?);
        Ok(all
            .into_iter()
            .map(|frame| match frame {
                Frame::Payload(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Frame::Done => "done".to_owned(),
            })
            .collect())
    }

    #[test]
    fn a_stream_is_cut_into_payloads() {
        for (name, stream, expected) in [
            (
                "as it should be",
                "data: {\"a\":1}\n\ndata: [DONE]\n\n",
                vec!["{\"a\":1}", "done"],
            ),
            (
                "carriage returns",
                "data: {\"a\":1}\r\n\r\ndata: [DONE]\r\n\r\n",
                vec!["{\"a\":1}", "done"],
            ),
            (
                "no space",
                "data:{\"a\":1}\n\ndata:[DONE]\n\n",
                vec!["{\"a\":1}", "done"],
            ),
            (
                "no blank lines",
                "data: {\"a\":1}\ndata: {\"b\":2}\n",
                vec!["{\"a\":1}", "{\"b\":2}"],
            ),
            (
                "over two lines",
                "data: {\"a\":\ndata: 1}\n\n",
                vec!["{\"a\":\n1}"],
            ),
            (
                "no end of the last line",
                "data: {\"a\":1}",
                vec!["{\"a\":1}"],
            ),
            (
                "comments and fields",
                ": OPENROUTER PROCESSING\n\nevent: x\nid: 1\ndata: {\"a\":1}\n\n",
                vec!["{\"a\":1}"],
            ),
            (
                "empty data",
                "data:\n\ndata: {\"a\":1}\n\n",
                vec!["{\"a\":1}"],
            ),
            ("no JSON", "data: oops\n\n", vec!["oops"]),
            (
                "a bare line of JSON",
                ": hi\n{\"error\":1}\n",
                vec!["{\"error\":1}"],
            ),
            ("a whole body", "\n {\"a\":\n 1}\n", vec!["{\"a\":\n 1}"]),
            (
                "a body of lines",
                "{\"a\":1}\n{\"b\":2}\n",
                vec!["{\"a\":1}", "{\"b\":2}"],
            ),
            ("a page", "<html>\n<body>\n", vec![]),
            ("nothing", "", vec![]),
        ] {
            assert_eq!(frames(stream.as_bytes()).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn limits_are_kept() {
        for (name, stream) in [
            ("a long line", format!("data: {}", "x".repeat(100))),
            ("a long answer", "data: {}\n\n".repeat(101)),
            (
                "a long body",
                format!("{{\"a\":\"{}\"}}", "x".repeat(1_000)),
            ),
            ("a body that breaks off", "{\"a\":".to_owned()),
        ] {
            let answer = frames(stream.as_bytes());
            assert!(matches!(answer, Err(ModelError::Malformed(_))), "{name}");
        }
    }
}
