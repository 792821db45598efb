/**
 * A JSON value as the gate represents it: finite numbers, well-formed strings, no forbidden keys.
 */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;

export type JsonArray = readonly JsonValue[];

export type JsonObject = { readonly [key: string]: JsonValue };
