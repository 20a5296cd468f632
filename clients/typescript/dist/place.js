/**
 * Finds the gateway and the key, and refuses ways on which the key would be readable.
 *
 * Separate because it alone reads the environment and files.
 */
import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "./errors.js";
/** Returns the gateway that is named, in the environment if need be. */
export function placeOf(url, socket) {
    if (url !== undefined && socket !== undefined)
        throw new ConfigError("give either url or socket");
    const named = url ?? (socket === undefined ? variable("COUNTERSIGN_URL") : undefined);
    if (named !== undefined)
        return { url: checked(named), socket: undefined };
    const found = socket ?? join(variable("COUNTERSIGN_HOME") ?? join(homedir(), ".countersign"), "agent.sock");
    if (socket === undefined && !existsSync(found)) {
        // Anybody on this machine can listen at a port that no gateway uses.
        const hint = "give url, or set COUNTERSIGN_URL; the socket is there while a gateway runs in that home";
        throw new ConfigError(`no gateway is named, and there is no ${found}; ${hint}`);
    }
    return { url: new URL("http://agents"), socket: found };
}
/** Returns the key that is given, or the one in the environment. */
export function keyOf(key, keyFile) {
    if (key !== undefined && keyFile !== undefined)
        throw new ConfigError("give either key or keyFile");
    let text = key ?? (keyFile === undefined ? process.env["COUNTERSIGN_KEY"] : undefined);
    if (keyFile !== undefined) {
        try {
            text = readFileSync(keyFile, "utf8");
        }
        catch (error) {
            throw new ConfigError(`the key file ${keyFile} cannot be read: ${error.code}`);
        }
    }
    if (text === undefined) {
        const hint = "`countersign keys create --role agent --name NAME` creates one";
        throw new ConfigError(`no key is given: give key or keyFile, or set COUNTERSIGN_KEY; ${hint}`);
    }
    const trimmed = text.trim();
    if (!/^[\x21-\x7e]+$/.test(trimmed))
        throw new ConfigError("the key is empty or has letters that no key has");
    return trimmed;
}
function variable(name) {
    return process.env[name]?.trim() || undefined;
}
function checked(text) {
    let url;
    try {
        url = new URL(text);
    }
    catch {
        throw new ConfigError("the url of the gateway is malformed");
    }
    if (url.username || url.password || url.search || url.hash) {
        throw new ConfigError("the url of the gateway must not contain a password, a query or a fragment");
    }
    if (url.protocol !== "https:" && url.protocol !== "http:") {
        throw new ConfigError("the url of the gateway must begin with https:// or http://");
    }
    if (url.protocol === "http:" && !isNear(url.hostname.replace(/^\[|\]$/g, ""))) {
        throw new ConfigError("http:// would send the key in the clear to another network; use https://");
    }
    return url;
}
/** Whether plain HTTP to `host` stays on this machine or its network. */
function isNear(host) {
    if (isIP(host) === 4)
        return /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.)/.test(host);
    if (isIP(host) === 6)
        return /^(::1$|f[cd]|fe[89ab])/i.test(host);
    return !host.includes(".") || /\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
}
