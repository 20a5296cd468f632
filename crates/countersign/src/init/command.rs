//! The command line that an agent runs as its hook.
//!
//! Many agents run the tool when their hook crashes, is missing or prints nothing. The guarded form
//! is a small shell script that turns each of these into exit code 2 with a reason, which is a deny.
//! It names `/bin/sh` itself, because some agents use the person's own shell, which may not read it.

use serde_json::{Value, json};

use super::Place;

/// What the agent is told when the hook gives no usable answer. No quotes: it stands inside some.
const NO_ANSWER: &str =
    "Countersign gave no answer, so this was not run. To find out why: countersign doctor";

/// How the hook's standard output and exit code look when it answered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answers {
    /// An object. Standard error and the exit code alone deny as well.
    Object,
    /// An object. Agents that show the model nothing but an object are given a denial with these
    /// keys for the decision, which is `deny`, and for the reason.
    ObjectAlone(&'static str, &'static [&'static str]),
    /// An object, or nothing, which allows.
    ObjectOrNothing,
}

impl Place {
    /// Returns the command that runs the hook of `agent`.
    pub(crate) fn hook(&self, agent: &str) -> String {
        let mut command = format!("{} hook {agent}", quoted(&self.program));
        if !self.is_usual_home() {
            command.push_str(" --home ");
            command.push_str(&quoted(&self.directory));
        }
        command
    }

    /// Returns the command that runs the hook of `agent` and denies if that gives no answer.
    pub(crate) fn guarded_hook(&self, agent: &str, answers: Answers) -> String {
        let hook = self.hook(agent);
        let usable = match answers {
            Answers::Object | Answers::ObjectAlone(..) => "[02]:{*}",
            Answers::ObjectOrNothing => "0:|[02]:{*}",
        };
        let denial = match answers {
            Answers::Object | Answers::ObjectOrNothing => String::new(),
            Answers::ObjectAlone(decision, reasons) => {
                let mut denial = json!({ decision: "deny" });
                if let Some(denial) = denial.as_object_mut() {
                    denial.extend(
                        reasons
                            .iter()
                            .map(|it| ((*it).to_owned(), NO_ANSWER.into())),
                    );
                }
                printed(&denial)
            }
        };
        let script = format!(
            "o=$({hook}); c=$?; case $c:$o in {usable}) [ -z \"$o\" ] || printf \"%s\\n\" \"$o\"; exit $c;; esac; \
             {denial}echo \"{NO_ANSWER}\" >&2; exit 2"
        );
        format!("/bin/sh -c {}", quoted(&script))
    }
}

/// Returns the shell's words that print `value`, which holds nothing that the shell expands.
pub(crate) fn printed(value: &Value) -> String {
    let text = value.to_string().replace('"', "\\\"");
    format!("printf \"%s\\n\" \"{text}\"; ")
}

/// Whether `command` runs our hook for `agent`, in any form, from anywhere.
pub(crate) fn is_ours(command: &str, agent: &str) -> bool {
    let words = format!(" hook {agent}");
    let mut after = command.split(words.as_str()).skip(1);
    let is_whole =
        after.any(|rest| !rest.starts_with(|it: char| it == '-' || it.is_alphanumeric()));
    is_whole && command.to_lowercase().contains("countersign")
}

/// Returns `word` as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./:=@%+,".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn our_command_is_told_from_others() {
        let rows = [
            ("/usr/bin/countersign hook codex", true),
            ("'/opt/my tools/countersign' hook codex --home /x", true),
            ("sh -c 'o=$(/usr/bin/countersign hook codex); …'", true),
            ("countersign hook codex-next", false),
            ("/usr/bin/guard hook codex", false),
            ("echo countersign", false),
        ];
        for (command, expected) in rows {
            assert_eq!(is_ours(command, "codex"), expected, "{command}");
        }
    }

    /// Runs the guarded command with a hook that does `body`.
    fn guarded(body: Option<&str>, answers: Answers) -> (i32, String, String) {
        let folder = tempfile::Builder::new()
            .prefix("it's a countersign ")
            .tempdir()
            .unwrap();
        let program = folder.path().join("countersign");
        if let Some(body) = body {
            std::fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let place = Place::made_up(folder.path(), program.to_str().unwrap());
        let mut child = Command::new("sh")
            .args(["-c", &place.guarded_hook("gemini", answers)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A hook that ends at once may not read it.
        let _told = child.stdin.take().unwrap().write_all(b"{\"a\":1}");
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    #[test]
    fn whatever_the_hook_does_the_guarded_command_answers_or_denies() {
        let object = Answers::Object;
        let either = Answers::ObjectOrNothing;
        let alone = Answers::ObjectAlone("decision", &["reason"]);
        let denial = &format!("{}\n", json!({ "decision": "deny", "reason": NO_ANSWER }));
        let allow = "echo '{\"decision\":\"allow\"}'";
        let deny = "echo '{\"decision\":\"deny\"}'; echo because >&2; exit 2";
        #[rustfmt::skip]
        let rows = [
            ("allows", Some(allow), object, 0, "{\"decision\":\"allow\"}\n", ""),
            ("denies", Some(deny), object, 2, "{\"decision\":\"deny\"}\n", "because\n"),
            ("reads its input", Some("read -r it; echo \"{\\\"decision\\\":$it}\""), object, 0, "{\"decision\":{\"a\":1}}\n", ""),
            ("allows by silence", Some(":"), either, 0, "", ""),
            ("is silent", Some(":"), object, 2, "", NO_ANSWER),
            ("says something else", Some("echo hello"), object, 2, "", NO_ANSWER),
            ("says something else", Some("echo hello"), either, 2, "", NO_ANSWER),
            ("is cut off", Some("printf '{\"decision\":\"al'"), object, 2, "", NO_ANSWER),
            ("fails", Some("exit 1"), either, 2, "", NO_ANSWER),
            ("panics after it allowed", Some("echo '{\"decision\":\"allow\"}'; exit 101"), object, 2, "", NO_ANSWER),
            ("is killed", Some("kill -9 $$"), either, 2, "", NO_ANSWER),
            ("is missing", None, either, 2, "", NO_ANSWER),
            ("is missing, and objects alone count", None, alone, 2, denial, NO_ANSWER),
        ];
        for (name, body, answers, code, stdout, stderr) in rows {
            let (was, out, err) = guarded(body, answers);
            assert_eq!((was, out.as_str()), (code, stdout), "{name}: {err}");
            assert!(err.contains(stderr), "{name}: {err}");
        }
    }
}
