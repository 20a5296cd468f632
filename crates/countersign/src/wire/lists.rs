//! List responses: items and the cursor of the next page.

use countersign_core::ledger::Entry;
use countersign_gate::clarifications::ClarificationView;
use countersign_gate::delivery::DeliveryView;
use countersign_gate::delivery::health::ChannelView;
use countersign_gate::history::traces::TraceView;
use countersign_gate::people::{DeviceView, KeyView, LoginView, PersonView};
use countersign_gate::records::schema;
use countersign_gate::records::view::{ApprovalView, CallView, GrantView, Page, ScopeView};
use countersign_gate::reviews::ReviewView;
use countersign_gate::runs::usage::UsageView;
use countersign_gate::sessions::OverrideView;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! lists {
    ($($(#[doc = $doc:literal])* $name:ident { $items:ident: $item:ty })*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Serialize, Deserialize, ToSchema)]
        pub(crate) struct $name {
            /// The items of this page.
            pub(crate) $items: Vec<$item>,
            /// The value of `behind` for the next page; null at the end.
            pub(crate) next: Option<String>,
        }

        impl From<Page<$item>> for $name {
            fn from(page: Page<$item>) -> Self {
                Self { $items: page.items, next: page.next }
            }
        }
    )*};
}

lists! {
    /// Where a card is.
    DeliveryList { deliveries: DeliveryView }
    /// Calls, the newest first.
    CallList { calls: CallView }
    /// Approvals, the newest first.
    ApprovalList { approvals: ApprovalView }
    /// Questions of agents that wait.
    ClarificationList { clarifications: ClarificationView }
    /// Standing permissions.
    GrantList { grants: GrantView }
    /// Permissions that could be left.
    ScopeList { scopes: ScopeView }
    /// Sessions that run without questions for a while.
    OverrideList { overrides: OverrideView }
    /// A call that ran and needs a review.
    ReviewList { reviews: ReviewView }
    /// How calls were judged, the newest first.
    TraceList { traces: TraceView }
    /// Credentials, without their secrets.
    KeyList { keys: KeyView }
    /// People who may answer.
    PersonList { people: PersonView }
    /// Signed-in browsers.
    LoginList { logins: LoginView }
    /// Devices that take notifications.
    DeviceList { devices: DeviceView }
    /// How people are reached, and how that goes.
    ChannelList { channels: ChannelView }
    /// Token usage, the oldest day first.
    UsageList { usage: UsageView }
}

/// Entries of the ledger, in order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntryList {
    /// The items of this page.
    #[schema(value_type = Vec<schema::Entry>)]
    pub(crate) entries: Vec<Entry>,
    /// The value of `after` for the next page; null at the end.
    pub(crate) next: Option<String>,
    /// The number of the last entry there is.
    pub(crate) last: u64,
}
