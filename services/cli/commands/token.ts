import { type Command, InvalidArgumentError } from "commander";
import { ROLES, type Role } from "../../adapters/tokens/access-tokens.ts";
import type { CreateOptions, TokenLocation } from "../token/access-token.ts";
import type { KeygenOptions } from "../token/make-keys.ts";
import type { MakeOptions } from "../token/make-token.ts";
import { addConfigOption, addJsonOption, type Cli, choiceOption } from "./cli.ts";

const EXAMPLES = `
The server \`callgate serve\` knows who sends a request by its access token:

  callgate token create --name alice --role approve
  callgate token create --name planner --role propose --agent planner

A gate with \`gate.proposals: signed\` accepts a proposal only with a token in the record header
\`callgate-token\`. The platform makes one for each turn of an agent; any JWS library can make it, too.

  callgate token keygen --kid 2026-1 --out signing.json --public verifying.json
  callgate token make --keys signing.json --conversation c-1 --agent planner --turn 3 --expires 600
  callgate token make --keys signing.json --conversation c-1 --agent planner --turn 3 \\
    --confirmation yes-7 --confirms-tool charge_card --confirms-arguments '{"order":7}'`;

export function addToken(program: Command, cli: Cli): void {
  const token = program
    .command("token")
    .description("make access tokens of `callgate serve`, and keys and tokens for signed proposals")
    .addHelpText("after", EXAMPLES);
  addCreate(token, cli);
  addList(token, cli);
  addRevoke(token, cli);
  addKeygen(token, cli);
  addMake(token, cli);
}

const DIRECTORY =
  "data directory of the server; default: .callgate, or serve.directory with brokers";

function addLocationOptions(command: Command): Command {
  return addConfigOption(command.option("-d, --data-dir <directory>", DIRECTORY));
}

function addCreate(token: Command, cli: Cli): void {
  const roles = choiceOption("--role <role>", "what it allows; may be repeated", ROLES)
    .argParser((role: string, earlier: readonly Role[] | undefined) => {
      if (!(ROLES as readonly string[]).includes(role)) {
        throw new InvalidArgumentError(`the roles are ${ROLES.join(", ")}`);
      }
      return [...(earlier ?? []), role as Role];
    })
    .makeOptionMandatory();
  const create = token
    .command("create")
    .description("make an access token of `callgate serve`, and print it: only its hash is stored")
    .requiredOption("--name <name>", "who uses it; approvals name them")
    .addOption(roles)
    .option("--tenant <id>", "tenant to which it is bound", "default")
    .option("--all-tenants", "it is bound to no tenant")
    .option("--agent <id>", "agent that all its proposals are from")
    .option("--conversation <id>", "the one conversation that it is for")
    .option("--platform", "it may state turn, agent, tenant, confirmation and cost of a call")
    .option("--expires-days <days>", "days until it expires; default: it does not");
  addLocationOptions(addJsonOption(create)).action(async (options: CreateOptions) => {
    const { createToken } = await import("../token/access-token.ts");
    cli.end(await createToken(options, cli.terminal));
  });
}

function addList(token: Command, cli: Cli): void {
  const list = token.command("list").description("list the access tokens");
  addLocationOptions(addJsonOption(list)).action(
    async (options: TokenLocation & { json?: true }) => {
      const { listTokens } = await import("../token/access-token.ts");
      cli.end(await listTokens(options, cli.terminal));
    },
  );
}

function addRevoke(token: Command, cli: Cli): void {
  const revoke = token.command("revoke <id>").description("withdraw an access token");
  addLocationOptions(revoke).action(async (id: string, options: TokenLocation) => {
    const { revokeToken } = await import("../token/access-token.ts");
    cli.end(await revokeToken(id, options, cli.terminal));
  });
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
