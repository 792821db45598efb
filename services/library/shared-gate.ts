/**
 * One gate for several processes with one data directory.
 *
 * SHARED-1 every process writes its proposals into the log and reads the answers from the journal,
 *    also the process that decides. So a process that ends loses nothing that was proposed.
 * SHARED-2 the right to decide belongs to one process at a time. When that one is gone, another
 *    takes it, restores the state from the journal, and decides what waits in the log.
 * SHARED-3 a process joins only a gate that decides by the terms that it would itself decide by.
 * SHARED-4 a process that could not decide (its policy is broken, for example) refuses calls while
 *    nobody decides, and tries again.
 */
import { systemClock } from "../adapters/system/clock.ts";
import { asCallgateError, CallgateError } from "../client/api/callgate-error.ts";
import type { PolicyReload, UnavailableDetail } from "../client/api/gate-types.ts";
import type { GateLink } from "../client/gate-link.ts";
import { runKeepingAlive } from "../client/keep-alive.ts";
import { linkToRemote, type NearbyGate, NOT_HERE } from "../client/remote-link.ts";
import type { GatePolicy } from "../gate/gate-policy.ts";
import { openSharedLog, type SharedLog } from "../process/directory/open-storage.ts";
import { quietLogger } from "../runtime/quiet-logger.ts";
import { createAvroCodec } from "../wire/codec.ts";
import { assertSpelled, openPolicy } from "./embedded-policy.ts";
import {
  capabilitiesOf,
  DEFAULT_DATA_DIR,
  type Embedded,
  type EmbeddedOptions,
  openEmbedded,
} from "./open-embedded.ts";
import { openSecret } from "./open-secret.ts";
import { type OtherTerms, termsOf } from "./shared-terms.ts";

/** How often a process looks whether somebody decides. */
const LOOK_MS = 200;
/** A process that cannot decide tries again after this. */
const AGAIN_MS = 2_000;
/**
 * How long a process waits for one that is just opening its gate, or that is about to load the
 * policy file that both have.
 */
const JOIN_MS = 5_000;
const JOIN_LOOK_MS = 50;

/**
 * Opens the gate of the directory, or joins the process that did.
 *
 * @throws CallgateError as `openEmbedded`; `data_dir_in_use` for a gate that is not shared, or that
 *   decides by other terms.
 */
export async function linkToShared(
  options: EmbeddedOptions,
  proposalKeys: object | undefined,
): Promise<GateLink> {
  const dataDir = options.dataDir || DEFAULT_DATA_DIR;
  // The policy comes first: an invalid one must not leave a directory behind.
  const policy = openPolicy(options.policy, capabilitiesOf(options.normalizers));
  const directory = openLogOf(dataDir);
  const terms = { proposalKeys, normalizers: Object.keys(options.normalizers ?? {}) };
  const nearby = new SharedGate({ ...options, dataDir }, directory, policy, terms);
  try {
    await runKeepingAlive(() => nearby.join());
    const { byKeyId: secrets } = openSecret(options.secret, dataDir, false);
    const codec = createAvroCodec({ secrets });
    const { log } = directory;
    const { logger = quietLogger } = options;
    return linkToRemote({
      ...{ log, codec, clock: systemClock, secrets, logger, nearby },
      close: () => nearby.close(),
      // Closing waits for the gate, because its log is in this process.
      abandon: () => undefined,
    });
  } catch (error) {
    await nearby.close();
    throw asCallgateError(error);
  }
}

function openLogOf(dataDir: string): SharedLog {
  try {
    return openSharedLog(dataDir, systemClock);
  } catch (error) {
    throw asCallgateError(error);
  }
}

class SharedGate implements NearbyGate {
  readonly #options: EmbeddedOptions;
  readonly #directory: SharedLog;
  /** As it was when this process opened the directory. */
  readonly #policy: GatePolicy;
  readonly #terms: OtherTerms;
  readonly #tools = new Set<string>();
  /** The gate, while this process decides. */
  #hosted: Embedded | undefined;
  /** Why this process cannot decide, while nobody does. */
  #problem: CallgateError | undefined;
  #notBeforeMs = 0;
  #changing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(
    options: EmbeddedOptions,
    directory: SharedLog,
    policy: GatePolicy,
    terms: OtherTerms,
  ) {
    this.#options = options;
    this.#directory = directory;
    this.#policy = policy;
    this.#terms = terms;
  }

  get policyRevision(): string | undefined {
    return this.#hosted?.policy.compiled.revision;
  }

  whyUnavailable(): UnavailableDetail | null {
    return this.#problem === undefined || this.#hosted !== undefined ? null : "not_owner";
  }

  problem(): string | undefined {
    return this.#problem?.message;
  }

  reloadPolicy(): PolicyReload {
    if (this.#hosted !== undefined) return this.#hosted.reloadPolicy();
    throw new CallgateError("invalid_input", NOT_HERE);
  }

  knowTools(names: readonly string[]): void {
    if (this.#hosted === undefined) assertSpelled(this.#policy, names);
    else this.#hosted.knowTools(names);
    for (const name of names) this.#tools.add(name);
  }

  /** Decides here, or finds the process that does. @throws CallgateError */
  async join(): Promise<void> {
    const untilMs = Date.now() + JOIN_MS;
    for (;;) {
      const error = (await this.#decideHere()) ?? this.#whyForeign();
      if (error === undefined) break;
      const isTemporary = error.code === "data_dir_in_use" && !this.#isUnshared();
      if (!isTemporary || Date.now() >= untilMs) throw error;
      await systemClock.sleep(JOIN_LOOK_MS);
    }
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    await this.#changing;
    await this.#hosted?.close();
    await this.#directory.close();
  }

  /**
   * Takes the right to decide if nobody has it. Returns why this process cannot; undefined if it
   * decides, or if another one has been found.
   */
  async #decideHere(): Promise<CallgateError | undefined> {
    try {
      if (this.#directory.findHolder() !== null) return undefined;
      if (this.#problem !== undefined && Date.now() < this.#notBeforeMs) return this.#problem;
      const shared = {
        lead: () => this.#directory.lead(),
        ...{ tools: [...this.#tools], terms: this.#terms },
      };
      this.#hosted = await openEmbedded({ ...this.#options, shared });
      // Declared while the gate was being opened.
      this.#hosted.knowTools([...this.#tools]);
      return undefined;
    } catch (error) {
      this.#notBeforeMs = Date.now() + AGAIN_MS;
      return asCallgateError(error);
    }
  }

  /** SHARED-3. Undefined: this process may use the gate. */
  #whyForeign(): CallgateError | undefined {
    if (this.#hosted !== undefined) return undefined;
    const holder = this.#directory.findHolder();
    const { dataDir } = this.#options;
    const { digest } = this.#policy.loaded;
    if (holder?.notice?.isShared === true && holder.notice.terms === termsOf(digest, this.#terms)) {
      return undefined;
    }
    const who = holder?.name ?? "another process";
    const why =
      holder?.notice == null
        ? "which is still opening its gate: open it again"
        : holder.notice.isShared
          ? "which decides by another policy, other `proposalKeys` or other `normalizers`: give the same ones to both"
          : "which did not open it with `shared: true`: open it so in both, or use another directory";
    const message = `\`${dataDir}\` is in use by ${who}, ${why}`;
    const pid = holder?.pid;
    return new CallgateError("data_dir_in_use", message, pid === undefined ? {} : { pid });
  }

  #isUnshared(): boolean {
    return this.#directory.findHolder()?.notice?.isShared === false;
  }

  #look(): void {
    if (this.#changing !== undefined || this.#isClosing) return;
    this.#changing = this.#change().finally(() => {
      this.#changing = undefined;
    });
  }

  /** SHARED-2 */
  async #change(): Promise<void> {
    const hosted = this.#hosted;
    if (hosted !== undefined) {
      if (hosted.gate.worstStatus().state !== "closed") return;
      // Another process has taken over, or the log failed.
      this.#hosted = undefined;
      await hosted.close().catch(() => undefined);
      return;
    }
    const error = await this.#decideHere();
    // Another process was faster.
    if (error === undefined || error.code === "data_dir_in_use") this.#problem = undefined;
    else this.#cannotDecide(error);
  }

  /** SHARED-4 */
  #cannotDecide(error: CallgateError): void {
    const isNew = error.message !== this.#problem?.message;
    this.#problem = error;
    if (!isNew) return;
    const { dataDir, logger = quietLogger } = this.#options;
    logger.error("no process decides, and this one cannot", { problem: error.message });
    process.emitWarning(`no process decides in \`${dataDir}\`: ${error.message}`, "CallgateShared");
  }
}
