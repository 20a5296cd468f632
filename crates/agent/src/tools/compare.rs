//! Reads the files that a waiting call would change, so that an approver sees the difference.

use std::path::{Path, PathBuf};

use countersign_core::written::CONTENT_BYTES_MAX;
use countersign_gate::approvals::comparing::{Comparable, Found};
use countersign_gate::base::principal::Principal;
use countersign_gate::records::view::FileChanges;
use countersign_gate::reviews::Held;
use countersign_gate::{Gate, GateError};

use super::blocking;
use super::on_disk::place_of;
use super::place::Spot;

/// Returns how the call of the question `id` would change files, as they are now.
pub(crate) async fn file_changes(
    gate: &Gate,
    who: &Principal,
    id: &str,
) -> Result<FileChanges, GateError> {
    let Comparable { cwd, paths } = gate.comparable(who, id).await?;
    let cwd = PathBuf::from(cwd.unwrap_or_default());
    let reading = move || {
        let found = paths.into_iter().map(|path| Found {
            now: text_at(&cwd, &path),
            path,
        });
        Ok(found.collect())
    };
    let found = blocking(reading).await.unwrap_or_default();
    gate.compared(who, id, found).await
}

/// Returns the text of a file; `None` if there is none.
fn text_at(cwd: &Path, path: &str) -> Result<Option<String>, String> {
    let place = place_of(cwd, path).ok_or("the file cannot be found from here")?;
    let Some(spot) = Spot::find(&place)? else {
        return Ok(None);
    };
    match spot.read(CONTENT_BYTES_MAX)? {
        Held::Absent => Ok(None),
        Held::File { .. } if spot.has_other_names()? => {
            Err("the file has several names (hard links)".to_owned())
        }
        Held::File { content, .. } => match String::from_utf8(content) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err("the file is not text".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_plain_text_at_its_own_path_is_read() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        std::fs::create_dir(home.join("shop")).unwrap();
        let shop = home.join("shop");
        std::fs::write(home.join("outside"), "secret").unwrap();
        std::fs::write(shop.join("a.txt"), "one\n").unwrap();
        std::fs::write(shop.join("binary"), [0xff, 0xfe]).unwrap();
        std::fs::write(shop.join("large"), vec![b'a'; CONTENT_BYTES_MAX + 1]).unwrap();
        symlink(home.join("outside"), shop.join("link")).unwrap();
        symlink(&home, shop.join("up")).unwrap();
        std::fs::hard_link(home.join("outside"), shop.join("hard")).unwrap();
        let read = |name: &str| {
            let path = shop.join(name);
            text_at(&shop, path.to_str().unwrap())
        };
        assert_eq!(read("a.txt"), Ok(Some("one\n".to_owned())));
        assert_eq!(read("none.txt"), Ok(None));
        assert_eq!(read("no/such/directory"), Ok(None));
        for name in ["binary", "large", "link", "up/outside", "hard", "."] {
            let got = read(name);
            assert!(got.is_err(), "{name}: {got:?}");
        }
    }
}
