import { ensureBuilt } from "./ensure-built.js";

await ensureBuilt({ force: true });
