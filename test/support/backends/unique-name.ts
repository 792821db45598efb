import { randomUUID } from "node:crypto";

const ID_DIGITS = 12;

/** A name that no other test and no earlier run has: for topics, groups, subjects and keys. */
export function uniqueName(what: string): string {
  return `${what}-${randomUUID().replaceAll("-", "").slice(0, ID_DIGITS)}`;
}
