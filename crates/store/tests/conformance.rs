//! What both databases promise. Every function of `promises` and `model` is run on SQLite and on
//! PostgreSQL.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test panics"
)]

#[path = "conformance/model.rs"]
mod model;
#[path = "conformance/place.rs"]
mod place;
#[path = "conformance/promises.rs"]
mod promises;

macro_rules! on_both {
    ($($module:ident: $($name:ident)*;)*) => {
        mod sqlite {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$module::$name(&super::place::Place::sqlite()).await;
                }
            )*)*
        }
        mod postgres {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    if let Some(place) = super::place::Place::postgres() {
                        super::$module::$name(&place).await;
                    }
                }
            )*)*
        }
    };
}

on_both! {
    promises:
        the_first_writer_wins
        a_change_is_all_or_nothing
        a_change_may_write_a_record_twice
        what_a_record_expects_must_be_there
        entries_are_numbered_without_gaps_and_chained
        two_hundred_writers_all_land
        a_query_finds_what_it_asks_for
        pages_follow_each_other_without_loss
        what_was_appended_is_read_at_once
        what_was_appended_lands_without_being_asked_for
        what_was_appended_keeps_its_order_with_commits
        a_flush_waits_for_everything_appended
        an_append_that_expects_a_version_is_refused
        the_tail_has_no_gaps_under_load
        two_handles_see_each_others_entries_and_never_fork_the_chain
        of_two_handles_one_wins
        reopening_continues_the_chain
        dropping_the_store_writes_what_was_appended
        any_text_comes_back_as_it_was
        a_closed_store_says_so
        a_database_of_a_newer_version_is_refused;
    model:
        the_store_does_what_a_simple_model_does;
}
