//! What the panel looks like.

use super::*;
use crate::tui::picture::both;

#[test]
fn a_card_that_waits() {
    for width in [40, 80, 120] {
        let mut shown = Shown::read(&approval("high", "rm -rf /srv/www"));
        shown.size = (width, 30);
        shown.wait(0);
        insta::assert_snapshot!(format!("waits_{width}"), both(&shown.draw()));
    }
}
