/** A copy of a data directory from which a gate can go on, made while one runs or while none does. */

import { randomUUID } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SECRET_FILE } from "../../adapters/config/secret-file.ts";
import { HEAD_FILE, syncNewDirectory } from "../../adapters/files/head-file.ts";
import { Environment, LOG_FILE } from "../../adapters/lmdb/environment.ts";
import { dropGateRole } from "../../adapters/lmdb/gate-role.ts";
import { makeDirectory } from "../../adapters/system/make-directory.ts";
import { asCallgateError, CallgateError } from "../../client/api/callgate-error.ts";
import { assertNoLosses, findMissingParts, lookAtDirectory } from "./data-directory.ts";

/**
 * Copies the head first and the log last, so that the copy's log is never behind the copy's head.
 * @throws CallgateError where the directory cannot be used, or the target is not empty.
 */
export async function backUpDirectory(dataDir: string, target: string): Promise<void> {
  try {
    const look = lookAtDirectory(dataDir);
    assertNoLosses(dataDir, findMissingParts(look));
    if (look.log !== "present" || look.head === null) throw nothingThere(dataDir);
    if (existsSync(target) && readdirSync(target).length > 0) throw inTheWay(target);
    makeDirectory(target, 0o700);
    for (const name of [HEAD_FILE, SECRET_FILE]) {
      if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(target, name));
    }
    await copyLog(dataDir, target);
    syncNewDirectory(target);
  } catch (error) {
    throw asCallgateError(error);
  }
}

async function copyLog(dataDir: string, target: string): Promise<void> {
  const source = new Environment({ dataDir, newId: randomUUID, mayCreate: false });
  try {
    await source.backUp(join(target, LOG_FILE));
  } finally {
    await source.close();
  }
  chmodSync(join(target, LOG_FILE), 0o660);
  const copy = new Environment({ dataDir: target, newId: randomUUID, mayCreate: false });
  try {
    dropGateRole(copy);
  } finally {
    await copy.close();
  }
}

function nothingThere(dataDir: string): CallgateError {
  return new CallgateError(
    "data_dir_unusable",
    `\`${dataDir}\` holds no data of a gate: name another directory`,
  );
}

function inTheWay(target: string): CallgateError {
  return new CallgateError("invalid_input", `\`${target}\` is not empty: name a new directory`);
}
