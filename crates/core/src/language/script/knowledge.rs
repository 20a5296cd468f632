//! What each language's names mean: which only compute, and which well-known ones do more.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::Lang;
use super::effects::Effect;

mod lists;

/// The names of one language.
#[derive(Debug)]
pub(super) struct Knowledge {
    /// Words and functions that stand alone.
    pub(super) functions: HashSet<&'static str>,
    /// Methods and attributes that only compute, whatever they belong to.
    pub(super) methods: HashSet<&'static str>,
    /// Modules that may be loaded.
    pub(super) modules: HashSet<&'static str>,
    /// Modules of which only the version may be asked.
    pub(super) versioned: HashSet<&'static str>,
    /// What may be taken from a module.
    pub(super) attributes: HashMap<&'static str, HashSet<&'static str>>,
    /// Names that load or compute code.
    pub(super) forbidden: HashSet<&'static str>,
    /// Those of them that make code out of texts.
    pub(super) makers: HashSet<&'static str>,
    /// Modules and global names that reach beyond the program, so that what is not known of them
    /// stays hidden. Without any, nothing unknown counts as ordinary.
    pub(super) reaching: HashSet<&'static str>,
    /// Methods that reach beyond the program on objects of many libraries.
    pub(super) reaching_methods: HashSet<&'static str>,
    /// Calls with effects, by their dotted path.
    pub(super) effects: HashMap<&'static str, Effect>,
    /// Methods with effects on the file their object stands for.
    pub(super) member_effects: HashMap<&'static str, Effect>,
}

impl Knowledge {
    /// Whether a module may be loaded.
    pub(super) fn knows_module(&self, module: &str) -> bool {
        let first = module.split('.').next().unwrap_or(module);
        self.modules.contains(module) || self.versioned.contains(first)
    }

    /// Whether a name or module that is not known may be an ordinary one: the language has a list of
    /// those that are not, and it is not on it.
    pub(super) fn is_ordinary(&self, path: &str) -> bool {
        let reaches = |end: usize| {
            let front = path.get(..end).unwrap_or(path);
            self.reaching.contains(front)
        };
        let ends = path.match_indices(['.', '/']).map(|(at, _)| at);
        !self.reaching.is_empty()
            && !path.starts_with("__")
            && !path.is_empty()
            && !ends.chain([path.len()]).any(reaches)
    }

    /// Whether a method that is not known may be an ordinary one.
    pub(super) fn is_ordinary_method(&self, name: &str) -> bool {
        !self.reaching.is_empty()
            && !name.starts_with("__")
            && !self.reaching_methods.contains(name)
            && !self.forbidden.contains(name)
            && !self.member_effects.contains_key(name)
    }
}

/// The names of `lang`.
pub(super) fn of(lang: Lang) -> &'static Knowledge {
    static PYTHON: LazyLock<Knowledge> = LazyLock::new(|| build(&lists::PYTHON));
    static JAVASCRIPT: LazyLock<Knowledge> = LazyLock::new(|| build(&lists::JAVASCRIPT));
    static PERL: LazyLock<Knowledge> = LazyLock::new(|| build(&lists::PERL));
    static RUBY: LazyLock<Knowledge> = LazyLock::new(|| build(&lists::RUBY));
    static PHP: LazyLock<Knowledge> = LazyLock::new(|| build(&lists::PHP));
    static LUA: LazyLock<Knowledge> = LazyLock::new(|| build(&lists::LUA));
    match lang {
        Lang::Python => &PYTHON,
        Lang::JavaScript => &JAVASCRIPT,
        Lang::Perl => &PERL,
        Lang::Ruby => &RUBY,
        Lang::Php => &PHP,
        Lang::Lua => &LUA,
    }
}

/// The same as [`Knowledge`], as it is written down: words separated by blanks.
pub(super) struct Lists {
    pub(super) functions: &'static str,
    pub(super) methods: &'static str,
    pub(super) modules: &'static str,
    pub(super) versioned: &'static str,
    /// One module per line: its name, a colon, what may be taken from it.
    pub(super) attributes: &'static str,
    pub(super) forbidden: &'static str,
    pub(super) makers: &'static str,
    pub(super) reaching: &'static str,
    pub(super) reaching_methods: &'static str,
    pub(super) effects: &'static [(Effect, &'static str)],
    pub(super) member_effects: &'static [(Effect, &'static str)],
}

fn build(lists: &Lists) -> Knowledge {
    let words = |text: &'static str| text.split_whitespace().collect();
    let by_word = |table: &'static [(Effect, &'static str)]| {
        table
            .iter()
            .flat_map(|(effect, names)| names.split_whitespace().map(|name| (name, *effect)))
            .collect()
    };
    Knowledge {
        functions: words(lists.functions),
        methods: words(lists.methods),
        modules: words(lists.modules),
        versioned: words(lists.versioned),
        attributes: lists
            .attributes
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(module, names)| (module.trim(), words(names)))
            .collect(),
        forbidden: words(lists.forbidden),
        makers: words(lists.makers),
        reaching: words(lists.reaching),
        reaching_methods: words(lists.reaching_methods),
        effects: by_word(lists.effects),
        member_effects: by_word(lists.member_effects),
    }
}
