import { CONFIG_KEYS, type ConfigKey } from "./config-keys.ts";
import type { Config } from "./config-schema.ts";

const MASK = "********";

/** Copies the configuration for display, with all secrets masked. */
export function maskedConfig(config: Config): object {
  return masked(config, []) as object;
}

function masked(value: unknown, path: readonly string[]): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const key = CONFIG_KEYS.find(({ name }) => name === path.join("."));
    return key === undefined ? value : maskedLeaf(key, value);
  }
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    masked(inner, [...path, name]),
  ]);
  return Object.fromEntries(entries);
}

function maskedLeaf({ secret, type }: ConfigKey, value: unknown): unknown {
  if (type === "maps" && secret !== null && Array.isArray(value)) {
    return value.map((one: object) => maskedEntry(one));
  }
  if (secret === null || typeof value !== "string") return value;
  return secret === "whole" ? MASK : maskedUrl(value);
}

/** An address may be a secret itself: whoever has that of a Slack channel can write into it. */
const MASKED_MEMBERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  value: () => MASK,
  secret: () => MASK,
  headers: (headers) =>
    Object.fromEntries(Object.keys(headers as object).map((name) => [name, MASK])),
  url: (url) => `${new URL(String(url)).origin}/${MASK}`,
};

function maskedEntry(entry: object): object {
  const members = Object.entries(entry).map(([name, value]) => [
    name,
    MASKED_MEMBERS[name]?.(value) ?? value,
  ]);
  return Object.fromEntries(members) as object;
}

/** Masks the credentials in URLs. */
export function maskedUrl(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/g, `//${MASK}@`);
}
