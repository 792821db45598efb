import type { Acceptance } from "../../runtime/anchor.ts";
import {
  type HeadStore,
  type JournalHead,
  parseHead,
  type StoredHead,
} from "../../runtime/journal-head.ts";
import type { Log } from "../../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import type { RedisClient } from "./redis-client.ts";
import { checkpointKey, headKey, type RedisScope } from "./redis-scope.ts";

export type RedisHeadsOptions = {
  readonly client: RedisClient;
  readonly log: Pick<Log, "clusterId" | "topicId">;
  readonly scope: RedisScope;
};

const REMEDY =
  "Find out who deleted records or topics, and bring the journal back; or see what is lost with " +
  "`callgate recover`, accept it with `callgate recover --accept-loss`, and start the gate again";

/**
 * Never moves a head of the same topic back, since a replaced owner may still write an old one. The
 * owner that wrote an acceptance into the journal removes it.
 */
const SAVE_SCRIPT = `
local held = redis.call('GET', KEYS[1])
if held then
  local ok, head = pcall(cjson.decode, held)
  if ok and type(head) == 'table' and head.acceptance == cjson.null and head.topicId == ARGV[2]
    and tonumber(head.journalOffset) and tonumber(head.journalOffset) > tonumber(ARGV[3]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1])
return 1
`;

/**
 * Heads on a Redis server, each in one text (redis-scope.ts). In addition, the header of the partition's checkpoint shows how far the same topic had come.
 */
export class RedisHeads implements HeadStore {
  readonly remedy = REMEDY;
  readonly #options: RedisHeadsOptions;

  constructor(options: RedisHeadsOptions) {
    this.#options = options;
  }

  async load(partition: number): Promise<StoredHead | null> {
    const { client } = this.#options;
    const text = await client.ask((redis) => redis.get(this.#key(partition)));
    const head = text === null ? null : parseHead(jsonOf(text));
    const checkpoint = await this.#checkpointHead(partition);
    if (head === null) return checkpoint;
    if (checkpoint === null || head.acceptance !== null) return head;
    const isOfSameTopic = head.topicId === checkpoint.topicId;
    return isOfSameTopic && checkpoint.journalOffset > head.journalOffset ? checkpoint : head;
  }

  async save(partition: number, head: JournalHead): Promise<void> {
    const text = JSON.stringify({ ...head, acceptance: null });
    const { topicId, journalOffset } = head;
    await this.#options.client.ask((redis) =>
      redis.eval(SAVE_SCRIPT, 1, this.#key(partition), text, topicId, journalOffset),
    );
  }

  /** The next gate runs the partition, and records the acceptance in its journal. */
  async accept(partition: number, head: JournalHead, acceptance: Acceptance): Promise<void> {
    const text = JSON.stringify({ ...head, acceptance });
    const { client } = this.#options;
    await client.ask((redis) => redis.set(this.#key(partition), text));
    // The checkpoint's header is beyond the journal's end, and would report the loss again.
    await client.ask((redis) => redis.unlink(this.#checkpointKey(partition)));
  }

  /**
   * The head of the checkpoint if it is of this very topic; a checkpoint of another is only a
   * cache.
   */
  async #checkpointHead(partition: number): Promise<StoredHead | null> {
    const { client, log } = this.#options;
    const key = this.#checkpointKey(partition);
    if ((await client.ask((redis) => redis.type(key))) !== "hash") return null;
    const text = await client.ask((redis) => redis.hget(key, "h"));
    const header = text === null ? null : jsonOf(text);
    if (typeof header !== "object" || header === null) return null;
    const head = parseHead({ ...header, acceptance: null });
    const isOurs = Reflect.get(header, "clusterId") === log.clusterId;
    return isOurs && head?.topicId === log.topicId(JOURNAL_TOPIC) ? head : null;
  }

  #key(partition: number): string {
    return headKey(this.#options.scope, partition);
  }

  #checkpointKey(partition: number): string {
    return checkpointKey(this.#options.scope, partition);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
