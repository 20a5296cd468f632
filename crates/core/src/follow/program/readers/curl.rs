//! `curl`: method, data, destination and attached files.

use super::Line;
use crate::act::Act;
use crate::follow::program::carried::stays_near;
use crate::follow::program::network::is_local_or_registry;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Walk, Writing};
use crate::host::host_kind;
use crate::knowledge::{Effect, HostKind, Role, Value};

impl Walk<'_> {
    /// `curl`: the method, the data and where the answer goes decide.
    pub(crate) fn read_curl(&mut self, line: &Line<'_>) -> Stream {
        self.written_out(line);
        let method = line
            .read
            .value(&["-X", "--request"])
            .map(|value| value.text.to_uppercase());
        self.carried_files(line);
        let as_query = line.read.has(&["-G", "--get"]);
        let sends = !as_query
            && line
                .read
                .hits
                .iter()
                .any(|hit| matches!(hit.flag.value, Value::Next(Role::Send | Role::Upload)));
        let writes = method
            .as_deref()
            .is_some_and(|method| !matches!(method, "GET" | "HEAD" | "OPTIONS"));
        self.led_elsewhere(line, sends || writes);
        if !sends && !writes {
            return self.by_table_without_send(line, as_query);
        }
        let mut taint = line.stdin.taint;
        for url in line
            .read
            .operands
            .iter()
            .copied()
            .chain(line.read.value(&["--url"]))
        {
            self.sends_to(url, line.row.name);
            if method.as_deref() == Some("DELETE") {
                let (host, _) = host_kind(&url.text);
                let effect = if is_local_or_registry(&url.text) && !host.contains('.') {
                    Effect::NetSend
                } else {
                    Effect::CloudDelete
                };
                self.note(
                    Act::new(effect, line.row.name, self.here(url.span))
                        .because("asks a server to delete something")
                        .on(host),
                );
            }
        }
        let local = !line.read.operands.is_empty()
            && line
                .read
                .operands
                .iter()
                .all(|url| matches!(host_kind(&url.text).1, Some((HostKind::Loopback, _))));
        for hit in &line.read.hits {
            if let Some((role, value)) = hit.meaning() {
                let carries = matches!(role, Role::Send | Role::Upload);
                if carries && local && !value.taint.secret {
                    // What is sent to this machine stays on it; the address was judged above. Whoever
                    // answers there still sees the file.
                    let file = value.text.strip_prefix('@').map(|_| value.after(1));
                    let upload = (role == Role::Upload).then(|| value.clone());
                    if let Some(file) = file.or(upload) {
                        self.reads(&file, line.row.name);
                    }
                    continue;
                }
                taint = taint.and(self.role(role, value, line.row, line.stdin, false));
            }
        }
        // A key in a header for a service on this machine does not leave it; a file of keys is read.
        if taint.secret && !local {
            self.leak(line.row, line.span);
        }
        Stream::unknown(Taint {
            network: true,
            ..taint
        })
    }

    /// Judges where options lead the addresses: `--resolve`, `--connect-to` and a proxy give another host
    /// to the same path.
    fn led_elsewhere(&mut self, line: &Line<'_>, sends: bool) {
        let hits = line.read.hits.iter();
        let hosts: Vec<Arg> = hits
            .filter_map(|hit| {
                let value = hit.value.as_ref()?;
                let host = match hit.name {
                    "--resolve" => {
                        let mut parts = value.text.splitn(3, ':');
                        let (_, port, host) = (parts.next()?, parts.next()?, parts.next()?);
                        let host = host.split(',').next().unwrap_or(host);
                        let host = host.trim_matches(['[', ']']);
                        let six = host.contains(':');
                        if six {
                            format!("[{host}]:{port}")
                        } else {
                            format!("{host}:{port}")
                        }
                    }
                    "--connect-to" => {
                        let (front, port) = value.text.rsplit_once(':')?;
                        let host = match front.rfind('[') {
                            Some(at) if front.ends_with(']') => front.get(at..)?,
                            _ => front.rsplit(':').next()?,
                        };
                        format!("{host}:{port}")
                    }
                    "-x" | "--proxy" | "--preproxy" => value.text.clone(),
                    _ => return None,
                };
                Some(Arg {
                    text: host,
                    ..value.clone()
                })
            })
            .take(16)
            .collect();
        for host in hosts {
            for url in line.read.operands.iter().take(16) {
                let rest = url
                    .text
                    .split_once("://")
                    .map_or(url.text.as_str(), |(_, rest)| rest);
                let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("");
                let text = format!("{}{path}", host.text.trim_end_matches('/'));
                self.guards(
                    &Arg {
                        text,
                        ..host.clone()
                    },
                    line.row.name,
                    sends,
                );
            }
        }
    }

    /// Judges the files that `curl -w` names: `%output{file}` is written, `@file` is read.
    fn written_out(&mut self, line: &Line<'_>) {
        let hits = line.read.hits.iter();
        let formats = hits.filter(|hit| matches!(hit.name, "-w" | "--write-out"));
        for format in formats.filter_map(|hit| hit.value.as_ref()) {
            if let Some(file) = format.text.strip_prefix('@') {
                self.reads(&Arg::literal(file, format.span), line.row.name);
            }
            for part in format.text.split("%output{").skip(1).take(16) {
                let file = part.split('}').next().unwrap_or("");
                let file = Arg::literal(file.trim_start_matches('>'), format.span);
                self.writes(&file, line.row.name, Writing::Append);
            }
        }
    }

    /// Judges options that send a file without saying so: `-b file`, `--url-query name@file`.
    fn carried_files(&mut self, line: &Line<'_>) {
        for hit in &line.read.hits {
            let Some(value) = &hit.value else { continue };
            let file = match hit.name {
                "-b" | "--cookie" if !value.text.contains('=') => Some(value.clone()),
                "--url-query" | "--expand-url-query" | "--variable" | "-H" | "--header"
                | "--proxy-header" | "--expand-header" => {
                    self.file_goes_along(hit.name, value, line);
                    continue;
                }
                _ => None,
            };
            // A jar of cookies that the project keeps is there to be sent.
            let own = |file: &Arg| {
                let place = self.ground.place(&file.text);
                place.inside == Some(true) && file.text.contains("cookie")
            };
            if let Some(file) = file.filter(|file| !own(file))
                && self.reads(&file, line.row.name).secret
            {
                self.leak(line.row, line.span);
            }
        }
    }

    /// Judges a value that may name a file or a variable whose content goes along with the request:
    /// `-H @file`, `--url-query name@file`, `--variable %NAME`.
    fn file_goes_along(&mut self, option: &str, value: &Arg, line: &Line<'_>) {
        let named = value.text.split('=').next().unwrap_or("");
        let file = match named.find('@') {
            Some(0) => Some(1),
            Some(at) if !option.ends_with("header") && option != "-H" => Some(at + 1),
            Some(_) | None => None,
        };
        let variable = value
            .text
            .strip_prefix('%')
            .filter(|_| option == "--variable");
        if let Some(at) = file {
            let file = value.after(at);
            if stays_near(line) {
                self.reads(&file, line.row.name);
            } else {
                self.uploads(&file, line.row.name);
            }
        } else if let Some(name) = variable.filter(|_| !stays_near(line)) {
            let name = name.split(['=', '@']).next().unwrap_or(name);
            self.variable_goes_along(name, line);
        }
    }

    fn by_table_without_send(&mut self, line: &Line<'_>, as_query: bool) -> Stream {
        if as_query {
            let mut taint = line.stdin.taint;
            for hit in &line.read.hits {
                if let Some((role, value)) = hit.meaning() {
                    let query = matches!(role, Role::Send | Role::Upload);
                    let tells = value.vague() && value.taint.data && !stays_near(line);
                    if !query || value.text.contains('@') || value.taint.secret || tells {
                        taint = taint.and(self.role(role, value, line.row, line.stdin, false));
                    }
                }
            }
            for url in &line.read.operands {
                taint = taint.and(self.fetches(url, line.row.name));
            }
            return Stream::unknown(Taint {
                network: true,
                ..taint
            });
        }
        self.by_table(line, Effect::NetRead)
    }
}
