//! Makes hostile text out of ordinary text, and the smallest hostile text out of a large one.

/// Longest input that is made.
const INPUT_BYTES_MAX: usize = 64 * 1024;
/// Tries at making an input smaller.
const MINIMISE_TRIES_MAX: usize = 4_000;

/// Pieces that mean something to one of the readers.
#[rustfmt::skip]
const SHARDS: &[&str] = &[
    "$(", ")", "`", "'", "\"", "\\", "${", "}", "{", "(", ";", "&", "&&", "|", "||", "\n", "\r", "\t", " ", "<<E\n", "<<-'E'\n", "\nE\n", "<(", ">(", "<<<",
    ">", ">>", "<", "<>", ">&", "[[", "]]", "((", "))", "$((", "$[", "$'", "$\"", "#", "*", "?", "[", "]", "~", "=", "+=", "!", "^", "%", ",", "..", "/", "//", "/../",
    "rm -rf ", "sudo ", "bash -c ", "eval ", "if ", "then ", "fi", "for i in ", "do ", "done", "case x in ", ";;", "esac", "a() ", "function f ", "time ", "coproc ",
    "x=", "$x", "${x:-", "${x//", "${x:1:2}", "${!x}", "${x@P}", "${#x}", "${x^^}", "$@", "$*", "$1", "{1..9}", "{a,b}", "\\n", "\\x41", "\\u{1}", "%s", "-c", "--", "-e", "-exec ", "\\;", "{}",
    "\u{0}", "\u{7f}", "\u{200b}", "\u{202e}", "\u{2066}", "\u{feff}", "\u{3000}", "é", "ß", "İ", "🦀", "a\u{301}", "\u{10ffff}", "０", "ｒｍ",
    "select ", "drop table ", "--", "/*", "*/", "$$", "E'", "import os;", "os.system(", "exec(", "eval(", "f\"", "\"\"\"", "=>", "require(", "system(", "%{", "#{", "q(", "qx{", "=~ s/", "Invoke-", "-enc ", "@'\n",
    "s/a/b/e", "w /x", "BEGIN{", "getline", "|&", "@base64d", "input", "kill myself", "ghp_", "AKIA", "-----BEGIN ", "4111 1111 1111 1111", "@", "http://", "169.254.169.254",
    "null", "true", "-1", "1e999", "99999999999999999999", "\\ud800", "{\"a\":", "[[[[", "]]]]",
];

/// A small generator of numbers, the same for the same seed.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Returns a generator that begins at `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `end`.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end.max(1) as u64).unwrap_or(0)
    }
}

/// Returns a mutation of one of `seeds`.
pub(crate) fn mutate(seeds: &[String], dice: &mut Dice) -> String {
    let mut text = pick(seeds, dice);
    for _ in 0..=dice.below(6) {
        let (start, end) = (place(&text, dice), place(&text, dice));
        let (start, end) = (start.min(end), start.max(end));
        let shard = SHARDS.get(dice.below(SHARDS.len())).copied().unwrap_or("");
        match dice.below(9) {
            0 => text.insert_str(start, shard),
            1 => text.replace_range(start..end, ""),
            2 => text.replace_range(start..end, shard),
            3 => {
                let piece = text.get(start..end).unwrap_or("").to_owned();
                text.insert_str(end, &piece);
            }
            4 => {
                // Mostly a few times, now and then as often as fits.
                let times = if dice.below(1_500) == 0 {
                    INPUT_BYTES_MAX / shard.len().max(1)
                } else {
                    dice.below(40)
                };
                text.insert_str(start, &shard.repeat(times));
            }
            5 => {
                let other = pick(seeds, dice);
                let at = place(&other, dice);
                text.insert_str(start, other.get(at..).unwrap_or(""));
            }
            6 => text.truncate(end),
            7 => {
                text.insert_str(end, shard);
                text.insert_str(start, shard);
            }
            _ => {
                let piece = text.get(start..end).unwrap_or("").to_owned();
                let often = if dice.below(1_000) == 0 { 20_000 } else { 12 };
                let times = (INPUT_BYTES_MAX / piece.len().max(1)).min(dice.below(often));
                text.insert_str(end, &piece.repeat(times));
            }
        }
    }
    let end = floor(&text, INPUT_BYTES_MAX);
    text.truncate(end);
    text
}

fn pick(seeds: &[String], dice: &mut Dice) -> String {
    seeds
        .get(dice.below(seeds.len()))
        .cloned()
        .unwrap_or_default()
}

/// Returns a place between two characters.
fn place(text: &str, dice: &mut Dice) -> usize {
    floor(text, dice.below(text.len() + 1))
}

fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

/// Returns a smaller text that is still `bad`, by leaving out ever smaller pieces.
pub(crate) fn minimise(text: &str, bad: impl Fn(&str) -> bool) -> String {
    let mut smallest = text.to_owned();
    let mut length = smallest.len() / 2;
    let mut tries = 0;
    while length > 0 && tries < MINIMISE_TRIES_MAX {
        let mut start = 0;
        while start < smallest.len() && tries < MINIMISE_TRIES_MAX {
            tries += 1;
            let (from, to) = (floor(&smallest, start), floor(&smallest, start + length));
            let mut shorter = smallest.clone();
            shorter.replace_range(from..to, "");
            if to > from && bad(&shorter) {
                smallest = shorter;
            } else {
                start += length;
            }
        }
        length /= 2;
    }
    smallest
}
