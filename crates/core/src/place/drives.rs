//! Drives of Windows as the shells there show them: Git Bash, Cygwin, the Linux beside Windows.

use super::{normalise, plain};

/// Returns a path below a mounted drive as Windows writes it: `/c/src`, `/mnt/c/src`, `/cygdrive/c/src`.
pub(super) fn of_mount(path: &str) -> Option<String> {
    let path = plain(path).path;
    let rest = path.strip_prefix('/')?;
    let rest = ["mnt/", "cygdrive/"]
        .iter()
        .find_map(|mount| rest.strip_prefix(mount))
        .unwrap_or(rest);
    let (drive, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let is_letter = drive.len() == 1 && drive.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_letter.then(|| normalise(&format!("{}:/{rest}", drive.to_ascii_uppercase())))
}

/// Returns what follows `front` in `path`, whatever the case of its letters.
pub(super) fn strip_prefix<'p>(path: &'p str, front: &str) -> Option<&'p str> {
    let (start, rest) = path.split_at_checked(front.len())?;
    start.eq_ignore_ascii_case(front).then_some(rest)
}

#[cfg(test)]
mod tests {
    use crate::place::Ground;

    #[test]
    fn one_directory_of_windows_has_many_names_and_its_neighbours_have_others() {
        let ground = Ground::new(Some(r"C:\Code\shop"), None);
        for (path, inside) in [
            ("/c/Code/shop/a", true),
            ("/C/Code/shop", true),
            ("/mnt/c/Code/shop/a", true),
            ("/cygdrive/c/Code/shop/a", true),
            ("C:/Code/shop/a", true),
            (r"c:\code\SHOP\a", true),
            ("/c/code/x/../shop/a", true),
            ("/c/Code/shopping", false),
            ("/c/Code", false),
            ("/d/Code/shop/a", false),
            ("/c/../Code/shop/a", false),
            ("/c/Code/shop/../a", false),
            ("/mnt/Code/shop/a", false),
            ("/Code/shop/a", false),
        ] {
            assert_eq!(ground.place(path).inside, Some(inside), "{path}");
        }
        for whole in ["/c/Code/shop", "/mnt/c/code", "c:/", "/c"] {
            assert!(ground.place(whole).whole_workspace, "{whole}");
        }
        let unix = Ground::new(Some("/home/dev/shop"), None);
        assert_eq!(unix.place("/c/home/dev/shop/a").inside, Some(false));
        assert_eq!(unix.place("/home/dev/SHOP/a").inside, Some(false));
    }
}
