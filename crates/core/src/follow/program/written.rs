//! Tracks what this script and earlier calls wrote to files, for when they run.

use super::Line;
use super::foreign::is_no_file;
use super::options::{Hit, Options};
use super::recipes::is_recipe;
use super::roles::operand_roles;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::Walk;
use crate::knowledge::names::{
    COPYING_PROGRAMS, PASSING_ON, PATCHING_PROGRAMS, SPLITTING_PROGRAMS,
};
use crate::knowledge::{Effect, PathKind, Role, Value};
use crate::language::compiled;
use crate::written::{Content, Files, Wanted, name, parent};

/// Where the system keeps what is true only while it runs.
const RUNNING_PLACES: &[&str] = &["/run/", "/var/run/", "/proc/", "/sys/"];

impl Walk<'_> {
    /// Remembers what this text writes into a file, for when it runs that file.
    pub(crate) fn remember_file(&mut self, arg: &Arg, stream: Stream) {
        if let Some(text) = &stream.text {
            self.heed_settings(arg, text);
        }
        if !self.memory.has_lost_files() {
            let place = self.ground.place(&arg.text);
            if is_recipe(&place.path) {
                self.memory.wrote_recipe();
            }
            let outside = place.inside == Some(false);
            if stream.taint.network && !place.whole_workspace {
                self.brings(&place, arg.span);
            }
            self.memory.write(place.path, stream, outside);
        }
    }

    /// Remembers what this text adds to a file, behind what it has written there before.
    pub(crate) fn remember_added(&mut self, arg: &Arg, stream: &Stream) {
        let path = self.ground.place(&arg.text).path;
        let held = self.may_hold(&path);
        if let Some(text) = stream.text.as_deref().filter(|_| held.is_empty()) {
            self.heed_settings(arg, text);
        }
        if held.is_empty() {
            // What was there before is not known, so neither is the whole.
            let taint = stream.taint;
            self.remember_file(arg, Stream::unknown(taint));
        }
        for mut before in held {
            before.append(stream.clone());
            self.remember_file(arg, before);
        }
    }

    /// Remembers that files were loaded from the network, by the names they get.
    pub(crate) fn remember_downloads(&mut self, read: &Options<'_>, stream: &Stream) {
        for hit in &read.hits {
            if hit.flag.value == Value::Next(Role::Write)
                && let Some(value) = &hit.value
            {
                self.remember_file(value, stream.clone());
            }
        }
        for operand in read
            .operands
            .iter()
            .filter(|operand| operand.text.contains("://"))
            .take(16)
        {
            let name = operand
                .text
                .rsplit('/')
                .next()
                .unwrap_or("")
                .split('?')
                .next()
                .unwrap_or("");
            if !name.is_empty() {
                self.remember_file(&Arg::literal(name, operand.span), stream.clone());
            }
        }
    }

    /// Returns everything the file at `path` may hold, if this text or an earlier call wrote it.
    pub(crate) fn may_hold(&mut self, path: &str) -> Vec<Stream> {
        let path = self
            .memory
            .behind_link(path)
            .unwrap_or_else(|| path.to_owned());
        let held = self.held(&path);
        self.memory.want(Wanted::File(path));
        held
    }

    /// Returns what was found out about files. What a link leads to may change by itself.
    pub(crate) fn into_files(self) -> Files {
        self.memory.into_files()
    }

    /// Remembers what a command has written into the files it names.
    pub(super) fn remember_written(&mut self, line: &Line<'_>, base: Effect) {
        let unseen = Stream::unknown(Taint {
            network: line.stdin.taint.network,
            ..Taint::default()
        });
        self.remember_links(line);
        self.remember_moved(line);
        self.remember_environment(line);
        self.remember_made(line);
        self.remember_pieces(line, &unseen);
        let passes = PASSING_ON.contains(line.row.name);
        let adds = line.read.has(&["-a", "--append"]);
        let roles = operand_roles(line.row, line.read);
        let copies = COPYING_PROGRAMS.contains(line.row.name);
        // What a compiler makes of the project's sources is the project's own.
        let converts = matches!(
            base,
            Effect::Compute | Effect::Read | Effect::Write | Effect::Secret | Effect::Inspect
        );
        if PATCHING_PROGRAMS.contains(line.row.name)
            && let Some(text) = &line.stdin.text
        {
            for (path, _) in crate::follow::patch::read(text).files {
                self.remember_file(&Arg::literal(path, line.span), unseen.clone());
            }
        }
        let edits = |hit: &Hit| hit.edits_in_place() || hit.flag.effects.contains(&Effect::Write);
        let edits = line.read.hits.iter().any(edits);
        let operands = line.read.operands.iter().copied().zip(roles);
        for (operand, role) in operands {
            let edited = role == Some(Role::Edit) || edits && role == Some(Role::Read);
            if edited && converts {
                self.heed_edit(operand, line.args);
                self.remember_file(operand, unseen.clone());
            }
            if role != Some(Role::Write) || !(converts || passes || copies) {
                continue;
            }
            if passes && adds {
                self.remember_added(operand, line.stdin);
            } else if passes {
                self.remember_file(operand, line.stdin.clone());
            } else if copies {
                self.remember_copy(line, operand);
            } else {
                self.remember_file(operand, unseen.clone());
            }
        }
        if base == Effect::Build {
            self.remember_built(line);
        }
        for hit in line.read.hits.iter().filter(|_| converts) {
            if let Some((Role::Write, file)) = hit.meaning() {
                self.remember_file(file, unseen.clone());
            }
        }
    }

    /// Remembers the file outside the workspace that a build puts its result into, if all it is made
    /// of is the project's own, or was seen.
    fn remember_built(&mut self, line: &Line<'_>) {
        let here = self.place(".");
        let own_directory = here.inside == Some(true) || self.is_owners(&here);
        let mut outputs = Vec::new();
        let mut sources: Vec<&Arg> = line.read.operands.clone();
        for (role, value) in line.read.hits.iter().filter_map(Hit::meaning) {
            if role == Role::Write {
                outputs.push(value);
            } else if matches!(role, Role::Read | Role::Load | Role::Script | Role::Cwd) {
                sources.push(value);
            }
        }
        let named = line.read.unknown.is_none() && !line.stdin.connected;
        if outputs.is_empty() || !named || !own_directory || !self.knows.trusts_workspace {
            return;
        }
        let mut own = |source: &&Arg| {
            let place = self.place(&source.text);
            let named = !is_no_file(&source.text) && source.text != "-";
            let inside = place.inside == Some(true) && !place.vague && named;
            (inside || self.is_seen(&place)) && self.sources_compute(&place.path)
        };
        let own = sources.iter().all(&mut own) && self.sources_compute(&here.path);
        if !own || line.args.iter().any(|arg| self.joins_foreign(arg)) {
            return;
        }
        for output in outputs {
            let place = self.place(&output.text);
            if place.inside == Some(false) && !place.vague {
                self.memory.build(place.path);
            }
        }
    }

    /// Whether the source at `path`, and those right in it if it is a directory, only compute as far
    /// as the agent wrote them. What else lies there is the project's.
    fn sources_compute(&mut self, path: &str) -> bool {
        self.memory.want(Wanted::File(path.to_owned()));
        self.memory.want(Wanted::Directory(path.to_owned()));
        let before = self.knows.written.within(path).map(|(file, _)| file);
        let now = self.memory.paths().filter(|file| parent(file) == path);
        let mut files: Vec<String> = before.chain(now).map(str::to_owned).collect();
        files.retain(|file| compiled::is_source(file));
        files.push(path.to_owned());
        files.iter().all(|file| {
            let inside = self.ground.place(file).inside == Some(true);
            let read = if inside {
                compiled::read
            } else {
                compiled::read_outside
            };
            self.held(file).iter().all(|held| {
                let reading = held.text.as_deref().map(|text| read(file, text));
                let computes = reading
                    .is_some_and(|reading| reading.is_some_and(|reading| reading.hidden.is_none()));
                computes && !held.taint.network
            })
        })
    }

    /// Whether a path from outside the workspace is part of an option: `-I/tmp/x`. Results go elsewhere
    /// by options, too.
    fn joins_foreign(&mut self, arg: &Arg) -> bool {
        let is_output = ["-o", "--output", "--out"]
            .iter()
            .any(|name| arg.text.starts_with(name));
        let path = arg
            .text
            .find(['/', '.', '~'])
            .and_then(|at| arg.text.get(at..));
        let Some(path) = path.filter(|_| arg.text.starts_with('-') && !is_output) else {
            return false;
        };
        let place = self.place(path);
        place.inside == Some(false) && place.kind != PathKind::System
    }

    /// Remembers the files that `split` and `csplit` write: all that begin with a name.
    fn remember_pieces(&mut self, line: &Line<'_>, stream: &Stream) {
        let Some((_, usual)) = SPLITTING_PROGRAMS
            .iter()
            .find(|(name, _)| *name == line.row.name)
        else {
            return;
        };
        let second = line.read.operands.get(1).copied();
        let given = line.read.value(&["-f", "--prefix"]);
        let given = given.or(second.filter(|_| line.row.name == "split"));
        let begins = given.map_or(*usual, |given| given.text.as_str());
        let mut path = self.ground.place(begins).path;
        if begins.ends_with('/') {
            path.push('/');
        }
        self.memory.write_all(&path, stream.clone());
    }

    /// Remembers that files of the directory `source` which earlier calls wrote are in `target`, too,
    /// or in a directory of the same name there.
    fn remember_copied_directory(&mut self, source: &str, target: &Arg) {
        self.memory.want(Wanted::Directory(source.to_owned()));
        let held = self.knows.written.within(source);
        let held: Vec<(String, Vec<Content>)> = held
            .map(|(path, contents)| (name(path).to_owned(), contents.to_vec()))
            .collect();
        let below = target.text.trim_end_matches('/');
        for (file, contents) in held {
            for place in [
                format!("{below}/{file}"),
                format!("{below}/{}/{file}", name(source)),
            ] {
                let place = Arg::literal(place, target.span);
                for content in &contents {
                    self.remember_file(&place, content.into());
                }
            }
        }
    }

    /// Remembers that `target` holds what the other operands held. The project's own files stay
    /// that wherever they are copied to.
    fn remember_copy(&mut self, line: &Line<'_>, target: &Arg) {
        for source in line.read.operands.iter().take(16) {
            if source.text == target.text {
                continue;
            }
            let place = self.ground.place(&source.text);
            // What the system keeps while it runs says something else every time.
            let running = RUNNING_PLACES
                .iter()
                .any(|known| place.path.starts_with(known));
            let foreign =
                place.inside == Some(false) && (place.kind != PathKind::System || running);
            let mut held = self.may_hold(&place.path);
            if held.is_empty() && foreign {
                held.push(Stream::unknown(Taint::default()));
            }
            self.remember_copied_directory(&place.path, target);
            self.brings_copy(&place, target);
            let name = source.text.rsplit('/').next().unwrap_or("");
            let inside = format!("{}/{name}", target.text.trim_end_matches('/'));
            let inside = Arg::literal(inside, source.span);
            if let Some(stream) = one_of(held) {
                self.remember_file(&inside, stream.clone());
                self.remember_file(target, stream);
            }
        }
    }
}

/// Returns the only thing that is held; where there are several, nobody knows which it is.
fn one_of(mut held: Vec<Stream>) -> Option<Stream> {
    let last = held.pop()?;
    if held.iter().all(|stream| *stream == last) {
        return Some(last);
    }
    Some(Stream::unknown(Taint::default()))
}
