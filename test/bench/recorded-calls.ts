/** Arguments of recorded conversations, as models wrote them and in their order. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { findEvalData } from "../eval/sources.ts";

/** The number of arguments from each source, spread over its conversations. */
const CALLS_PER_SOURCE = 64;

/** Texts without escapes and letters beyond ASCII. */
const PLAIN = /^[\x20-\x5b\x5d-\x7e]+$/;

/** JSON texts without spaces; or what is missing. */
export function recordedArguments(): readonly string[] | { readonly missing: string } {
  const data = findEvalData();
  if ("missing" in data) return data;
  return data.sources.flatMap(({ recordings }) => spread(plainArguments(recordings)));
}

function plainArguments(recordings: string): readonly string[] {
  const lines = gunzipSync(readFileSync(recordings)).toString("utf8").trim().split("\n");
  return lines
    .flatMap((line) => (JSON.parse(line) as { calls: readonly { args: unknown }[] }).calls)
    .map(({ args }) => JSON.stringify(args))
    .filter((text) => PLAIN.test(text));
}

function spread(texts: readonly string[]): readonly string[] {
  if (texts.length < CALLS_PER_SOURCE) throw new Error(`only ${texts.length} plain calls`);
  return Array.from({ length: CALLS_PER_SOURCE }, (_, at) => {
    return texts[Math.floor((at * texts.length) / CALLS_PER_SOURCE)] as string;
  });
}
