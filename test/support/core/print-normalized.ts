// Prints the result of every case of the tables, one a line, so that two machines can be compared.
import { normalizerTables, runChain } from "./normalizer-tables.ts";

for (const { chain, gives, refuses } of normalizerTables()) {
  for (const value of [...gives.map(([input]) => input), ...refuses]) {
    process.stdout.write(`${JSON.stringify([chain, value, runChain(chain, value)])}\n`);
  }
}
