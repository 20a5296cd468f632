/**
 * Finds the gateway and the key, and refuses ways on which the key would be readable.
 *
 * Separate because it alone reads the environment and files.
 */
/** Where a gateway is: an address, or a socket in the file system. */
export interface Place {
    url: URL;
    socket: string | undefined;
}
/** Returns the gateway that is named, in the environment if need be. */
export declare function placeOf(url: string | undefined, socket: string | undefined): Place;
/** Returns the key that is given, or the one in the environment. */
export declare function keyOf(key: string | undefined, keyFile: string | undefined): string;
