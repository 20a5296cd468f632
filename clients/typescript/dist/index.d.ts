/**
 * Asks people before an agent's tools run: the client of Countersign's gateway.
 *
 * Separate modules hold the parts; this one names what users need.
 */
export type { Arguments, Call, Decision, Options, Status, Value } from "./call.js";
export { Client, type ClientOptions, type ConfirmOptions, type Context, type GuardOptions } from "./client.js";
export { AlreadyUsed, BadAnswer, ConfigError, Denied, Expired, GatewayAway, NotRun, Refused, Rejected, Unfit, Withdrawn, } from "./errors.js";
