//! What cmdlets, their aliases and the usual .NET methods mean.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a cmdlet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    Read,
    /// Runs its block for each object; the block is judged by itself.
    Block,
    Write,
    Copy,
    Move,
    Delete,
    /// Writes the registry or a file's attributes.
    SetProperty,
    Fetch,
    Send,
    Start,
    /// Runs the text it is given.
    RunText,
    Hidden,
    Kill,
    Control,
    Persist,
    Privilege,
    Wipe,
}

impl Means {
    /// Whether a computed target leaves open what happens.
    pub(super) fn needs_target(self) -> bool {
        matches!(
            self,
            Self::Write | Self::Copy | Self::Move | Self::Delete | Self::SetProperty | Self::Start
        )
    }
}

/// Cmdlets that are not judged by their verb alone, in lower case.
const CMDLETS: [(Means, &str); 16] = [
    (Means::Block, "foreach-object where-object invoke-with"),
    (
        Means::Read,
        "
        get-content import-csv import-clixml import-powershelldatafile read-host split-path
        join-path resolve-path convert-path out-string out-null out-host out-default out-gridview
        set-location push-location pop-location set-strictmode set-variable new-variable
        remove-variable clear-variable new-object new-timespan new-guid add-member
        start-sleep clear-host wait-process wait-job receive-job set-psdebug
        update-typedata set-psreadlineoption new-psobject exit-pssession
        remove-module export-modulemember
        write-host write-output write-error write-warning write-verbose write-debug
        write-information write-progress debug-job limit-object",
    ),
    (
        Means::Write,
        "
        set-content add-content out-file clear-content new-item export-csv export-clixml tee-object
        start-transcript new-temporaryfile export-certificate export-pfxcertificate mkdir",
    ),
    (Means::Copy, "copy-item compress-archive expand-archive"),
    (Means::Move, "move-item rename-item"),
    (Means::Delete, "remove-item"),
    (
        Means::SetProperty,
        "
        set-itemproperty new-itemproperty remove-itemproperty clear-itemproperty set-item
        clear-item copy-itemproperty move-itemproperty rename-itemproperty",
    ),
    (
        Means::Fetch,
        "invoke-webrequest invoke-restmethod start-bitstransfer save-module save-package",
    ),
    (Means::Send, "send-mailmessage send-mgusermail"),
    (Means::Start, "start-process"),
    (Means::RunText, "invoke-expression"),
    (
        Means::Hidden,
        "
        invoke-command invoke-cimmethod invoke-wmimethod start-job start-threadjob invoke-item
        invoke-history invoke-sqlcmd invoke-azvmruncommand enter-pssession new-pssession
        install-module install-package install-script install-packageprovider update-module
        add-type import-module set-alias new-alias update-help invoke-build invoke-pester trace-command",
    ),
    (Means::Kill, "stop-process stop-job debug-process"),
    (
        Means::Control,
        "
        stop-computer restart-computer stop-service restart-service suspend-service start-service
        resume-service set-service remove-service stop-vm remove-vm restart-vm checkpoint-computer
        restore-computer disable-computerrestore rename-computer add-computer remove-computer
        set-date set-timezone stop-website disable-netadapter restart-netadapter
        clear-dnsclientcache clear-recyclebin remove-printer clear-eventlog remove-eventlog
        limit-eventlog reset-computermachinepassword uninstall-package uninstall-module
        remove-appxpackage uninstall-windowsfeature disable-windowsoptionalfeature",
    ),
    (
        Means::Privilege,
        "
        set-executionpolicy add-mppreference set-mppreference remove-mppreference set-acl
        set-netfirewallprofile new-netfirewallrule set-netfirewallrule disable-netfirewallrule
        remove-netfirewallrule enable-psremoting set-authenticodesignature unblock-file
        disable-bitlocker suspend-bitlocker enable-localuser add-localgroupmember
        remove-localgroupmember set-smbserverconfiguration enable-windowsoptionalfeature
        disable-uac grant-smbshareaccess set-processmitigation",
    ),
    (
        Means::Wipe,
        "
        format-volume clear-disk initialize-disk remove-partition clear-storagediagnosticinfo
        reset-physicaldisk remove-virtualdisk remove-storagepool set-disk resize-partition
        new-partition remove-vmharddiskdrive",
    ),
];

/// Verbs of cmdlets that are not listed.
const VERBS: [(Means, &str); 4] = [
    (
        Means::Read,
        "
        get select where measure test format sort group compare convertto convertfrom convert write
        find resolve show split join out read search wait receive confirm ping assert trace watch",
    ),
    (
        Means::Control,
        "
        remove clear stop restart suspend disable uninstall reset revoke delete dismount unregister
        unpublish block deny disconnect",
    ),
    (
        Means::Persist,
        "
        set new add enable register install update import start publish push deploy grant approve
        rename move copy export save restore mount connect resume unblock initialize edit merge
        sync switch backup checkpoint lock unlock protect unprotect request submit optimize repair",
    ),
    (Means::Hidden, "invoke enter use debug send"),
];

const ALIASES: [(&str, &str); 95] = [
    ("ri", "remove-item"),
    ("rm", "remove-item"),
    ("del", "remove-item"),
    ("erase", "remove-item"),
    ("rd", "remove-item"),
    ("rmdir", "remove-item"),
    ("rp", "remove-itemproperty"),
    ("gci", "get-childitem"),
    ("ls", "get-childitem"),
    ("dir", "get-childitem"),
    ("gc", "get-content"),
    ("cat", "get-content"),
    ("type", "get-content"),
    ("gi", "get-item"),
    ("gp", "get-itemproperty"),
    ("gps", "get-process"),
    ("ps", "get-process"),
    ("gsv", "get-service"),
    ("gcm", "get-command"),
    ("gm", "get-member"),
    ("gv", "get-variable"),
    ("gl", "get-location"),
    ("pwd", "get-location"),
    ("gal", "get-alias"),
    ("ghy", "get-history"),
    ("h", "get-history"),
    ("history", "get-history"),
    ("gwmi", "get-wmiobject"),
    ("gcim", "get-ciminstance"),
    ("gin", "get-computerinfo"),
    ("gcb", "get-clipboard"),
    ("gtz", "get-timezone"),
    ("man", "get-help"),
    ("help", "get-help"),
    ("select", "select-object"),
    ("where", "where-object"),
    ("?", "where-object"),
    ("foreach", "foreach-object"),
    ("%", "foreach-object"),
    ("sort", "sort-object"),
    ("group", "group-object"),
    ("measure", "measure-object"),
    ("compare", "compare-object"),
    ("diff", "compare-object"),
    ("sls", "select-string"),
    ("ft", "format-table"),
    ("fl", "format-list"),
    ("fw", "format-wide"),
    ("fc", "format-custom"),
    ("echo", "write-output"),
    ("write", "write-output"),
    ("oh", "out-host"),
    ("ogv", "out-gridview"),
    ("tee", "tee-object"),
    ("sc", "set-content"),
    ("ac", "add-content"),
    ("clc", "clear-content"),
    ("ni", "new-item"),
    ("md", "mkdir"),
    ("si", "set-item"),
    ("sp", "set-itemproperty"),
    ("cli", "clear-item"),
    ("cp", "copy-item"),
    ("copy", "copy-item"),
    ("cpi", "copy-item"),
    ("mv", "move-item"),
    ("move", "move-item"),
    ("mi", "move-item"),
    ("ren", "rename-item"),
    ("rni", "rename-item"),
    ("cd", "set-location"),
    ("chdir", "set-location"),
    ("sl", "set-location"),
    ("pushd", "push-location"),
    ("popd", "pop-location"),
    ("cls", "clear-host"),
    ("clear", "clear-host"),
    ("sleep", "start-sleep"),
    ("spps", "stop-process"),
    ("kill", "stop-process"),
    ("saps", "start-process"),
    ("start", "start-process"),
    ("spsv", "stop-service"),
    ("sasv", "start-service"),
    ("iex", "invoke-expression"),
    ("icm", "invoke-command"),
    ("ii", "invoke-item"),
    ("iwr", "invoke-webrequest"),
    ("irm", "invoke-restmethod"),
    ("curl", "invoke-webrequest"),
    ("wget", "invoke-webrequest"),
    ("ipmo", "import-module"),
    ("sal", "set-alias"),
    ("nal", "new-alias"),
    ("epcsv", "export-csv"),
];

/// Words of the language that stand where a command may stand.
pub(super) const KEYWORDS: [&str; 24] = [
    "if", "else", "elseif", "for", "foreach", "while", "do", "until", "switch", "try", "catch",
    "finally", "return", "function", "param", "begin", "process", "end", "in", "break", "continue",
    "throw", "exit", "default",
];

/// Parameters of many cmdlets that take no value.
pub(super) const SWITCHES: [&str; 24] = [
    "recurse",
    "force",
    "whatif",
    "confirm",
    "verbose",
    "debug",
    "passthru",
    "asjob",
    "append",
    "nonewline",
    "noclobber",
    "usebasicparsing",
    "hidden",
    "file",
    "directory",
    "wait",
    "nonewwindow",
    "notypeinformation",
    "autosize",
    "unique",
    "descending",
    "raw",
    "quiet",
    "asplaintext",
];

/// What a method of an object or a type does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Computes,
    Reads,
    Writes,
    Deletes,
    Fetches,
    Sends,
    Kills,
}

const METHODS: [(Method, &str); 7] = [
    (
        Method::Computes,
        "
        tostring substring replace split trim trimstart trimend tolower toupper contains startswith
        endswith indexof lastindexof padleft padright insert equals gettype getenumerator count add
        addrange containskey round floor ceiling abs max min pow sqrt truncate parse tryparse
        adddays addhours addminutes addmonths addyears addseconds tostring toarray join format
        concat isnullorempty isnullorwhitespace getenvironmentvariable newguid getbytes getstring
        frombase64string tobase64string combine getfilename getdirectoryname getextension
        getfilenamewithoutextension getfullpath gettemppath exists getfolderpath todatetime
        toint32 todouble match matches ismatch sort reverse where foreach new clone keys values
        tolocaltime touniversaltime compareto gethashcode getname",
    ),
    (
        Method::Reads,
        "readalltext readalllines readallbytes openread readlines opentext",
    ),
    (
        Method::Writes,
        "
        writealltext writealllines writeallbytes appendalltext appendalllines create createtext
        createdirectory openwrite move copy setattributes setaccesscontrol",
    ),
    (Method::Deletes, "delete"),
    (
        Method::Fetches,
        "downloadstring downloaddata downloadfile getasync getstringasync",
    ),
    (
        Method::Sends,
        "uploadstring uploadfile uploaddata postasync putasync send sendasync connect",
    ),
    (Method::Kills, "kill closemainwindow terminate"),
];

/// The tables above by name; a text may hold many thousand names.
static BY_NAME: LazyLock<HashMap<&str, Means>> = LazyLock::new(|| by_word(&CMDLETS));
static BY_VERB: LazyLock<HashMap<&str, Means>> = LazyLock::new(|| by_word(&VERBS));
static BY_ALIAS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| ALIASES.into_iter().collect());
static BY_METHOD: LazyLock<HashMap<&str, Method>> = LazyLock::new(|| by_word(&METHODS));

fn by_word<Meaning: Copy>(
    table: &'static [(Meaning, &'static str)],
) -> HashMap<&'static str, Meaning> {
    table
        .iter()
        .flat_map(|(meaning, names)| names.split_whitespace().map(|name| (name, *meaning)))
        .collect()
}

/// The full name, in lower case, of a cmdlet or alias.
pub(super) fn canonical(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    // A module may be named in front: `Microsoft.PowerShell.Management\Remove-Item`.
    let lower = match lower.rsplit_once('\\') {
        Some((module, name)) if module.starts_with("microsoft.powershell") => name.to_owned(),
        _ => lower,
    };
    match BY_ALIAS.get(lower.as_str()) {
        Some(full) => (*full).to_owned(),
        None => lower,
    }
}

/// Whether a name is short for a cmdlet.
pub(super) fn is_alias(name: &str) -> bool {
    BY_ALIAS.contains_key(name.to_ascii_lowercase().as_str())
}

/// What a name means, if it is a cmdlet or an alias of one.
pub(super) fn find(name: &str) -> Option<Means> {
    let full = canonical(name);
    if let Some(means) = BY_NAME.get(full.as_str()) {
        return Some(*means);
    }
    let (verb, noun) = full.split_once('-')?;
    let is_noun = noun.starts_with(|c: char| c.is_ascii_alphabetic())
        && noun.chars().all(|c| c.is_ascii_alphanumeric());
    if is_noun && (is_pascal_cmdlet(name) || READING_VERBS.contains(&verb)) {
        BY_VERB.get(verb).copied()
    } else {
        None
    }
}

/// Verbs of cmdlets that only read, which are also known in lower case.
const READING_VERBS: [&str; 11] = [
    "get",
    "select",
    "measure",
    "test",
    "sort",
    "group",
    "compare",
    "convertto",
    "convertfrom",
    "where",
    "format",
];

/// Whether this is the full name of a listed cmdlet, in any case.
pub(super) fn is_listed(name: &str) -> bool {
    name.contains('-') && BY_NAME.contains_key(name.to_ascii_lowercase().as_str())
}

/// Whether a name is written like a cmdlet: `Verb-Noun` with capitals and a known verb.
pub(super) fn is_pascal_cmdlet(name: &str) -> bool {
    let Some((verb, noun)) = name.split_once('-') else {
        return false;
    };
    let capital = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
            && part.contains(|c: char| c.is_ascii_lowercase())
    };
    capital(verb) && capital(noun) && BY_VERB.contains_key(verb.to_ascii_lowercase().as_str())
}

/// What a method means, by its lower-case name.
pub(super) fn method(name: &str) -> Option<Method> {
    BY_METHOD.get(name).copied()
}
