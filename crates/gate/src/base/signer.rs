//! The signing key of tokens and checkpoints. The private half never leaves this machine.
//!
//! The file is text, readable by its owner only. The first line is the seed of the current key, 32
//! bytes in base64. Every other line is `previous PUBLIC UNTIL`: the public half of a key that no
//! longer signs, and the Unix second until which it is published. A private half that is not used
//! any more is not kept.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::digest::Digest;
use countersign_core::ledger::checkpoint;
use countersign_core::ledger::head::{self, Head};
use countersign_core::time::UnixMillis;
use countersign_core::token::{self, Claims, PublicKey};
use ed25519_dalek::{SigningKey, VerifyingKey};
use serde_json::Value;
use zeroize::Zeroizing;

/// How long a key is published after it signed for the last time: twice what a token lives.
pub(crate) const PUBLISHED_SECONDS: i64 = 600;
/// Longest key file that is read.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// A signing key, and the public halves of those before it.
#[derive(Clone)]
pub struct Signer {
    key: SigningKey,
    previous: Vec<Previous>,
}

#[derive(Clone)]
struct Previous {
    key: PublicKey,
    until: i64,
}

impl Signer {
    /// Returns the signer of this seed.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self {
            key: SigningKey::from_bytes(&seed),
            previous: Vec::new(),
        }
    }

    /// Returns the signer kept in `file`, which is made, readable by its owner only, if it is not
    /// there. A file that others can read is refused.
    pub fn load_or_create(file: &Path) -> io::Result<Self> {
        match Self::load(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            loaded => return loaded,
        }
        let fresh = Self::generate()?;
        let draft = fresh.write_beside(file)?;
        // A link, unlike a rename, does not replace a key that somebody else made meanwhile.
        let linked = fs::hard_link(&draft, file);
        fs::remove_file(&draft)?;
        match linked {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Self::load(file),
            Err(error) => return Err(error),
        }
        sync_folder(file)?;
        Ok(fresh)
    }

    /// Puts a new key into `file`. The one before signs no more, but is still published for ten
    /// minutes, so that its tokens live to their end.
    pub fn rotate(file: &Path, now: UnixMillis) -> io::Result<Self> {
        let old = Self::load(file)?;
        let mut fresh = Self::generate()?;
        fresh.previous.push(Previous {
            key: old.public(),
            until: now.seconds() + PUBLISHED_SECONDS,
        });
        let still = |previous: &Previous| previous.until > now.seconds();
        fresh
            .previous
            .extend(old.previous.into_iter().filter(still));
        let draft = fresh.write_beside(file)?;
        fs::rename(&draft, file)?;
        sync_folder(file)?;
        Ok(fresh)
    }

    /// Returns the public half.
    pub fn public(&self) -> PublicKey {
        PublicKey::new(self.key.verifying_key())
    }

    /// Returns every key under which a token may be alive at `now`, the current one first.
    pub fn published(&self, now: UnixMillis) -> Vec<PublicKey> {
        let previous = self.previous.iter();
        let still = previous.filter(|previous| previous.until > now.seconds());
        std::iter::once(self.public())
            .chain(still.map(|previous| previous.key.clone()))
            .collect()
    }

    /// Returns the token that says `claims`.
    pub fn sign_token(&self, claims: &Claims) -> String {
        token::mint(claims, &self.key)
    }

    /// Returns the body of the checkpoint that says entry `seq` of the ledger has this `hash`.
    pub fn sign_checkpoint(&self, seq: u64, hash: Digest) -> Value {
        checkpoint::sign_checkpoint(seq, hash, &self.key)
    }

    /// Returns `head` signed, to be kept.
    pub fn sign_head(&self, head: Head) -> Value {
        head::sign_head(head, &self.key)
    }

    /// Returns every key that is remembered, whether it is still published or not.
    pub(crate) fn every(&self) -> Vec<PublicKey> {
        let previous = self.previous.iter().map(|previous| previous.key.clone());
        std::iter::once(self.public()).chain(previous).collect()
    }

    fn generate() -> io::Result<Self> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut_slice()).map_err(io::Error::other)?;
        Ok(Self::from_seed(*seed))
    }

    fn load(file: &Path) -> io::Result<Self> {
        let handle = File::open(file)?;
        // Asked of the open file, so that nobody can exchange it in between.
        let about = handle.metadata()?;
        let refused = |why: &str| {
            let message = format!("the signing key {} {why}", file.display());
            io::Error::new(io::ErrorKind::PermissionDenied, message)
        };
        if !about.is_file() {
            return Err(refused("is not a file"));
        }
        if about.uid() != rustix::process::geteuid().as_raw() {
            return Err(refused("belongs to another user, who can read it"));
        }
        if about.mode() & 0o077 != 0 {
            return Err(refused(
                "can be read by other users; make it private with `chmod 600`, then rotate it",
            ));
        }
        let mut text = Zeroizing::new(String::new());
        handle.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
        Self::parse(&text).ok_or_else(|| {
            let message = format!("the signing key {} cannot be read", file.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut signer = Self::from_seed(*bytes(lines.next()?)?);
        for line in lines {
            let mut words = line.strip_prefix("previous ")?.split(' ');
            let key = VerifyingKey::from_bytes(&*bytes(words.next()?)?).ok()?;
            signer.previous.push(Previous {
                key: PublicKey::new(key),
                until: words.next()?.parse().ok()?,
            });
            if words.next().is_some() {
                return None;
            }
        }
        Some(signer)
    }

    fn written(&self) -> Zeroizing<String> {
        let previous = self.previous.iter().map(|Previous { key, until }| {
            let public = STANDARD.encode(key.key.as_bytes());
            format!("previous {public} {until}\n")
        });
        let seed = Zeroizing::new(STANDARD.encode(self.key.as_bytes()));
        let rest: String = previous.collect();
        // One piece of memory, so that no copy of the seed is left behind.
        Zeroizing::new([seed.as_str(), "\n", &rest].concat())
    }

    /// Writes the key to a new file in the folder of `file` and returns its path.
    fn write_beside(&self, file: &Path) -> io::Result<PathBuf> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{:016x}", u64::from_be_bytes(random)));
        let draft = file.with_file_name(name);
        let mut handle = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)?;
        handle.write_all(self.written().as_bytes())?;
        handle.sync_all()?;
        Ok(draft)
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer")
            .field("kid", &self.public().kid)
            .finish_non_exhaustive()
    }
}

fn bytes(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let bytes = Zeroizing::new(STANDARD.decode(text).ok()?);
    Some(Zeroizing::new(bytes.as_slice().try_into().ok()?))
}

/// Makes the name of `file` survive a loss of power.
pub(crate) fn sync_folder(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("signing.key");
        (folder, file)
    }

    #[test]
    fn a_key_is_made_once_and_found_again() {
        let (folder, file) = file();
        let made = Signer::load_or_create(&file).unwrap();
        let found = Signer::load_or_create(&file).unwrap();
        assert_eq!(made.public(), found.public());
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft");
    }

    #[test]
    fn everybody_who_comes_at_once_gets_the_same_key() {
        let (_folder, file) = file();
        let kids: Vec<String> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| Signer::load_or_create(&file).unwrap().public().kid))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(kids.iter().all(|kid| *kid == kids[0]), "{kids:?}");
    }

    #[test]
    fn a_file_others_can_read_is_refused() {
        let (_folder, file) = file();
        Signer::load_or_create(&file).unwrap();
        for mode in [0o640, 0o604, 0o660, 0o601] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let error = Signer::load_or_create(&file).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{mode:o}");
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_no_key_is_refused_and_left_alone() {
        let (_folder, file) = file();
        Signer::load_or_create(&file).unwrap();
        let seed = STANDARD.encode([7; 32]);
        let rows = [
            ("empty", String::new()),
            ("short", STANDARD.encode([7; 31])),
            ("not base64", "?".repeat(44)),
            ("more than a key", format!("{seed}\nnext")),
            ("half a previous key", format!("{seed}\nprevious {seed}")),
        ];
        for (name, text) in rows {
            fs::write(&file, &text).unwrap();
            let error = Signer::load_or_create(&file).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{name}");
            assert!(!error.to_string().contains(&seed), "{name}: {error}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text, "{name}");
        }
    }

    #[test]
    fn the_key_before_is_published_for_ten_minutes_and_its_private_half_is_gone() {
        let (folder, file) = file();
        let first = Signer::load_or_create(&file).unwrap();
        let start = UnixMillis(1_000_000_000);
        let second = Signer::rotate(&file, start).unwrap();
        let third = Signer::rotate(&file, start.plus(300_000)).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        for gone in [&first, &second] {
            assert!(!text.contains(&STANDARD.encode(gone.key.as_bytes())));
        }
        let found = Signer::load_or_create(&file).unwrap();
        let rows = [
            (301, vec![&third, &second, &first]),
            (599, vec![&third, &second, &first]),
            (600, vec![&third, &second]),
            (900, vec![&third]),
        ];
        for (seconds, expected) in rows {
            let expected: Vec<PublicKey> = expected.into_iter().map(Signer::public).collect();
            let at = start.plus(seconds * 1000);
            assert_eq!(found.published(at), expected, "after {seconds} s");
        }
        let last = Signer::rotate(&file, start.plus(10_000_000)).unwrap();
        assert_eq!(last.previous.len(), 1, "what is over is dropped");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft");
    }

    #[test]
    fn the_key_is_never_shown() {
        let signer = Signer::from_seed([7; 32]);
        let shown = format!("{signer:?}");
        assert_eq!(
            shown,
            format!("Signer {{ kid: {:?}, .. }}", signer.public().kid)
        );
    }
}
