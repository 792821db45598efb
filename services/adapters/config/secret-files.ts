/** `…File` keys: the content of the file becomes the value of the key without `File`. */
import { readFileSync, statSync } from "node:fs";
import { CONFIG_KEYS, type ConfigKey } from "./config-keys.ts";

const FILE_BYTES_MAX = 64 * 1024;
const FILE_SUFFIX = "File";

export type SecretFileKey = {
  readonly key: ConfigKey;
  /** The key whose value the file contains. */
  readonly of: ConfigKey;
};

export const SECRET_FILE_KEYS: readonly SecretFileKey[] = CONFIG_KEYS.flatMap((key) => {
  const of = CONFIG_KEYS.find(({ name }) => key.name === name + FILE_SUFFIX);
  return of === undefined ? [] : [{ key, of }];
});

export type SecretText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/** Reads a secret's file without the line end. The message never quotes the content. */
export function readSecretText(file: string): SecretText {
  try {
    const { size } = statSync(file);
    if (size > FILE_BYTES_MAX)
      return { ok: false, message: `\`${file}\` is too large for a secret` };
    const text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
    return text === "" ? { ok: false, message: `\`${file}\` is empty` } : { ok: true, text };
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    return { ok: false, message: `\`${file}\` cannot be read (${String(code)})` };
  }
}
