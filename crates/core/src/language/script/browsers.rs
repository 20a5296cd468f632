//! Scripts that drive a browser of their own: to look at a page of the project and take a picture of it.
//!
//! Such a script is the project's code like any other as long as the browser is a new one, with no profile of
//! a person, and goes to pages of this machine alone. Whatever else it says is code that is not understood.

use super::lexer::Token;
use super::{NOT_UNDERSTOOD, Reader};
use crate::knowledge::names::{
    BROWSER_DRIVERS, BROWSER_LAUNCH_OPTIONS, BROWSER_REACHING, BROWSER_SWITCHES,
};
use crate::place::HOLE;

/// Names of this machine in an address.
const HERE: [&str; 4] = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];
/// Signs inside the options with which a browser is started.
const LAUNCH_MARKS: [&str; 7] = ["{", "}", "[", "]", ",", ":", "="];

impl Reader<'_> {
    /// Hides a script that drives a browser in another way, or to other places.
    pub(super) fn browses(&mut self) {
        let drives = |module: &String| {
            let first = module.split(['.', '/']).next().unwrap_or(module);
            BROWSER_DRIVERS.contains(first)
        };
        if !self.reading.imports.iter().any(drives) {
            return;
        }
        let stays = (0..self.tokens.len()).all(|at| self.stays_here(at));
        if !stays {
            self.reading.hide(NOT_UNDERSTOOD);
        }
    }

    /// Whether the token at `at` takes the browser nowhere else.
    fn stays_here(&self, at: usize) -> bool {
        match self.token(at) {
            Some(Token::Name(name)) if name == "launch" => self.launches_plainly(at),
            Some(Token::Name(name)) if name == "goto" => self.goes_here(at),
            Some(Token::Name(name)) => !BROWSER_REACHING.contains(name.as_str()),
            Some(Token::Text(Some(text))) => {
                !BROWSER_REACHING.contains(text.as_str())
                    && (!text.contains("://") || is_here(text))
            }
            Some(_) | None => true,
        }
    }

    /// Whether a browser is started with nothing but options that say how it shows pages.
    fn launches_plainly(&self, at: usize) -> bool {
        let mut depth = 0_usize;
        for token in self.tokens.iter().skip(at + 1) {
            let known = match token {
                Token::Mark("(") => {
                    depth += 1;
                    true
                }
                Token::Mark(")") => {
                    depth = depth.saturating_sub(1);
                    true
                }
                Token::Mark(mark) => LAUNCH_MARKS.contains(mark),
                Token::Name(name) => BROWSER_LAUNCH_OPTIONS.contains(name.as_str()),
                Token::Text(Some(text)) => {
                    let switch = text.split('=').next().unwrap_or(text);
                    BROWSER_SWITCHES.contains(switch)
                }
                Token::Number | Token::Newline => true,
                Token::Text(None) | Token::Variable(_) | Token::Symbol(_) | Token::Command(_) => {
                    false
                }
            };
            // Whoever is handed the method calls it with options that are not seen.
            if !known || depth == 0 && !token.is_mark(")") {
                return false;
            }
            if depth == 0 {
                return true;
            }
        }
        false
    }

    /// Whether the address that a page is opened at is one of this machine, whatever is put into it.
    fn goes_here(&self, at: usize) -> bool {
        if !self.is_call(at + 1) {
            return false;
        }
        let Some(range) = self.arguments(at + 1).range(0) else {
            return false;
        };
        let made = self.values.of(range);
        let mut shapes = made.shapes();
        shapes.all(|shape| is_here(&shape))
    }
}

/// Whether an address is one of this machine.
fn is_here(address: &str) -> bool {
    let rest = address
        .strip_prefix("http://")
        .or_else(|| address.strip_prefix("https://"));
    let Some(rest) = rest else {
        return false;
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or(rest);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (authority, ""),
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    HERE.contains(&host) && is_port && !authority.contains(HOLE) && !rest.contains("://")
}

#[cfg(test)]
mod tests {
    use super::is_here;

    #[test]
    fn an_address_of_this_machine_is_told_from_those_that_look_like_one() {
        for address in [
            "http://localhost:3000",
            "http://127.0.0.1:5173/a?b=1",
            "https://localhost/x",
            "http://[::1]:80/",
        ] {
            assert!(is_here(address), "{address}");
        }
        for address in [
            "http://localhost.example.org/",
            "http://localhost:x@example.org/",
            "http://example.org/http://localhost",
            "http://localhost:3000@example.org",
            "file:///etc/passwd",
            "//localhost/x",
            "http://localhost\u{fdd1}/",
        ] {
            assert!(!is_here(address), "{address}");
        }
    }
}
