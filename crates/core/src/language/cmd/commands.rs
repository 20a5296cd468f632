//! What the commands and tools of Windows mean.

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    Read,
    /// Shows the file it is given.
    Show,
    /// Reads unless one of its words is in the list; then it does this.
    Unless(&'static [&'static str], Otherwise),
    /// Does this unless one of its words is in the list; then it only reads.
    Only(&'static [&'static str], Otherwise),
    Always(Otherwise),
    Delete,
    RemoveDirectory,
    /// Writes its last word.
    WriteLast,
    WriteFirst,
    Move,
    Mirror,
    Fetch,
    RunsCode,
    /// The rest of the words is another command.
    Prefix,
    If,
    For,
    Start,
    Interpreter,
    PowerShell,
}

/// What a command does when it does more than read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Otherwise {
    Control,
    Kill,
    Persist,
    Privilege,
    Wipe,
    WipeAndHide,
}

/// Windows commands; names are written without `.exe`.
pub(super) const COMMANDS: [(&str, Means); 114] = [
    ("dir", Means::Read),
    ("echo", Means::Read),
    ("rem", Means::Read),
    ("ver", Means::Read),
    ("vol", Means::Read),
    ("tree", Means::Read),
    ("cls", Means::Read),
    ("cd", Means::Read),
    ("chdir", Means::Read),
    ("pushd", Means::Read),
    ("popd", Means::Read),
    ("set", Means::Read),
    ("setlocal", Means::Read),
    ("endlocal", Means::Read),
    ("exit", Means::Read),
    ("goto", Means::Read),
    ("title", Means::Read),
    ("color", Means::Read),
    ("prompt", Means::Read),
    ("pause", Means::Read),
    ("timeout", Means::Read),
    ("path", Means::Read),
    ("chcp", Means::Read),
    ("where", Means::Read),
    ("find", Means::Read),
    ("findstr", Means::Read),
    ("sort", Means::Read),
    ("fc", Means::Read),
    ("comp", Means::Read),
    ("hostname", Means::Read),
    ("whoami", Means::Read),
    ("systeminfo", Means::Read),
    ("tasklist", Means::Read),
    ("netstat", Means::Read),
    ("ping", Means::Read),
    ("tracert", Means::Read),
    ("nslookup", Means::Read),
    ("getmac", Means::Read),
    ("driverquery", Means::Read),
    ("gpresult", Means::Read),
    ("quser", Means::Read),
    ("query", Means::Read),
    ("help", Means::Read),
    ("type", Means::Show),
    ("more", Means::Show),
    (
        "ipconfig",
        Means::Unless(
            &["/release", "/renew", "/flushdns", "/registerdns"],
            Otherwise::Control,
        ),
    ),
    (
        "arp",
        Means::Unless(&["-s", "-d", "/s", "/d"], Otherwise::Control),
    ),
    ("route", Means::Only(&["print"], Otherwise::Control)),
    ("date", Means::Only(&["/t"], Otherwise::Control)),
    ("time", Means::Only(&["/t"], Otherwise::Control)),
    (
        "chkdsk",
        Means::Unless(&["/f", "/r", "/x", "/b"], Otherwise::Control),
    ),
    ("sfc", Means::Always(Otherwise::Control)),
    ("dism", Means::Always(Otherwise::Control)),
    (
        "shutdown",
        Means::Only(&["/a", "-a", "/?"], Otherwise::Control),
    ),
    ("logoff", Means::Always(Otherwise::Control)),
    ("tsshutdn", Means::Always(Otherwise::Control)),
    (
        "sc",
        Means::Only(
            &["query", "queryex", "qc", "qdescription", "enumdepend"],
            Otherwise::Control,
        ),
    ),
    (
        "net",
        Means::Only(
            &["view", "statistics", "config", "accounts_", "help", "time_"],
            Otherwise::Control,
        ),
    ),
    ("net1", Means::Always(Otherwise::Control)),
    (
        "netsh",
        Means::Only(&["show", "dump", "help"], Otherwise::Privilege),
    ),
    ("bcdedit", Means::Only(&["/enum", "/?"], Otherwise::Control)),
    ("bootrec", Means::Always(Otherwise::Control)),
    ("taskkill", Means::Always(Otherwise::Kill)),
    ("tskill", Means::Always(Otherwise::Kill)),
    (
        "reg",
        Means::Only(&["query", "compare", "/?"], Otherwise::Persist),
    ),
    ("regedit", Means::Always(Otherwise::Persist)),
    ("regini", Means::Always(Otherwise::Persist)),
    (
        "schtasks",
        Means::Unless(
            &["/create", "/delete", "/change", "/run", "/end"],
            Otherwise::Persist,
        ),
    ),
    ("at", Means::Always(Otherwise::Persist)),
    ("setx", Means::Always(Otherwise::Persist)),
    ("assoc", Means::Read),
    ("ftype", Means::Read),
    ("gpupdate", Means::Always(Otherwise::Persist)),
    ("secedit", Means::Always(Otherwise::Privilege)),
    (
        "auditpol",
        Means::Only(&["/get", "/list"], Otherwise::Privilege),
    ),
    (
        "icacls",
        Means::Unless(
            &[
                "/grant",
                "/deny",
                "/remove",
                "/reset",
                "/setowner",
                "/inheritance",
                "/restore",
                "/setintegritylevel",
                "/grant:r",
            ],
            Otherwise::Privilege,
        ),
    ),
    (
        "cacls",
        Means::Unless(&["/g", "/p", "/d", "/r", "/e"], Otherwise::Privilege),
    ),
    ("takeown", Means::Always(Otherwise::Privilege)),
    ("runas", Means::Always(Otherwise::Privilege)),
    ("cmdkey", Means::Only(&["/list"], Otherwise::Privilege)),
    (
        "wevtutil",
        Means::Unless(
            &["cl", "clear-log", "sl", "set-log", "um", "im"],
            Otherwise::Privilege,
        ),
    ),
    (
        "manage-bde",
        Means::Only(&["-status"], Otherwise::Privilege),
    ),
    ("attrib", Means::Read),
    ("format", Means::Always(Otherwise::Wipe)),
    ("diskpart", Means::Always(Otherwise::WipeAndHide)),
    ("vssadmin", Means::Only(&["list"], Otherwise::Wipe)),
    ("wbadmin", Means::Only(&["get"], Otherwise::Wipe)),
    (
        "cipher",
        Means::Unless(&["/w", "/e", "/d"], Otherwise::Wipe),
    ),
    (
        "fsutil",
        Means::Only(
            &["query", "fsinfo", "queryinfo", "drives", "volumeinfo"],
            Otherwise::Wipe,
        ),
    ),
    ("label", Means::Always(Otherwise::Persist)),
    ("del", Means::Delete),
    ("erase", Means::Delete),
    ("rd", Means::RemoveDirectory),
    ("rmdir", Means::RemoveDirectory),
    ("deltree", Means::RemoveDirectory),
    ("copy", Means::WriteLast),
    ("xcopy", Means::WriteLast),
    ("replace", Means::WriteLast),
    ("expand", Means::WriteLast),
    ("md", Means::WriteFirst),
    ("mkdir", Means::WriteFirst),
    ("mklink", Means::WriteFirst),
    ("move", Means::Move),
    ("ren", Means::Move),
    ("rename", Means::Move),
    ("robocopy", Means::Mirror),
    ("certutil", Means::Fetch),
    ("bitsadmin", Means::Fetch),
    ("call", Means::Prefix),
    ("do", Means::Prefix),
    ("else", Means::Prefix),
    ("if", Means::If),
    ("for", Means::For),
    ("start", Means::Start),
];

/// Programs that run code they load or are given.
pub(super) const RUNNERS: &str = "
    mshta rundll32 regsvr32 cscript wscript msiexec installutil odbcconf forfiles pcalua wmic msbuild
    regasm regsvcs hh presentationhost psexec psexec64 winrs xwizard control ie4uinit bash wsl";
