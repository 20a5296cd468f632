//! Reads the files that a call would run before it is judged, and compares them before it runs.

use std::path::{Path, PathBuf};

use countersign_core::call::ToolCall;
use countersign_core::digest::Digest;
use countersign_core::judge::files_of;
use countersign_core::place::{display, normalise};
use countersign_core::written::{CONTENT_BYTES_MAX, Wanted};
use countersign_gate::calls::permit::Presented;
use countersign_gate::records::request::OnDisk;
use countersign_gate::reviews::Held;

use super::place::Spot;
use super::{ATTACHMENT_BYTES_MAX, blocking};

/// The hash of a file that cannot be read: a link, no file, too large.
const UNREADABLE: Digest = Digest([0; 32]);

/// Returns the files that `call` names to be run, as they are now.
pub(crate) async fn looked_at(call: &ToolCall) -> Vec<OnDisk> {
    let Some(cwd) = call.cwd.clone() else {
        return Vec::new();
    };
    let paths = files_of(call).wanted.into_iter().filter_map(|it| match it {
        Wanted::File(path) => Some(path),
        Wanted::Directory(_) => None,
    });
    let paths: Vec<String> = paths.collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let looking = move || {
        let files = paths.iter().filter_map(|path| look(Path::new(&cwd), path));
        Ok(files.collect())
    };
    blocking(looking).await.unwrap_or_default()
}

/// Whether the files that `action` was bound to are still what they were; or what to tell.
pub(crate) async fn check_unchanged(action: &Presented) -> Result<(), String> {
    if action.attachments.is_empty() {
        return Ok(());
    }
    let call = ToolCall {
        tool: action.tool.clone(),
        args: action.args.clone(),
        cwd: action.cwd.clone(),
        ..ToolCall::default()
    };
    let now = looked_at(&call).await;
    let is_there = |digest: &Digest| now.iter().any(|file| file.digest == *digest);
    if action.attachments.iter().all(is_there) {
        return Ok(());
    }
    Err(
        "A file that this command runs has changed since the command was judged. Nothing was run. \
         Ask again to have it judged as it is now."
            .to_owned(),
    )
}

fn look(cwd: &Path, path: &str) -> Option<OnDisk> {
    let held = Spot::find(&place_of(cwd, path)?).and_then(|spot| match spot {
        Some(spot) => spot.read(ATTACHMENT_BYTES_MAX),
        None => Ok(Held::Absent),
    });
    let (content, digest) = match held {
        Ok(Held::Absent) => return None,
        Ok(Held::File { content, .. }) => {
            let digest = Digest::of(&content);
            let text = String::from_utf8(content).ok();
            (text.filter(|it| it.len() <= CONTENT_BYTES_MAX), digest)
        }
        Err(_) => (None, UNREADABLE),
    };
    Some(OnDisk {
        path: path.to_owned(),
        content,
        digest,
    })
}

/// Returns where a path of the judge's lies. The judge writes `~` for every home, so below one only
/// what lies in the working directory can be told.
pub(super) fn place_of(cwd: &Path, path: &str) -> Option<PathBuf> {
    let here = display(&normalise(&cwd.to_string_lossy()));
    if let Some(rest) = path.strip_prefix(&here).and_then(|it| it.strip_prefix('/')) {
        return Some(cwd.join(rest));
    }
    path.starts_with('/').then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_the_judge_is_found_again() {
        let cwd = Path::new("/home/dev/project");
        let rows = [
            ("~/project/a/x.py", Some("/home/dev/project/a/x.py")),
            ("/srv/x.py", Some("/srv/x.py")),
            ("~/other/x.py", None),
            ("x.py", None),
        ];
        for (path, want) in rows {
            assert_eq!(place_of(cwd, path), want.map(PathBuf::from), "{path}");
        }
    }
}
