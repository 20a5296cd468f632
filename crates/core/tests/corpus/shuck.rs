//! What another shell parser sees: the literal first words of all simple commands.

use shuck_ast::{
    ArrayElem, Assignment, AssignmentValue, BuiltinCommand, Command, CompoundCommand, DeclOperand,
    HeredocBodyPart, Redirect, RedirectTarget, Stmt, StmtSeq, Word, WordPart, WordPartNode,
};
use shuck_parser::parser::Parser;

/// Returns the literal first words of `source`, sorted, or `None` if the parser cannot read it.
pub(crate) fn first_words(source: &str) -> Option<Vec<String>> {
    // The parser panics on some texts with zero-width characters.
    let parsed = std::panic::catch_unwind(|| Parser::new(source).parse()).ok()?;
    if !parsed.is_ok() {
        return None;
    }
    let mut seen = Seen {
        source,
        words: Vec::new(),
    };
    seen.sequence(&parsed.file.body);
    seen.words.sort();
    Some(seen.words)
}

struct Seen<'a> {
    source: &'a str,
    words: Vec<String>,
}

impl Seen<'_> {
    fn sequence(&mut self, sequence: &StmtSeq) {
        sequence
            .stmts
            .iter()
            .for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.command {
            Command::Simple(simple) => {
                self.assignments(&simple.assignments);
                let name = simple
                    .name
                    .try_static_text(self.source)
                    .map(std::borrow::Cow::into_owned);
                self.found(name);
                self.word(&simple.name);
                simple.args.iter().for_each(|word| self.word(word));
            }
            Command::Builtin(builtin) => self.builtin(builtin),
            Command::Decl(clause) => {
                self.assignments(&clause.assignments);
                self.found(Some(clause.variant.to_string()));
                for operand in &clause.operands {
                    match operand {
                        DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => self.word(word),
                        DeclOperand::Name(_) => {}
                        DeclOperand::Assignment(assignment) => {
                            self.assignments(std::slice::from_ref(assignment));
                        }
                    }
                }
            }
            Command::Binary(binary) => {
                self.statement(&binary.left);
                self.statement(&binary.right);
            }
            Command::Compound(compound) => self.compound(compound),
            Command::Function(function) => self.statement(&function.body),
            Command::AnonymousFunction(function) => self.statement(&function.body),
        }
        self.redirects(&statement.redirects);
    }

    fn found(&mut self, name: Option<String>) {
        // A command of assignments alone has an empty name.
        self.words.extend(
            name.filter(|name| !name.is_empty())
                .map(|name| name.replace('\\', "")),
        );
    }

    fn builtin(&mut self, builtin: &BuiltinCommand) {
        let (name, assignments, first, rest) = match builtin {
            BuiltinCommand::Break(of) => ("break", &of.assignments, &of.depth, &of.extra_args),
            BuiltinCommand::Continue(of) => {
                ("continue", &of.assignments, &of.depth, &of.extra_args)
            }
            BuiltinCommand::Return(of) => ("return", &of.assignments, &of.code, &of.extra_args),
            BuiltinCommand::Exit(of) => ("exit", &of.assignments, &of.code, &of.extra_args),
        };
        self.assignments(assignments);
        self.found(Some(name.to_owned()));
        first.iter().chain(rest).for_each(|word| self.word(word));
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::If(of) => {
                self.sequence(&of.condition);
                self.sequence(&of.then_branch);
                for (condition, branch) in &of.elif_branches {
                    self.sequence(condition);
                    self.sequence(branch);
                }
                of.else_branch
                    .iter()
                    .for_each(|branch| self.sequence(branch));
            }
            CompoundCommand::For(of) => {
                of.words.iter().flatten().for_each(|word| self.word(word));
                self.sequence(&of.body);
            }
            CompoundCommand::Repeat(of) => self.sequence(&of.body),
            CompoundCommand::Foreach(of) => self.sequence(&of.body),
            CompoundCommand::ArithmeticFor(of) => self.sequence(&of.body),
            CompoundCommand::While(of) => {
                self.sequence(&of.condition);
                self.sequence(&of.body);
            }
            CompoundCommand::Until(of) => {
                self.sequence(&of.condition);
                self.sequence(&of.body);
            }
            CompoundCommand::Case(of) => of.cases.iter().for_each(|case| self.sequence(&case.body)),
            CompoundCommand::Select(of) => {
                of.words.iter().for_each(|word| self.word(word));
                self.sequence(&of.body);
            }
            CompoundCommand::Subshell(of) | CompoundCommand::BraceGroup(of) => self.sequence(of),
            CompoundCommand::Arithmetic(_) | CompoundCommand::Conditional(_) => {}
            CompoundCommand::Time(of) => of
                .command
                .iter()
                .for_each(|statement| self.statement(statement)),
            CompoundCommand::Coproc(of) => self.statement(&of.body),
            CompoundCommand::Always(of) => {
                self.sequence(&of.body);
                self.sequence(&of.always_body);
            }
        }
    }

    fn assignments(&mut self, assignments: &[Assignment]) {
        for assignment in assignments {
            match &assignment.value {
                AssignmentValue::Scalar(word) => self.word(word),
                AssignmentValue::Compound(array) => {
                    for element in &array.elements {
                        match element {
                            ArrayElem::Sequential(value)
                            | ArrayElem::Keyed { value, .. }
                            | ArrayElem::KeyedAppend { value, .. } => self.word(&value.word),
                        }
                    }
                }
            }
        }
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match &redirect.target {
                RedirectTarget::Word(word) => self.word(word),
                RedirectTarget::Heredoc(document) => {
                    for part in &document.body.parts {
                        if let HeredocBodyPart::CommandSubstitution { body, .. } = &part.kind {
                            self.sequence(body);
                        }
                    }
                }
            }
        }
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[WordPartNode]) {
        for part in parts {
            if let WordPart::CommandSubstitution { body, .. }
            | WordPart::ProcessSubstitution { body, .. } = &part.kind
            {
                self.sequence(body);
            } else if let WordPart::DoubleQuoted { parts, .. } = &part.kind {
                self.parts(parts);
            }
        }
    }
}
