//! Writes the characters that look like ASCII ones, sorted, from `knowledge/look_alikes.tsv`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the columns after the sign say, in order; a character may stand in several.
const COLUMNS: [&str; 3] = ["deceives", "styled", "resembles"];

/// How many characters are found without a search: nearly all scripts with an alphabet.
const LOW_CHARACTERS: usize = 0x3000;

/// Each character with the sign it looks like and what the columns say of it.
pub(crate) type LookAlikes = BTreeMap<char, (char, [bool; 3])>;

/// Reads the table.
pub(crate) fn read() -> Result<LookAlikes, String> {
    let path = "knowledge/look_alikes.tsv";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let mut found = LookAlikes::new();
    for line in text.lines() {
        let mut columns = line.split('\t');
        let mut sign = columns.next().unwrap_or_default().chars();
        // A comment has more than one character before its first tab.
        let (Some(sign), None) = (sign.next(), sign.next()) else {
            continue;
        };
        for (at, column) in columns.enumerate() {
            for character in column.chars() {
                let (known, says) = found.entry(character).or_insert((sign, [false; 3]));
                let new = says.get_mut(at).filter(|says| !**says && *known == sign);
                let new = new.ok_or_else(|| format!("{path}: {character:?} stands there twice"))?;
                *new = true;
            }
        }
    }
    Ok(found)
}

/// Writes one row for each character of the table.
pub(crate) fn write(code: &mut String) -> Result<(), String> {
    let found = read()?;
    writeln!(
        code,
        "/// Characters that look like an ASCII one, sorted.\npub(crate) static LOOK_ALIKES: &[LookAlike] = &["
    )
    .unwrap();
    for (character, (sign, says)) in &found {
        let says: String = COLUMNS
            .iter()
            .zip(says)
            .map(|(column, says)| format!("{column}: {says}, "))
            .collect();
        writeln!(
            code,
            "LookAlike {{ character: '\\u{{{:x}}}', sign: {sign:?}, {says}}},",
            u32::from(*character)
        )
        .unwrap();
    }
    writeln!(code, "];").unwrap();
    let mut low = vec![u16::MAX; LOW_CHARACTERS];
    for (character, at) in found.keys().zip(0..) {
        if let Some(place) = low.get_mut(*character as usize) {
            *place = at;
        }
    }
    writeln!(code, "/// Where those of the first scripts stand in it.\nstatic LOW_LOOK_ALIKES: [u16; {LOW_CHARACTERS}] = {low:?};").unwrap();
    Ok(())
}

/// Writes which of the first characters are letters or digits.
pub(crate) fn write_letters(code: &mut String) {
    let mut letters = vec![0_u64; LOW_CHARACTERS / 64];
    for code in 0..LOW_CHARACTERS {
        let character = u32::try_from(code).ok().and_then(char::from_u32);
        if character.is_some_and(char::is_alphanumeric) {
            letters[code / 64] |= 1 << (code % 64);
        }
    }
    writeln!(code, "/// Which of the first characters are letters or digits, one bit each.\npub(super) static LOW_LETTERS: [u64; {}] = {letters:?};", letters.len()).unwrap();
}
