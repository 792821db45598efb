// All rows of the suite, in the order of the table.
import type { Row } from "./lab/row.ts";
import { backlog } from "./rows/backlog.ts";
import { brokerKilled, brokersBounced } from "./rows/brokers.ts";
import { executorKilled, partitionsAdded, proposedTwice, retriedAtOnce } from "./rows/clients.ts";
import { diskFull } from "./rows/embedded.ts";
import { gateKilled, gatePaused, gatesComeAndGo } from "./rows/gates.ts";
import { idle } from "./rows/idle.ts";
import { deadProducer, poison, readAgain } from "./rows/inputs.ts";
import { conversationsInvented, serverKilled, serversOnKafkaKilled } from "./rows/servers.ts";
import { redisStruck, registryDown } from "./rows/stores.ts";
import { answersDelayed, commitUnanswered } from "./rows/wire.ts";

export const ROWS: readonly Row[] = [
  gateKilled,
  gatePaused,
  gatesComeAndGo,
  brokerKilled,
  brokersBounced,
  commitUnanswered,
  answersDelayed,
  redisStruck,
  registryDown,
  deadProducer,
  poison,
  executorKilled,
  proposedTwice,
  readAgain,
  partitionsAdded,
  idle,
  backlog,
  retriedAtOnce,
  diskFull,
  serverKilled,
  conversationsInvented,
  serversOnKafkaKilled,
];
