// The codec, secret and policy that a lab shares with its gates.

import { configOf } from "../../../services/adapters/config/load-config.ts";
import { secretFrom } from "../../../services/adapters/config/secret-file.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import { openPolicy, withSecret } from "../../../services/gate/gate-policy.ts";
import { openCodec } from "../../../services/process/open-codec.ts";
import type { AvroCodec } from "../../../services/wire/codec.ts";

export const SECRET = "a secret that is long enough";

const secret = secretFrom(SECRET);
if (!secret.ok) throw new Error(secret.problem.message);
const { keyId, bytes } = secret.secret;
const secrets = new Map([[keyId, bytes]]);

/** @param registry the section of the gates' configuration: with it, records have the registry's ids. */
export async function openLabCodec(
  bootstrap: readonly string[],
  names: TopicNames,
  registry: object | undefined,
): Promise<AvroCodec> {
  const read = configOf({ kafka: { brokers: [...bootstrap] }, registry }, "the fault suite");
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return (await openCodec(read.config, names, secrets)).codec;
}

export async function openLabPolicy(file: string): Promise<CompiledPolicy> {
  return withSecret(await openPolicy([file]), keyId, secrets).compiled;
}
