//! Shortened ids in commands: completed if they mean one card, listed if they mean several.

use crate::commands::registered;
use crate::scene::Scene;

#[test]
fn a_command_takes_the_beginning_of_an_id_and_never_picks() {
    let scene = Scene::new();
    registered(&scene);
    let here = scene.place().channel_id.clone();
    let type_it = |line: &str| {
        let typed = scene.ana.command(&here, "", line);
        assert_eq!(typed.status, 200, "{line}: {typed:?}");
        typed.text("text").to_owned()
    };
    let (first, _) = scene.asked("rm -rf /srv/one");
    let (second, _) = scene.asked("rm -rf /srv/two");
    let (one, two) = (&first.approval, &second.approval);
    let same = one.bytes().zip(two.bytes());
    let same = same.take_while(|(one, two)| one == two).count();
    let (shared, short) = (one.get(..same).unwrap(), one.get(..=same).unwrap());
    let listed = type_it(&format!("/approve {shared}"));
    assert!(listed.contains(one) && listed.contains(two), "{listed}");
    scene.assert_waiting(&first, "two begin so");
    scene.assert_waiting(&second, "two begin so");
    assert!(type_it(&format!("/show {short}")).contains("/srv/one"));
    type_it(&format!("/deny {short} not today"));
    let call = scene.decided(&first);
    assert_eq!(call["decision"]["note"], "not today", "{call}");
    // The first is answered, and the beginning they share still means both.
    type_it(&format!("/approve {shared}"));
    scene.assert_waiting(&second, "two begin so");
}
