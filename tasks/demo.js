// `npm run demo`: installs what is missing, then runs `callgate demo`.
import { ensureInstalled } from "./ensure-installed.js";

ensureInstalled();
process.argv.splice(2, 0, "demo");
await import("../bin/callgate.js");
