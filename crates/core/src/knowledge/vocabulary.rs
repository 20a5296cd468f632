//! The vocabulary of the knowledge tables: effects, roles, option styles.
//!
//! The build script reads the tables with the same file, so a misspelt word in a table is a build
//! error that names the row, and a word added here breaks every `match` that must think about it.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$word_doc:meta])* $variant:ident = $word:literal,)*
        $(; $(#[$of_doc:meta])* $of:ident($what:ty) = $of_word:literal)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$word_doc])* $variant,)*
            $($(#[$of_doc])* $of($what),)?
        }

        impl $name {
            /// All words of tables for it.
            pub const WORDS: &'static [&'static str] = &[$($word,)*];

            /// Returns the value a table means by `word`.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }

            /// Returns the word used in tables.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                    $(Self::$of(_) => $of_word,)?
                }
            }
        }
    };
}

words! {
    /// The effect of running something.
    Effect {
        /// Prints something it computes or was given: `echo`, `seq`, `basename`.
        Compute = "compute",
        /// Shows state of the machine or the program: `ps`, `uname`, `--version`.
        Inspect = "inspect",
        /// Reads files.
        Read = "read",
        /// Reads rows, keys or state of a database.
        DbRead = "db_read",
        /// Lists or shows things of a cloud account, cluster or web service.
        CloudRead = "cloud_read",
        /// Loads something over the network without changing anything there.
        NetRead = "net_read",
        /// Creates a file or directory where there was none, or sets its times.
        Create = "create",
        /// Compiles, tests, lints or formats the project.
        Build = "build",
        /// Changes the working copy or the local repository in a way that loses nothing.
        VcsLocal = "vcs_local",
        /// Changes a setting of a tool for this user or project.
        Setting = "setting",
        /// Overwrites, appends to or edits a file.
        Write = "write",
        /// Runs a script or program of the project.
        Project = "project",
        /// Adds packages to the project or the user's tools, from the usual registry.
        Install = "install",
        /// Starts containers, services or servers for development.
        Start = "start",
        /// Adds or changes rows or schema in a way that loses little.
        DbWrite = "db_write",
        /// Publishes commits to a shared repository in the ordinary way.
        VcsRemote = "vcs_remote",
        /// Opens a window, an editor or an interactive program on the person's screen.
        Interactive = "interactive",
        /// Removes packages, images or containers that can be fetched or made again.
        Uninstall = "uninstall",
        /// Ends processes.
        Kill = "kill",
        /// Deletes files.
        Delete = "delete",
        /// Throws away uncommitted work, stashes, branches or reflogs.
        VcsDiscard = "vcs_discard",
        /// Rewrites history that others may have, or deletes branches and tags on a server.
        VcsForce = "vcs_force",
        /// Changes owners, modes or attributes of files.
        Permission = "permission",
        /// Sends data over the network.
        NetSend = "net_send",
        /// Changes something in a cloud account, cluster or web service.
        CloudWrite = "cloud_write",
        /// Deletes or stops something in a cloud account, cluster or web service.
        CloudDelete = "cloud_delete",
        /// Deletes or overwrites data or schema wholesale.
        DbDestroy = "db_destroy",
        /// Changes users, rights or settings of a database.
        DbAdmin = "db_admin",
        /// Releases something to the public: a package, an image, a site.
        Publish = "publish",
        /// Writes to a person or a channel where people read.
        Message = "message",
        /// Moves money or buys something.
        Pay = "pay",
        /// Reads a secret, or prints one.
        Secret = "secret",
        /// Runs code that cannot be seen.
        Exec = "exec",
        /// Acts on another machine.
        Remote = "remote",
        /// Changes the system: packages, users, network, kernel, clock, firewall, boot.
        System = "system",
        /// Stops, restarts or removes a service.
        Control = "control",
        /// Restarts, updates or stops an agent or its gateway.
        Lifecycle = "lifecycle",
        /// Leaves something behind that runs later by itself.
        Persist = "persist",
        /// Raises privileges or weakens a protection.
        Privilege = "privilege",
        /// Changes or stops this firewall, or the permission settings of an agent.
        Guard = "guard",
        /// Halts or restarts the machine.
        Halt = "halt",
        /// Wipes or formats a disk, or destroys what cannot be had back.
        Wipe = "wipe",
        /// Nothing is known.
        Unknown = "unknown",
    }
}

words! {
    /// What a word on the command line stands for.
    Role {
        /// Plain data; it does nothing.
        Text = "text",
        /// A file or directory that is read.
        Read = "read",
        /// A file that is created or overwritten.
        Write = "write",
        /// A file that is emptied or cut short.
        Empty = "empty",
        /// A file that is appended to or changed in place.
        Edit = "edit",
        /// A file or directory that is created if it is not there.
        Create = "create",
        /// A file that is deleted.
        Delete = "delete",
        /// A directory that is deleted with all that is in it.
        DeleteTree = "delete_tree",
        /// A file that is moved away from where it was.
        Move = "move",
        /// A file or directory whose owner, mode or attributes change.
        Permission = "permission",
        /// What a link points to.
        Link = "link",
        /// A mode that a file or directory gets when it is made.
        Mode = "mode",
        /// A directory the command runs in.
        Cwd = "cwd",
        /// A script or program file that is run.
        Script = "script",
        /// The directory or the name of a toolchain whose programs are run.
        Toolchain = "toolchain",
        /// A file or directory whose code or settings a program obeys.
        Load = "load",
        /// A package that is fetched and installed: a name, an address or a directory.
        Package = "package",
        /// Options for the linker, separated by commas.
        Linker = "linker",
        /// A file of variables for the command that runs.
        Variables = "variables",
        /// A program that is run, given as one word or a short command line.
        Program = "program",
        /// This word and all that follow are a command.
        Command = "command",
        /// A text that is given to a shell.
        Shell = "shell",
        /// A text in which a shell expands parameters and substitutions.
        Expanded = "expanded",
        /// Code of a language nothing is known about here.
        Code = "code",
        /// SQL.
        Sql = "sql",
        /// A script for `sed`.
        Sed = "sed",
        /// A program for `awk`.
        Awk = "awk",
        /// A filter for `jq` or `yq`.
        Jq = "jq",
        /// PowerShell.
        PowerShell = "powershell",
        /// The command interpreter of Windows.
        Cmd = "cmd",
        /// JavaScript for the shell `mongosh`.
        Mongo = "mongo",
        /// This word and all that follow are one command of Redis.
        Redis = "redis",
        /// A web address or host that is read from.
        Url = "url",
        /// A web address or host that is written to.
        UrlSend = "url_send",
        /// Where the result of a build goes: a directory, `type=local,dest=…`, `type=registry`.
        Output = "output",
        /// What of this machine a container gets to see: `/host:/inside`, `type=bind,src=/host`.
        Mount = "mount",
        /// Files handed to a build: `id=key,src=file`, `default=file`.
        Handed = "handed",
        /// A value of a web service that may come from a file: `file://x`, `@x`. A row with such an
        /// operand means the values of all its options, too.
        Argument = "argument",
        /// A directory that is shown to everybody who can reach this machine.
        Serve = "serve",
        /// A revision of a repository, or `revision:path` of a file in it.
        Revision = "revision",
        /// `NAME=value` for a build, or a name that only the build understands.
        Define = "define",
        /// A file that is sent away.
        Upload = "upload",
        /// Data that is sent away; `@file` sends a file.
        Send = "send",
        /// `NAME=value` for the environment of what follows.
        Assign = "assign",
        /// A version that may stand before a command: `20`, `lts/*`, `node@22`.
        Release = "release",
        /// A secret given on the command line.
        Password = "password",
        /// A process that is attached to, so that its memory can be read and changed.
        Process = "process",
        /// A disk or partition that is written to.
        Device = "device",
        /// `key=value` of a setting that may name a program to run.
        Config = "config",
        /// The name of an environment variable whose value is printed.
        Variable = "variable",
        /// The name of a task of the project, some of which say that they deploy or destroy; or a
        /// command line, where it begins with a program.
        Task = "task",
        /// The name of a machine that later commands go to.
        Context = "context",
        /// The name of a cluster, workspace or account that later commands go to.
        Target = "target",
        /// A place in a store: `remote:path`, `:backend,option=value:path`, or a path here.
        Store = "store",
        /// The name of a format, or a script that reads or writes one.
        Format = "format",
        /// A file, or a text with fields in it that may hold code: `${name;code}`.
        Template = "template",
        /// A chain of filters for sound or pictures, some of which name files or libraries.
        Filter = "filter",
        /// A name that only the program itself understands, such as a test, target or branch.
        Name = "name",
        /// Nothing is known about it.
        Unknown = "unknown",
        ;
        /// Code of a scripting language that is read. Tables write the name of the language.
        Snippet(Lang) = "snippet"
    }
}

/// A scripting language that is read: its place in the list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lang(pub(crate) u8);

words! {
    /// How a program reads its options.
    Style {
        /// `-abc`, `-ofile`, `--long`, `--long=value`, `--lo` for `--long`, options anywhere.
        Gnu = "gnu",
        /// `-long value` or `-long=value`, one dash or two, no bundles.
        Single = "single",
        /// `key=value` operands, as `dd` has them.
        Pairs = "pairs",
        /// No options at all; every word is an operand.
        Plain = "plain",
        /// `/switch` and `-switch`, as Windows programs have them.
        Slash = "slash",
    }
}

words! {
    /// A hand-written reader, for a command line that a table of options cannot describe.
    Reader {
        /// `alias name=text`.
        Alias = "alias",
        /// `gh api`, `glab api`: the method decides.
        Api = "api",
        /// `cd`, `pushd`, `popd`.
        Cd = "cd",
        /// `chmod`: the mode decides.
        Chmod = "chmod",
        /// A console: what it reads is code.
        Console = "console",
        /// `crontab`: a file, `-`, `-l`, `-r`.
        Crontab = "crontab",
        /// `curl`: method, data and output decide.
        Curl = "curl",
        /// `dd`: `if=` and `of=`.
        Dd = "dd",
        /// `export`, `declare`, `readonly`, `local`: assignments.
        Declare = "declare",
        /// `docker run` and its kin: mounts and privileges decide, then a command in a container.
        Container = "container",
        /// `gdb`, `lldb`: commands of a debugger, which may start the program that is looked at.
        Debugger = "debugger",
        /// `eval`: the words joined are shell text.
        Eval = "eval",
        /// `find`: its own expression language.
        Find = "find",
        /// `fuser`: what uses a file or a port, and ending it.
        Fuser = "fuser",
        /// `git checkout`, `git restore`, `git switch`: paths or a branch.
        GitCheckout = "git_checkout",
        /// `git config`: reading or writing, and keys that run something.
        GitConfig = "git_config",
        /// `git push`: force, delete, mirror, `+ref`, `:ref`.
        GitPush = "git_push",
        /// `http`, `https`, `xh`: method and items.
        Httpie = "httpie",
        /// An interpreter: options, then a script file, code from an option or from standard input.
        Interpreter = "interpreter",
        /// `kill`: the numbers decide.
        Kill = "kill",
        /// `apt install` and its kin: packages by name from sources the machine trusts.
        Packages = "packages",
        /// `uv run`: a command, a Python script, a module, or `-` for code that is read.
        PythonRunner = "python_runner",
        /// `printf`, with `-v`.
        Printf = "printf",
        /// `rm`: what is deleted decides.
        Rm = "rm",
        /// `rsync`: local or remote, `--delete`.
        Rsync = "rsync",
        /// `scp`, `sftp`: local or remote ends.
        Scp = "scp",
        /// A shell: `-c` text, a script file, standard input.
        Shell = "shell",
        /// `source` and `.`.
        Source = "source",
        /// `ssh`: options, a host, then text for a shell there.
        Ssh = "ssh",
        /// `set`: options of the shell.
        Set = "set",
        /// `systemctl` and `service`: verb and unit.
        Systemctl = "systemctl",
        /// `tar`: old-style bundles, and options that run something.
        Tar = "tar",
        /// `trap text signal`.
        Trap = "trap",
        /// `unset`: variables that keep a record.
        Unset = "unset",
        /// `xargs`, `parallel`: a command whose last words come from elsewhere.
        Xargs = "xargs",
    }
}

words! {
    /// A hand-written reader for a call whose arguments a table cannot describe.
    CallReader {
        /// A file and the mode it is opened in.
        Open = "open",
        /// A file, or a directory with everything in it where an option says `recursive`.
        Remove = "remove",
        /// A cmdlet that runs its block, or the member it names, for each object.
        Block = "block",
        /// A cmdlet that runs a block beside others or elsewhere.
        Job = "job",
        /// A cmdlet that makes an object of a type.
        Make = "make",
        /// A command that goes to another directory.
        Enter = "enter",
        /// `set NAME=value`, which shows variables where nothing is set.
        Assign = "assign",
        /// A cmdlet that writes the registry or the attributes of a file.
        Property = "property",
        /// A method of `mongosh` that changes what its filter selects.
        Filter = "filter",
        /// A method of `mongosh` whose arguments say what it does.
        Bulk = "bulk",
        /// A command of Redis that deletes the keys it names.
        Keys = "keys",
        /// A command that also loads code.
        LoadsCode = "loads_code",
        /// `attrib +r file`.
        Attributes = "attributes",
        /// `net user`, `net stop`: the first word decides.
        Net = "net",
        /// `wmic`: its verbs decide.
        Wmic = "wmic",
        /// A tool that takes further orders from its input or a file.
        Orders = "orders",
        /// `robocopy /mir`: may delete what it copies over.
        Mirror = "mirror",
        /// `certutil -urlcache`, `bitsadmin`: options decide.
        Download = "download",
        /// A word in front of another command.
        Prefix = "prefix",
        /// `if condition command`.
        If = "if",
        /// `for … do`, whose parts are commands of their own.
        For = "for",
        /// `start "title" program`.
        Start = "start",
        /// `cmd /c command`.
        Interpreter = "interpreter",
    }
}

words! {
    /// Syntax that only one language has and that therefore has code of its own.
    Syntax {
        /// None: the features describe the language completely.
        Plain = "plain",
        /// Prefixes of strings, f-strings, `import`.
        Python = "python",
        /// Template strings, patterns, `require`, functions as values.
        JavaScript = "javascript",
        /// Quote-like operators, sigils, handles.
        Perl = "perl",
        /// Symbols, `%w[…]`, blocks.
        Ruby = "ruby",
        /// `$name`, interpolation in double quotes.
        Php = "php",
    }
}

words! {
    /// Something that several languages share, or may share with the next one.
    Feature {
        /// `# comment`.
        HashComments = "hash_comments",
        /// `// comment` and `/* comment */`.
        SlashComments = "slash_comments",
        /// `-- comment` and `--[[ comment ]]`.
        DashComments = "dash_comments",
        /// `[[text]]`.
        LongBrackets = "long_brackets",
        /// A string ends on the line it begins on.
        OneLineTexts = "one_line_texts",
        /// `f x` calls `f`.
        BareCalls = "bare_calls",
        /// `value:method()`.
        ColonMembers = "colon_members",
        /// `{key = value}`.
        EqualsKeys = "equals_keys",
        /// A call that names no file reads the standard input.
        ReadsInput = "reads_input",
    }
}
