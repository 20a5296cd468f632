/**
 * The ways in which a call does not run, each with the words for the model.
 *
 * Separate because adapters and callers need these names and nothing else.
 */
import type { Call } from "./call.js";
export declare const AWAY: string;
export declare const UNREADABLE: string;
export declare const UNFIT: string;
/** No gateway or key is named, or the key would be sent in the clear. */
export declare class ConfigError extends Error {
    name: string;
}
/** More about a call that was not run. */
export interface More {
    /** For the log. */
    detail?: string;
    /** How it stands, if the gateway knows it. */
    call?: Call;
}
/** A call was not run. The message is for the model. */
export declare class NotRun extends Error {
    name: string;
    readonly detail: string;
    readonly call: Call | undefined;
    constructor(message: string, more?: More);
}
/** A person denied it; `call.decision.note` is their note. */
export declare class Denied extends NotRun {
    name: string;
}
/** The gateway refused it without asking anybody. */
export declare class Refused extends NotRun {
    name: string;
}
/** Nobody answered in time, or the approval was not taken up in time. */
export declare class Expired extends NotRun {
    name: string;
}
/** It was withdrawn. */
export declare class Withdrawn extends NotRun {
    name: string;
}
/** The approval was used by an identical call, or whether it was used cannot be known. */
export declare class AlreadyUsed extends NotRun {
    name: string;
}
/** The gateway could not be reached, or did not answer in time. */
export declare class GatewayAway extends NotRun {
    name: string;
}
/** The gateway's answer is not one to this call. */
export declare class BadAnswer extends NotRun {
    name: string;
}
/** A person changed the arguments to ones that the function does not take. */
export declare class Unfit extends NotRun {
    name: string;
}
/** The gateway did not take the request: the key, its role, or the form of the call is wrong. */
export declare class Rejected extends NotRun {
    readonly status: number;
    readonly code: string;
    name: string;
    constructor(message: string, status: number, code: string);
}
