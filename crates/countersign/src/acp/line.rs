//! Reads and writes lines as bytes.
//!
//! Separate because both directions of the relay use it, and nothing here knows what a line says.

use std::io::{BufRead, Read as _, Write};

/// Longest line that is passed on, in bytes.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A line, with its line end if it has one.
    Line,
    /// The other side has closed the stream.
    End,
    /// The line is too long; nothing more can be read.
    TooLong,
}

/// Reads the next line into `line`.
pub(super) fn read(from: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Read> {
    line.clear();
    let read = from.take(LINE_BYTES_MAX).read_until(b'\n', line)?;
    Ok(match read {
        0 => Read::End,
        _ if read as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") => Read::TooLong,
        _ => Read::Line,
    })
}

/// Writes a whole line at once.
pub(super) fn write(to: &mut impl Write, line: &[u8]) -> std::io::Result<()> {
    to.write_all(line)?;
    to.flush()
}
