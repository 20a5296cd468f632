//! Tests of what is pure in this channel: settings, cards and their buttons.
