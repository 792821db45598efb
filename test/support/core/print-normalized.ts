// Prints what every case of the tables becomes, one a line: two machines can be compared so.
import { normalizerTables, runChain } from "./normalizer-tables.ts";

for (const { chain, gives, refuses } of normalizerTables()) {
  for (const value of [...gives.map(([input]) => input), ...refuses]) {
    process.stdout.write(`${JSON.stringify([chain, value, runChain(chain, value)])}\n`);
  }
}
