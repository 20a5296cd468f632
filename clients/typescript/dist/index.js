/**
 * Asks people before an agent's tools run: the client of Countersign's gateway.
 *
 * Separate modules hold the parts; this one names what users need.
 */
export { Client } from "./client.js";
export { AlreadyUsed, BadAnswer, ConfigError, Denied, Expired, GatewayAway, NotRun, Refused, Rejected, Unfit, Withdrawn, } from "./errors.js";
