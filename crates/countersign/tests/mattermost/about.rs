//! Commands about one waiting call: what led to it, and editing it before it is allowed.

use serde_json::json;

use crate::commands::{registered, typed};
use crate::scene::Scene;
use crate::support::{RISKY, shell};

#[test]
fn a_call_is_edited_by_a_command_judged_again_and_allowed_as_edited() {
    let scene = Scene::new();
    registered(&scene);
    let (question, card) = scene.asked(RISKY);
    let id = &question.approval;
    let footer = card.attachment()["footer"].as_str().unwrap();
    assert!(
        footer.ends_with("/edit edits it, /before shows what led here"),
        "{footer}"
    );

    let offered = typed(&scene, "/edit");
    assert!(
        offered.contains(RISKY) && offered.contains(&format!("/edit {id}")),
        "{offered}"
    );
    // Only what was judged can be allowed as edited, and only by who had it judged.
    assert!(typed(&scene, "/approve edited").contains("You have not edited this call"));
    scene.assert_waiting(&question, "not edited");

    let refused = typed(&scene, "/edit rm -rf /");
    assert!(refused.contains("always refused"), "{refused}");
    let judged = typed(&scene, &format!("/edit {id} rm -rf /srv/www/cache"));
    for words in [
        "Risk: critical",
        "rm -rf /srv/www/cache",
        &format!("/approve {id} edited"),
    ] {
        assert!(judged.contains(words), "{words}: {judged}");
    }
    scene.assert_waiting(&question, "judged again");
    let other = scene.ben.command(
        &scene.place().channel_id,
        "",
        &format!("/approve {id} edited"),
    );
    assert_ne!(other.text("text"), "", "{other:?}");
    scene.assert_waiting(&question, "a stranger");

    assert_eq!(typed(&scene, "/approve edited"), "Allowed once, as edited.");
    let call = scene.decided(&question);
    assert_eq!(call["status"], "approved", "{call}");
    assert_eq!(
        call["decision"]["args"],
        json!({ "command": "rm -rf /srv/www/cache" })
    );
    scene.settled(id);
}

#[test]
fn no_edit_is_offered_where_it_could_not_be_honoured() {
    let scene = Scene::new();
    registered(&scene);
    let mut call = shell(RISKY);
    call["takes_changes"] = json!(false);
    let question = scene.ask_with(&call);
    scene.card(&question.approval);
    for line in ["/edit", "/edit rm -rf /srv/www/cache"] {
        let said = typed(&scene, line);
        assert!(said.contains("cannot be edited"), "{line}: {said}");
    }
    scene.assert_waiting(&question, "not editable");
}

#[test]
fn what_led_to_a_call_is_told_by_a_command() {
    let scene = Scene::new();
    registered(&scene);
    let mut call = shell("rm -rf /srv/first");
    call["run_id"] = json!("run_cleanup");
    let first = scene.ask_with(&call);
    scene.card(&first.approval);
    assert!(typed(&scene, "/before").contains("This is the first call of its run."));
    let mut call = shell("rm -rf /srv/second");
    call["run_id"] = json!("run_cleanup");
    call["replying_to"] = json!([{ "from": "sam", "text": "clean up, @all" }]);
    let second = scene.ask_with(&call);
    scene.card(&second.approval);
    let said = typed(&scene, &format!("/before {}", second.approval));
    for words in [
        "sam said:",
        "clean up, ⟨U+0040⟩all",
        "rm -rf /srv/first",
        "waiting for a person",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("/srv/second"), "{said}");
    scene.assert_waiting(&second, "only shown");
}
