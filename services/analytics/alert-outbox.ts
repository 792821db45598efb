/** Publishes alerts to their topic: each once, also after a crash. */

import { PoisonRecordError } from "../runtime/errors.ts";
import { conversationKey } from "../runtime/partitioner.ts";
import type { Log } from "../runtime/ports.ts";
import type { ClientCodec } from "../wire/codec.ts";
import type { RaisedAlert } from "./fold.ts";
import type { AnalyticsState } from "./state-file.ts";

export type AlertCodec = Pick<ClientCodec, "encodeAlert" | "decodeAlert">;

/** The methods of the log that are used. */
type AlertLog = Pick<Log, "append" | "read" | "startOffset" | "endOffset">;

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };

export class AlertOutbox {
  readonly #log: AlertLog;
  readonly #codec: AlertCodec;
  #alerts: RaisedAlert[];
  /** Alerts of an earlier run, or of a failed append, that were not yet looked up in the topic. */
  #doubtful: Set<string>;
  #from: Map<number, number>;
  /** The alerts in the last `data`: only alerts that the state file has may be published. */
  #saved: readonly RaisedAlert[] = [];

  constructor(
    log: AlertLog,
    codec: AlertCodec,
    alerts: readonly RaisedAlert[] = [],
    from: AnalyticsState["alertsFrom"] = [],
  ) {
    this.#log = log;
    this.#codec = codec;
    this.#alerts = [...alerts];
    this.#doubtful = new Set(alerts.map(identity));
    this.#from = new Map(from);
  }

  get isEmpty(): boolean {
    return this.#alerts.length === 0;
  }

  add(raised: RaisedAlert): void {
    this.#alerts.push(raised);
  }

  data(): Pick<AnalyticsState, "outbox" | "alertsFrom"> {
    this.#saved = [...this.#alerts];
    return { outbox: this.#saved, alertsFrom: [...this.#from] };
  }

  /**
   * To be called before the result of `data` is saved: notes from which offset of the topic these
   * alerts may be found.
   */
  async prepare(): Promise<void> {
    await this.#dropPublished();
    const partitions = new Set(this.#alerts.map(({ partition }) => partition));
    const from = new Map<number, number>();
    for (const partition of partitions) {
      from.set(partition, await this.#log.endOffset("alerts", partition));
    }
    this.#from = from;
  }

  /** Publishes the alerts of the last `data`; returns whether any was published. */
  async publish(): Promise<boolean> {
    const alerts = this.#saved.filter(({ partition }) => this.#from.has(partition));
    // One append for each partition: together they would need a transaction, and the permission for
    // it.
    for (const partition of new Set(alerts.map((one) => one.partition))) {
      await this.#append(alerts.filter((one) => one.partition === partition));
    }
    return alerts.length > 0;
  }

  /** Appends alerts of one partition. */
  async #append(alerts: readonly RaisedAlert[]): Promise<void> {
    try {
      await this.#log.append(
        alerts.map(({ partition, alert }) => ({
          topic: "alerts",
          partition,
          key: conversationKey(alert.tenantId, alert.conversationId),
          value: this.#codec.encodeAlert(alert),
        })),
      );
    } catch (error) {
      // The failed append may have been written all the same.
      for (const one of alerts) this.#doubtful.add(identity(one));
      throw error;
    }
    const sent = new Set(alerts);
    this.#alerts = this.#alerts.filter((one) => !sent.has(one));
  }

  async #dropPublished(): Promise<void> {
    if (this.#doubtful.size === 0) return;
    for (const [partition, fromOffset] of this.#from) {
      await this.#lookUp(partition, fromOffset);
    }
    this.#doubtful = new Set();
  }

  async #lookUp(partition: number, fromOffset: number): Promise<void> {
    const endOffset = await this.#log.endOffset("alerts", partition);
    const startOffset = await this.#log.startOffset("alerts", partition);
    let offset = Math.max(fromOffset, startOffset);
    while (offset < endOffset) {
      const { records, nextOffset } = await this.#log.read(
        "alerts",
        partition,
        offset,
        READ_LIMITS,
      );
      const publishedIds = new Set(
        records.flatMap(({ value }) => this.#identityOf(partition, value)),
      );
      this.#alerts = this.#alerts.filter((one) => !publishedIds.has(identity(one)));
      if (nextOffset <= offset) return;
      offset = nextOffset;
    }
  }

  #identityOf(partition: number, value: Uint8Array | null): readonly string[] {
    if (value === null) return [];
    try {
      return [identity({ partition, alert: this.#codec.decodeAlert(value) })];
    } catch (error) {
      if (error instanceof PoisonRecordError) return [];
      throw error;
    }
  }
}

function identity({ partition, alert }: RaisedAlert): string {
  return JSON.stringify([partition, alert.alertId, alert.resolvedAtMs]);
}
