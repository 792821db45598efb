import type { Command } from "commander";
import type { KeygenOptions } from "../token/make-keys.ts";
import type { MakeOptions } from "../token/make-token.ts";
import { addJsonOption, type Cli, choiceOption } from "./cli.ts";

const EXAMPLES = `
A gate with \`gate.proposals: signed\` accepts a proposal only with a token in the record header
\`callgate-token\`. The platform makes one for each turn of an agent; any JWS library can make it, too.

  callgate token keygen --kid 2026-1 --out signing.json --public verifying.json
  callgate token make --keys signing.json --conversation c-1 --agent planner --turn 3 --expires 600
  callgate token make --keys signing.json --conversation c-1 --agent planner --turn 3 \\
    --confirmation yes-7 --confirms-tool charge_card --confirms-arguments '{"order":7}'`;

export function addToken(program: Command, cli: Cli): void {
  const token = program
    .command("token")
    .description("make keys and tokens for signed proposals")
    .addHelpText("after", EXAMPLES);
  addKeygen(token, cli);
  addMake(token, cli);
}

function addKeygen(token: Command, cli: Cli): void {
  token
    .command("keygen")
    .description("make a key, as key sets (JWKS) for the platform and for the gate")
    .requiredOption("--kid <id>", "id of the key, which its tokens carry")
    .addOption(choiceOption("--alg <name>", "algorithm", ["EdDSA", "HS256"]).default("EdDSA"))
    .requiredOption("-o, --out <file>", "new file for the signing key; only its owner can read it")
    .option(
      "--public <file>",
      "new file for the verification key (`gate.proposalKeys`); EdDSA only",
    )
    .action(async (options: KeygenOptions) => {
      const { runKeygen } = await import("../token/make-keys.ts");
      cli.end(await runKeygen(options, cli.terminal));
    });
}

function addMake(token: Command, cli: Cli): void {
  const make = token
    .command("make")
    .description("make a token for one turn of an agent, and print it")
    .requiredOption("--keys <file>", "key set (JWKS) with the signing key")
    .option("--kid <id>", "id of the signing key; default: the last key that can sign")
    .option("--tenant <id>", "tenant", "default")
    .requiredOption("--conversation <id>", "conversation")
    .requiredOption("--agent <id>", "agent")
    .requiredOption("--turn <id>", "turn")
    .option("--expires <seconds>", "seconds until it expires", "900")
    .option("--jti <id>", "id of the token; default: a new one")
    .option("--confirmation <id>", "id of a user's confirmation, which counts once")
    .option("--confirms-tool <name>", "tool of the one call that it confirms")
    .option("--confirms-call <id>", "call id of that call")
    .option("--confirms-arguments <json>", "arguments of that call")
    .option("--confirms-digest <digest>", "its `argumentsDigest`, where arguments are sensitive")
    .option("--cost <amount>", "estimated cost of each call, as `0.25 USD`");
  addJsonOption(make).action(async (options: MakeOptions) => {
    const { runMake } = await import("../token/make-token.ts");
    cli.end(await runMake(options, cli.terminal));
  });
}
