//! Reads a stream of server-sent events as its bytes come.
//!
//! Separate because both sides of MCP over HTTP need it: messages of a server are events, and the
//! bytes are passed on as they are, whatever is read in them here.

use std::time::Duration;

use crate::mcp::message::MESSAGE_BYTES_MAX;

/// Longest time a server may ask a client to wait before it comes back.
const RETRY_TIME_MAX: Duration = Duration::from_secs(30);

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// What it says; empty where it only has an id.
    pub(crate) data: Vec<u8>,
    /// Its id, if it has one of its own.
    pub(crate) id: Option<String>,
    /// How long to wait before coming back, if it says so.
    pub(crate) retry: Option<Duration>,
}

/// The events of one stream.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    after_return: bool,
}

/// The stream holds a longer message than any that is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Events {
    /// Takes the next bytes and returns the events that are complete now.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_return && rest.first() == Some(&b'\n') {
            rest = rest.get(1..).unwrap_or_default();
        }
        if !bytes.is_empty() {
            self.after_return = false;
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, more) = rest.split_at(end);
            self.keep(line)?;
            let is_return = more.first() == Some(&b'\r');
            rest = more.get(1..).unwrap_or_default();
            if is_return {
                self.after_return = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            let line = std::mem::take(&mut self.line);
            events.extend(self.line_ended(&line)?);
        }
        self.keep(rest)?;
        Ok(events)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > MESSAGE_BYTES_MAX + 16 {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn line_ended(&mut self, line: &[u8]) -> Result<Option<Event>, TooLong> {
        if line.is_empty() {
            let is_event = std::mem::take(&mut self.has_data)
                || self.event.id.is_some()
                || self.event.retry.is_some();
            let event = std::mem::take(&mut self.event);
            return Ok(is_event.then_some(event));
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.has_data {
                    self.event.data.push(b'\n');
                }
                if self.event.data.len() + value.len() > MESSAGE_BYTES_MAX {
                    return Err(TooLong);
                }
                self.event.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"id" if !value.contains(&0) => {
                self.event.id = std::str::from_utf8(value).ok().map(str::to_owned);
            }
            b"retry" => {
                let millis = std::str::from_utf8(value)
                    .ok()
                    .and_then(|it| it.parse().ok());
                let asked = millis.map(Duration::from_millis);
                self.event.retry = asked.map(|asked| asked.min(RETRY_TIME_MAX));
            }
            // Comments, names of events, and fields nobody knows.
            _ => {}
        }
        Ok(None)
    }
}

/// Returns `message` as an event.
pub(crate) fn event(message: &[u8]) -> Vec<u8> {
    let mut event = Vec::with_capacity(message.len() + 8);
    event.extend_from_slice(b"data: ");
    // Outside of texts a line break is a blank to JSON, and inside of one it cannot stand.
    event.extend(message.iter().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        byte => *byte,
    }));
    event.extend_from_slice(b"\n\n");
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Event {
        Event {
            data: text.as_bytes().to_vec(),
            ..Event::default()
        }
    }

    #[test]
    fn fields_comments_and_every_kind_of_line_end_are_read() {
        let text = b": hello\r\n\r\nid: 7\nretry: 500\ndata\n\ndata: {\"a\":1}\rdata:b\r\revent: message\r\ndata: c\r\n\r\nnever: ended";
        let mut events = Events::default();
        let found = events.feed(text).unwrap();
        let first = Event {
            data: Vec::new(),
            id: Some("7".to_owned()),
            retry: Some(Duration::from_millis(500)),
        };
        assert_eq!(found, [first, data("{\"a\":1}\nb"), data("c")]);
    }

    #[test]
    fn a_server_cannot_make_a_client_wait_for_long() {
        let found = Events::default().feed(b"retry: 86400000\n\n").unwrap();
        assert_eq!(found[0].retry, Some(RETRY_TIME_MAX));
    }

    #[test]
    fn a_message_beyond_the_limit_ends_the_stream() {
        let mut events = Events::default();
        let piece = vec![b'x'; MESSAGE_BYTES_MAX];
        assert_eq!(
            events.feed(b"data: ").and_then(|_| events.feed(&piece)),
            Ok(vec![])
        );
        assert_eq!(events.feed(&piece), Err(TooLong));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let written = event(b"{\"a\":\n1}");
        assert_eq!(
            Events::default().feed(&written).unwrap(),
            [data("{\"a\": 1}")]
        );
    }

    #[test]
    fn where_the_bytes_are_cut_does_not_matter() {
        let text = b"data: a\r\n\r\n: x\r\rid: 1\n\nretry: 9\r\ndata: b\rdata\n\r\n\n";
        let whole = Events::default().feed(text).unwrap();
        assert_eq!(whole.len(), 3);
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let mut events = Events::default();
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                let found: Vec<Event> = pieces
                    .into_iter()
                    .flat_map(|piece| events.feed(piece).unwrap())
                    .collect();
                assert_eq!(found, whole, "cut at {first} and {second}");
            }
        }
    }
}
