//! Connects chats with the gate and the agent: clicks, commands, messages.
//!
//! No rule stands here. Whether a click counts is the gate's to say; who may talk is whoever may
//! answer.

mod about;
mod edits;
pub(crate) mod talk;
mod times;
pub(crate) mod typed;
mod voice;

use std::sync::Arc;

use countersign_agent::Agent;
use countersign_channels::chat::{Callback, Chat, Finding, Received, Reply, Response, Route};
use countersign_channels::press::{Click, Clicker, Standing, Untrusted};
use countersign_core::id::KeyId;
use countersign_gate::Gate;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::chats::click::{Clicked, Outcome, Refusal};

/// One chat, and what it is joined to.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub(crate) gate: Gate,
    pub(crate) agent: Agent,
    pub(crate) chat: Arc<dyn Chat>,
}

impl Desk {
    /// Does what came in at a route of the chat, and returns what the platform is answered.
    pub(crate) async fn callback(&self, call: Callback<'_>) -> Reply {
        match self.chat.receive(call).await {
            Received::Done(reply) => reply,
            received @ (Received::Click { .. }
            | Received::Typed(_)
            | Received::Refused(_)
            | Received::Nothing) => {
                let response = self.done(call.route, received).await;
                self.chat.respond(call.route, &response)
            }
        }
    }

    /// Does what came in, at a route or by a connection, and returns the response to it.
    pub(crate) async fn done(&self, route: Route, received: Received) -> Response {
        match received {
            Received::Click { mut click, handle } => {
                self.look_at(&mut click.clicker).await;
                self.pressed(route, &click, &handle).await
            }
            Received::Typed(mut typed) => {
                self.look_at(&mut typed.clicker).await;
                Response::Words(self.typed(&typed).await)
            }
            Received::Refused(why) => {
                tracing::warn!(channel = self.chat.name(), %why, "a callback was refused");
                Response::Words(Refusal::Untrusted(why).words())
            }
            Received::Nothing | Received::Done(_) => Response::Nothing,
        }
    }

    async fn pressed(&self, route: Route, click: &Click, handle: &str) -> Response {
        let done = match self.gate.click(click).await {
            Ok(done) => done,
            // Nobody did anything: it was read again after a gap, or by another gateway.
            Err(Refusal::Untrusted(Untrusted::Replayed)) if click.may_be_read_again() => {
                return Response::Nothing;
            }
            Err(refusal) if route == Route::Dialog => {
                return Response::DialogError(refusal.words());
            }
            Err(refusal) => {
                let words = refusal.words();
                let card = self.gate.late_card(click, &refusal).await;
                return match card {
                    Some((order, delivered)) => Response::Counted {
                        order,
                        delivered,
                        words,
                    },
                    None if is_over(&refusal) => Response::Over(words),
                    None => Response::Words(words),
                };
            }
        };
        let Clicked {
            outcome,
            card,
            words,
        } = done;
        let Some((order, delivered)) = card else {
            return Response::Words(words);
        };
        match outcome {
            Outcome::WantsWords => match self.chat.ask_for_words(&order, click, handle).await {
                Ok(()) => Response::Nothing,
                Err(error) => {
                    tracing::warn!(%error, "a dialog could not be opened");
                    let why = "the dialog cannot be opened now".to_owned();
                    Response::Words(Refusal::Failed(why).words())
                }
            },
            Outcome::Answered | Outcome::Opened => Response::Counted {
                order,
                delivered,
                words,
            },
        }
    }

    /// Looks at everything that usually goes wrong.
    pub(crate) async fn findings(&self) -> Vec<Finding> {
        let mut findings = self.chat.examine().await;
        match self.gate.people_in(self.chat.name()).await {
            Ok(people) if people.is_empty() => findings.push(Finding::doubtful(
                "people",
                "no approver has an account there",
                "add it to `people`: `countersign people set NAME --role approver --account CHANNEL=ID`",
            )),
            Ok(people) => {
                let names: Vec<&str> = people.iter().map(|(name, _)| name.as_str()).collect();
                findings.push(Finding::good("people", names.join(", ")));
                for (name, account) in &people {
                    findings.extend(self.chat.examine_account(name, account).await);
                }
            }
            Err(error) => findings.push(Finding::bad("people", error.to_string(), "see the log")),
        }
        findings
    }

    /// Has the platform asked about an account it was not asked about yet, if somebody lists it.
    /// Anybody can press and write as often as they like, and platforms let us ask only so often.
    pub(crate) async fn look_at(&self, clicker: &mut Clicker) {
        if clicker.standing != Standing::Unasked {
            return;
        }
        let listed = self.gate.person_of(self.chat.name(), &clicker.account);
        clicker.standing = match listed.await {
            // Nobody lists it, so it is refused for that, whatever it is.
            Ok(None) => Standing::Person,
            Ok(Some(_)) => self.chat.standing_of(&clicker.account).await,
            Err(error) => {
                tracing::warn!(%error, "whether an account is listed is not known");
                Standing::Unknown
            }
        };
    }

    /// Returns who has the account: a listed approver, or why nobody.
    pub(crate) async fn person(&self, clicker: &Clicker) -> Result<Principal, Refusal> {
        match clicker.standing {
            Standing::Person => {}
            Standing::Bot => return Err(Refusal::Bot),
            Standing::Closed => return Err(Refusal::AccountClosed),
            Standing::Foreign => return Err(Refusal::Foreign),
            Standing::Unknown | Standing::Unasked => return Err(Refusal::Unverified),
        }
        let name = self.chat.name();
        let person = self.gate.person_of(name, &clicker.account).await;
        let person = person.map_err(|error| Refusal::Failed(error.to_string()))?;
        let person = person.filter(countersign_gate::people::PersonView::answers);
        let person = person.ok_or(Refusal::Stranger)?;
        Ok(self.principal(person.name))
    }

    fn principal(&self, name: String) -> Principal {
        Principal {
            key: KeyId(format!("person:{name}")),
            name,
            role: Role::Approver,
            via: self.chat.name().to_owned(),
            tier: self.chat.separation(),
        }
    }
}

/// Whether what was refused so is never accepted: the question is over, or has another card.
const fn is_over(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::Answered(_) | Refusal::Expired | Refusal::Withdrawn | Refusal::OtherCard => true,
        Refusal::Untrusted(_)
        | Refusal::Forged
        | Refusal::DialogOver
        | Refusal::Unknown
        | Refusal::Bot
        | Refusal::AccountClosed
        | Refusal::Foreign
        | Refusal::Unverified
        | Refusal::Stranger
        | Refusal::NotYours(_)
        | Refusal::NotOffered
        | Refusal::NotSeen
        | Refusal::Failed(_) => false,
    }
}
