//! Decides about calls of one server: submits each to the gateway, waits, and says what is sent on.
//!
//! Separate from the transports, which only move messages: whatever a client does, the message that
//! leaves here for the server is the one that was approved.
//!
//! INVARIANT: [`Passage::Dispatch`] is returned only after the gateway allowed exactly this call, and
//! after its token was used up unless the owner says that the server does that itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_core::digest::Digest;
use countersign_core::status::Status;
use countersign_gate::records::view::CallView;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::call::{Arguments, Call, Change, Era};
use super::definitions::{Definitions, hints};
use super::hold::Hold;
use super::link::{Link, States, digest};
use super::message::{self, Client, INVALID_PARAMS};
use super::way::Way;
use crate::complaint::Complaint;

/// Longest name of a client that the gateway is told, in bytes.
const AGENT_BYTES_MAX: usize = 200;
/// Calls that wait without a request of their client, which was shown a link.
const PARKED_MAX: usize = 256;
/// Longest call, with everything in it, in bytes. It is kept while a person is asked.
const CALL_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Requests for the tools that may be in progress at once.
const LISTINGS_MAX: usize = 64;

/// What the gatekeeper knows about where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The name of the server.
    pub(crate) server: String,
    /// Who runs its calls, as grants and tokens name it: the same name for another server is another.
    pub(crate) executor: String,
    /// The session of its calls.
    pub(crate) session: String,
    /// The directory it is run in.
    pub(crate) directory: Option<PathBuf>,
    /// Whether the server uses tokens up itself.
    pub(crate) verifies_tokens: bool,
    /// How often a client is told that its call waits. Some clients give up after a minute of silence.
    pub(crate) progress_every: Duration,
    /// Where people find the page of the gateway.
    pub(crate) page: Option<String>,
    /// Whose calls these are, where several use the same process: the state that a client carries for
    /// one of them is no use to another.
    pub(crate) principal: String,
}

/// Decides about the calls of one client of one server.
#[derive(Debug)]
pub(crate) struct Gatekeeper {
    way: Arc<Way>,
    settings: Settings,
    states: States,
    serial: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    client: Client,
    definitions: Definitions,
    /// Requests for the tools that are not answered, by key: whether each asks for the first page.
    listings: HashMap<String, Vec<bool>>,
    /// Requests for the same call that are decided about, by its digest.
    groups: HashMap<Digest, Group>,
    /// Calls whose clients were shown a link, by the question.
    parked: BTreeMap<String, (String, Arc<Call>)>,
}

/// One of the requests for the same call.
#[derive(Clone, Copy, Debug)]
struct Same {
    digest: Digest,
    serial: u64,
}

/// Requests of one client for the same call.
#[derive(Debug, Default)]
struct Group {
    /// The call at the gateway, and as it was when it was asked about, which is what is sent; `None` while
    /// nobody is asked.
    asked: Option<(String, Arc<Call>)>,
    /// The requests, by their number; the newest is answered by the server.
    members: BTreeSet<u64>,
    /// The latest request that had its answer from the question.
    settled: Option<u64>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Passage {
    /// This is sent to the server, once [`Hold::dispatch`] agrees.
    Dispatch {
        /// The message.
        message: Vec<u8>,
        /// What the gateway is told when the server has answered.
        receipt: Receipt,
    },
    /// The client is answered this, and nothing is sent.
    Answer(Vec<u8>),
    /// Nobody waits for an answer any more, and nothing is sent.
    Dropped,
}

/// A call that is sent to the server.
#[derive(Debug)]
pub(crate) struct Receipt {
    call_id: String,
    since: Instant,
}

/// How a request stands at first.
#[derive(Debug)]
pub(crate) struct Begun(Stand);

#[derive(Debug)]
enum Stand {
    /// With the call that was asked about, if an earlier request for it waits.
    Decided(CallView, Option<Arc<Call>>),
    Waits {
        call: CallView,
        approval: String,
        same: Same,
        /// Whether the client has been shown the link and asks again.
        returns: bool,
    },
    Answer(Vec<u8>),
}

impl Begun {
    /// Whether a person is asked, so that it may take long.
    pub(crate) const fn waits(&self) -> bool {
        matches!(self.0, Stand::Waits { .. })
    }
}

impl Gatekeeper {
    /// Returns the gatekeeper of a server.
    pub(crate) fn new(way: Arc<Way>, settings: Settings) -> Result<Self, Complaint> {
        Ok(Self {
            way,
            states: States::new()?,
            settings,
            serial: AtomicU64::new(0),
            known: Mutex::default(),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of who the client is.
    pub(crate) fn meet(&self, client: Client) {
        self.known().client = client;
    }

    /// Takes note that the client asks for the tools, with a request of this key.
    pub(crate) fn expect_tools(&self, key: String, is_first: bool) {
        let mut known = self.known();
        let count: usize = known.listings.values().map(Vec::len).sum();
        if count >= LISTINGS_MAX {
            known.listings.clear();
            known
                .definitions
                .doubt(b"too many requests for the tools at once");
        }
        known.listings.entry(key).or_default().push(is_first);
    }

    /// Whether the client waits for a listing of the tools.
    pub(crate) fn expects_tools(&self) -> bool {
        !self.known().listings.is_empty()
    }

    /// Takes note of a message of the server before the client sees it. The tools that it lists are
    /// learnt; from one that lists them in a way that clients could read differently, only that it did.
    pub(crate) fn hear(&self, message: &[u8]) {
        if !self.expects_tools() {
            return;
        }
        // Clients read a byte that is no text as a mark for one.
        let text = String::from_utf8_lossy(message);
        let mut known = self.known();
        if message::lists_doubtfully(text.as_bytes()) {
            known.listings.clear();
            known.definitions.doubt(message);
            return;
        }
        for response in message::read_server(text.as_bytes()) {
            let key = response.key();
            let asked = known.listings.get_mut(&key).and_then(Vec::pop);
            if known.listings.get(&key).is_some_and(Vec::is_empty) {
                known.listings.remove(&key);
            }
            match (asked, response.result) {
                (Some(is_first), Some(result)) => known.definitions.learn(result, is_first),
                // Some clients take an id in another form for the same.
                (None, _) if response.lists_tools() && !known.listings.is_empty() => {
                    known.listings.clear();
                    known.definitions.doubt(message);
                }
                (Some(_), None) | (None, _) => {}
            }
        }
    }

    /// Returns the schema of the arguments of a tool, if the server listed it.
    pub(crate) fn schema(&self, tool: &str) -> Option<Value> {
        let known = self.known();
        super::definitions::schema(known.definitions.get(tool)?)
    }

    /// Whether the client's answer of this key is one to the proxy, not to the server.
    pub(crate) fn is_own(&self, key: &str) -> bool {
        self.states.is_own(key)
    }

    /// Submits `call` and returns how it stands.
    pub(crate) async fn begin(&self, call: &Call, hold: &Hold) -> Begun {
        if call.bytes() > CALL_BYTES_MAX {
            let words = "The call is longer than 2 MiB. It was not run; send less at once.";
            return Begun(Stand::Answer(call.refusal(words)));
        }
        let same = Same {
            digest: digest(call),
            serial: self.serial.fetch_add(1, Ordering::SeqCst),
        };
        if let Some(state) = &call.resumes {
            return Begun(self.resume(call, same, state).await);
        }
        // Before it is submitted, so that an earlier request for the same call knows of it.
        self.enter(same);
        let body = self.body(call);
        let name = format!("mcp-{}-{}", self.states.nonce(), same.serial);
        let view = match self.way.submit(&body, &name, hold).await {
            Ok(view) => view,
            Err(complaint) => {
                self.part(same);
                return Begun(Stand::Answer(call.refusal(&not_run(&complaint))));
            }
        };
        if let Some(approval) = view.approval_id.clone().filter(|_| view.is_waiting()) {
            self.waits(same, &approval, &view.call_id, call);
            return Begun(Stand::Waits {
                call: view,
                approval,
                same,
                returns: false,
            });
        }
        if view.status != Status::Approved {
            self.part(same);
            return Begun(Stand::Decided(view, None));
        }
        // Somebody answered the question of an earlier request meanwhile.
        let (first, _) = self.settle(same);
        Begun(Stand::Decided(view, first))
    }

    /// Waits until the request is decided about, and returns what becomes of it.
    pub(crate) async fn finish(&self, begun: Begun, call: &Call, hold: &Hold) -> Passage {
        let (view, approval, same, returns) = match begun.0 {
            Stand::Answer(answer) => return Passage::Answer(answer),
            Stand::Decided(view, first) => {
                if hold.is_cancelled() {
                    return self.dropped(&view).await;
                }
                return self.conclude(call, view, first.as_deref()).await;
            }
            Stand::Waits {
                call,
                approval,
                same,
                returns,
            } => (call, approval, same, returns),
        };
        if hold.is_cancelled() {
            return self.leave(&view.call_id, same).await;
        }
        if let Some(answer) = self.show_link(call, &view, &approval, returns, hold) {
            self.park(&approval, same);
            return Passage::Answer(answer);
        }
        let settled = self.wait(call, &view.call_id, &approval, hold).await;
        let Some(settled) = settled else {
            return self.leave(&view.call_id, same).await;
        };
        let (first, is_newest) = self.settle(same);
        match settled {
            Err(complaint) => Passage::Answer(call.refusal(&not_run(&complaint))),
            Ok(_) if !is_newest => Passage::Answer(call.refusal(
                "This request was sent again while it waited. The later one is carried on, and this one \
                 was not run.",
            )),
            Ok(view) => self.conclude(call, view, first.as_deref()).await,
        }
    }

    /// Waits for the decision and tells the client from time to time; `None` once it is cancelled.
    async fn wait(
        &self,
        call: &Call,
        call_id: &str,
        approval: &str,
        hold: &Hold,
    ) -> Option<Result<CallView, Complaint>> {
        let mut settled = std::pin::pin!(self.way.settled(call_id));
        let mut ticks = tokio::time::interval(self.settings.progress_every);
        let mut count = 0;
        loop {
            tokio::select! {
                settled = &mut settled => return Some(settled),
                () = hold.cancelled() => return None,
                _ = ticks.tick() => {
                    count += 1;
                    if let Some(token) = &call.progress_token {
                        hold.tell(self.progress(token, count, approval));
                    }
                }
            }
        }
    }

    /// Turns a decided call into what becomes of the request. What a person allowed is used up first:
    /// it runs once.
    async fn conclude(&self, call: &Call, view: CallView, first: Option<&Call>) -> Passage {
        if !matches!(view.status, Status::Allowed | Status::Approved) {
            return Passage::Answer(call.refusal(&view.message));
        }
        match &view.token {
            Some(token) if !self.settings.verifies_tokens => {
                if let Err(why) = self.way.consume(token).await {
                    return Passage::Answer(call.refusal(&format!(
                        "The permission for this call cannot be used: {why}. Try the call again to ask anew."
                    )));
                }
            }
            None if view.status == Status::Approved => {
                return Passage::Answer(call.refusal(
                    "The permission for this call is over. Try the call again to ask anew.",
                ));
            }
            Some(_) | None => {}
        }
        let edited = view.decision.and_then(|decision| decision.args);
        let edited = edited.map(|args| args.to_string());
        let message = first.unwrap_or(call).message(&Change {
            answers: first.map(|_| call),
            arguments: edited.as_deref(),
            token: view.token.as_deref(),
        });
        Passage::Dispatch {
            message,
            receipt: Receipt {
                call_id: view.call_id,
                since: Instant::now(),
            },
        }
    }

    /// Reports that the server has answered.
    pub(crate) async fn report(&self, receipt: Receipt, failed: bool) {
        let took = receipt.since.elapsed();
        let told = self.way.report(&receipt.call_id, failed, took, None).await;
        // The call has run. A report that does not arrive changes nothing about that.
        drop(told);
    }

    /// Reports that the call was allowed and not sent, because the client took it back.
    pub(crate) async fn abandon(&self, receipt: Receipt) {
        let why = Some("the client took it back before it was sent");
        let took = receipt.since.elapsed();
        drop(self.way.report(&receipt.call_id, true, took, why).await);
    }

    /// Reports that the client took the call back while it ran.
    pub(crate) async fn report_taken_back(&self, receipt: Receipt) {
        let why = Some("the client took it back while it ran");
        let took = receipt.since.elapsed();
        drop(self.way.report(&receipt.call_id, true, took, why).await);
    }

    /// Takes back every call that waits although no request of its client does.
    pub(crate) async fn close(&self) {
        let parked = std::mem::take(&mut self.known().parked);
        for (call_id, _) in parked.into_values() {
            drop(self.way.withdraw(&call_id, GONE).await);
        }
    }

    /// Goes on with a call whose client was shown a link. The state says which one; whether it may run
    /// is for the gateway to say.
    async fn resume(&self, call: &Call, same: Same, state: &str) -> Stand {
        let invalid = || {
            let why = "countersign: `params.requestState` is not one of this call";
            Stand::Answer(message::error(Some(&call.id), INVALID_PARAMS, why))
        };
        let principal = &self.settings.principal;
        let Some(approval) = self.states.open(state, principal, same.digest) else {
            return invalid();
        };
        let call_id = {
            let mut known = self.known();
            let parked = known.parked.remove(&approval);
            let group = known.groups.entry(same.digest).or_default();
            group.asked = group.asked.take().or(parked);
            let Some((call_id, _)) = group.asked.clone() else {
                if group.members.is_empty() {
                    known.groups.remove(&same.digest);
                }
                return invalid();
            };
            group.members.insert(same.serial);
            call_id
        };
        match self.way.now(&call_id).await {
            Ok(view) => Stand::Waits {
                call: view,
                approval,
                same,
                returns: true,
            },
            Err(complaint) => {
                self.part(same);
                Stand::Answer(call.refusal(&not_run(&complaint)))
            }
        }
    }

    /// Shows the client a link to the card where it can open one. In the stateless era that is the
    /// answer, and the client comes back with the state in it.
    fn show_link(
        &self,
        call: &Call,
        view: &CallView,
        approval: &str,
        returns: bool,
        hold: &Hold,
    ) -> Option<Vec<u8>> {
        let page = self.settings.page.as_deref()?;
        let opens = match &call.client {
            Some(client) => client.opens_links,
            None => self.known().client.opens_links,
        };
        if returns || !opens || !view.is_waiting() {
            return None;
        }
        let link = Link {
            page,
            approval,
            tool: &call.tool,
        };
        match call.era {
            Era::Stateless => {
                let state = self
                    .states
                    .seal(&self.settings.principal, approval, digest(call));
                Some(link.required(call, &state))
            }
            Era::Stateful => {
                hold.tell(link.request(&self.states));
                None
            }
        }
    }

    /// Takes note of a request that is about to be submitted.
    fn enter(&self, same: Same) {
        let mut known = self.known();
        let group = known.groups.entry(same.digest).or_default();
        group.members.insert(same.serial);
    }

    /// Takes note that people are asked about a request. The first one that they were asked about stays.
    fn waits(&self, same: Same, approval: &str, call_id: &str, call: &Call) {
        let mut known = self.known();
        let parked = known.parked.remove(approval);
        let group = known.groups.entry(same.digest).or_default();
        let asked = group.asked.take().or(parked);
        group.asked = asked.or_else(|| Some((call_id.to_owned(), Arc::new(call.clone()))));
    }

    /// Takes a request out of its group whose question is answered. Returns the call that was asked
    /// about, and whether no later request asks, or asked, for the same.
    fn settle(&self, same: Same) -> (Option<Arc<Call>>, bool) {
        let mut known = self.known();
        let Some(group) = known.groups.get_mut(&same.digest) else {
            return (None, true);
        };
        let latest = group.members.last().copied().max(group.settled);
        let is_newest = latest <= Some(same.serial);
        group.settled = group.settled.max(Some(same.serial));
        let first = group.asked.as_ref().map(|(_, first)| Arc::clone(first));
        drop(known);
        self.part(same);
        (first, is_newest)
    }

    /// Takes a request out of its group.
    fn part(&self, same: Same) {
        let mut known = self.known();
        if let Some(group) = known.groups.get_mut(&same.digest) {
            group.members.remove(&same.serial);
            if group.members.is_empty() {
                known.groups.remove(&same.digest);
            }
        }
    }

    /// Lets a call wait without a request.
    fn park(&self, approval: &str, same: Same) {
        let mut known = self.known();
        let group = known.groups.get(&same.digest);
        let Some(asked) = group.and_then(|group| group.asked.clone()) else {
            return;
        };
        if known.parked.len() >= PARKED_MAX {
            // Ids begin with their time: the first is the oldest. Its client does not come back.
            known.parked.pop_first();
        }
        known.parked.insert(approval.to_owned(), asked);
        drop(known);
        self.part(same);
    }

    /// The client took back a request that waits. The question is withdrawn unless another request
    /// waits for it, too.
    async fn leave(&self, call_id: &str, same: Same) -> Passage {
        self.part(same);
        if !self.known().groups.contains_key(&same.digest) {
            drop(self.way.withdraw(call_id, GONE).await);
        }
        Passage::Dropped
    }

    async fn dropped(&self, view: &CallView) -> Passage {
        if matches!(view.status, Status::Allowed | Status::Approved) {
            let receipt = Receipt {
                call_id: view.call_id.clone(),
                since: Instant::now(),
            };
            self.abandon(receipt).await;
        }
        Passage::Dropped
    }

    fn progress(&self, token: &RawValue, count: u32, approval: &str) -> Vec<u8> {
        // Below zero and rising, so that the server's own progress, which begins at zero, goes on from
        // there: progress has to increase.
        let progress = format!("-0.{:06}", 1_000_000_u32.saturating_sub(count).min(999_999));
        let token = token.get();
        let at = self.settings.page.as_deref();
        let at = at.map_or(String::new(), |page| format!(" at {page}"));
        let words = Value::from(format!("waiting for a person to answer {approval}{at}"));
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress},"message":{words}}}}}"#
        )
        .into_bytes()
    }

    /// Returns the body of the request that submits `call`.
    fn body(&self, call: &Call) -> Value {
        let known = self.known();
        let Settings {
            server,
            executor,
            session,
            directory,
            ..
        } = &self.settings;
        let mut body = Map::new();
        let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
        put("tool", format!("mcp__{server}__{}", call.tool).into());
        match &call.arguments {
            Arguments::Canonical(value) => put("args", value.clone()),
            Arguments::Raw(text) => put("args_raw", text.clone().into()),
        };
        put("session_id", session.clone().into());
        put("executor", executor.clone().into());
        let client = call.client.as_ref().unwrap_or(&known.client);
        if let Some(name) = client.name.as_deref().and_then(agent) {
            put("agent", name.into());
        }
        if let Some(directory) = directory.as_deref().and_then(std::path::Path::to_str) {
            put("cwd", directory.into());
            put("workspace", directory.into());
        }
        if let Some(definition) = known.definitions.get(&call.tool) {
            put("annotations", hints(definition));
            put("tool_definition", definition.clone());
        }
        if let Some(extras) = &call.extras {
            put("attachments", json!([extras.to_string()]));
        }
        Value::Object(body)
    }
}

/// Why a call is taken back.
const GONE: &str = "the client stopped waiting";

/// Returns the words for a model whose call could not be decided about.
fn not_run(complaint: &Complaint) -> String {
    format!(
        "Countersign did not let this run: {}",
        complaint.in_one_line()
    )
}

/// Returns a client's name of itself as the gateway takes it.
fn agent(name: &str) -> Option<String> {
    let mut kept = String::new();
    for letter in name.chars().filter(|it| !it.is_control()) {
        if kept.len() + letter.len_utf8() > AGENT_BYTES_MAX {
            break;
        }
        kept.push(letter);
    }
    let kept = kept.trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}
