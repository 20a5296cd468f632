/**
 * The ways in which a call does not run, each with the words for the model.
 *
 * Separate because adapters and callers need these names and nothing else.
 */
export const AWAY = "The gateway that confirms actions could not be reached, so this action was not carried out. " +
    "Tell the user; do not try to do it another way.";
export const UNREADABLE = "The gateway that confirms actions gave an answer that cannot be trusted, so this action was not " +
    "carried out. Tell the user; do not try to do it another way.";
export const UNFIT = "A person changed the arguments of this action to ones that the tool cannot take, so it was not " +
    "carried out. Tell the user.";
/** No gateway or key is named, or the key would be sent in the clear. */
export class ConfigError extends Error {
    name = "ConfigError";
}
/** A call was not run. The message is for the model. */
export class NotRun extends Error {
    name = "NotRun";
    detail;
    call;
    constructor(message, more = {}) {
        super(message);
        this.detail = more.detail ?? "";
        this.call = more.call;
    }
}
/** A person denied it; `call.decision.note` is their note. */
export class Denied extends NotRun {
    name = "Denied";
}
/** The gateway refused it without asking anybody. */
export class Refused extends NotRun {
    name = "Refused";
}
/** Nobody answered in time, or the approval was not taken up in time. */
export class Expired extends NotRun {
    name = "Expired";
}
/** It was withdrawn. */
export class Withdrawn extends NotRun {
    name = "Withdrawn";
}
/** The approval was used by an identical call, or whether it was used cannot be known. */
export class AlreadyUsed extends NotRun {
    name = "AlreadyUsed";
}
/** The gateway could not be reached, or did not answer in time. */
export class GatewayAway extends NotRun {
    name = "GatewayAway";
}
/** The gateway's answer is not one to this call. */
export class BadAnswer extends NotRun {
    name = "BadAnswer";
}
/** A person changed the arguments to ones that the function does not take. */
export class Unfit extends NotRun {
    name = "Unfit";
}
/** The gateway did not take the request: the key, its role, or the form of the call is wrong. */
export class Rejected extends NotRun {
    status;
    code;
    name = "Rejected";
    constructor(message, status, code) {
        super(message, { detail: `${status} ${code}` });
        this.status = status;
        this.code = code;
    }
}
