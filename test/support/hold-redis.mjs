// Starts a Redis and waits to be killed: test/integration/infra checks what happens to the Redis
// then.
import { startRedis } from "../../infra/local/start-redis.js";

const redis = await startRedis();
process.stdout.write(`${JSON.stringify({ ...redis.identity(), url: redis.url })}\n`);
setInterval(() => undefined, 1_000);
