//! Tells in which scripts a text is written, because the same score means less in one than in another.
//!
//! A script, not a language: letters say which it is without a model that may be wrong. Nothing is folded or kept,
//! so it costs one look at each letter.

/// Kinds of scripts that are told apart: Latin, Cyrillic, Arabic, Devanagari, Han with Kana, Hangul, and all others.
pub(crate) const SCRIPTS: usize = 7;
/// A script counts beside the most frequent one from this part of its letters on.
const BESIDE: u32 = 4;

/// Returns how many letters of each kind of script a text has.
fn letters(text: &str) -> [u32; SCRIPTS] {
    let mut counts = [0_u32; SCRIPTS];
    let [latin, cyrillic, arabic, devanagari, han, hangul, other] = &mut counts;
    for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
        let count = match letter {
            '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff21}'..='\u{ff5a}' => &mut *latin,
            '\u{400}'..='\u{52f}' => &mut *cyrillic,
            '\u{600}'..='\u{6ff}'
            | '\u{750}'..='\u{77f}'
            | '\u{8a0}'..='\u{8ff}'
            | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}' => &mut *arabic,
            '\u{900}'..='\u{97f}' => &mut *devanagari,
            '\u{3005}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3ffff}' => &mut *han,
            '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}' => {
                &mut *hangul
            }
            _ => &mut *other,
        };
        *count = count.saturating_add(1);
    }
    counts
}

/// Returns which scripts count in a text: the most frequent one, and those that are not much rarer. None without letters.
pub(crate) fn counting(text: &str) -> [bool; SCRIPTS] {
    let counts = letters(text);
    let most = counts.into_iter().max().unwrap_or_default();
    counts.map(|count| count > 0 && count >= most / BESIDE)
}

/// Returns the most frequent script of a text.
pub(crate) fn most_frequent(text: &str) -> Option<usize> {
    let counts = letters(text).into_iter().enumerate();
    let (script, count) =
        counts.max_by_key(|(script, count)| (*count, std::cmp::Reverse(*script)))?;
    (count > 0).then_some(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_which_script_it_is() {
        let texts = [
            "Ich bin müde",
            "я устал",
            "أنا متعب",
            "मैं थक गया हूँ",
            "疲れました",
            "피곤해요",
            "κουρασμένος",
        ];
        for (script, text) in texts.into_iter().enumerate() {
            assert_eq!(most_frequent(text), Some(script), "{text}");
            assert_eq!(counting(text).iter().filter(|it| **it).count(), 1, "{text}");
            assert!(counting(text)[script]);
        }
        assert_eq!(most_frequent("12 + 3 …"), None);
        assert_eq!(counting("12 + 3 …"), [false; SCRIPTS]);
    }

    #[test]
    fn in_a_mixed_text_scripts_count_that_are_not_much_rarer() {
        let counted = |text| counting(text).iter().filter(|it| **it).count();
        assert_eq!(counted("我用 Slack 发消息给你们"), 2);
        assert_eq!(
            counted("He wrote one sign 我 below the letter to his family"),
            1
        );
    }
}
