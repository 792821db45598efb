// What docs/notify.md says is what the code does.
import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { NOTIFY_EVENTS } from "../../../services/adapters/config/notify-target.ts";
import { signWebhook } from "../../../services/adapters/webhooks/sign-webhook.ts";
import { cloudEventOf } from "../../../services/notify/cloud-event.ts";
import { alertEvent, deriveEvents } from "../../../services/notify/derive-events.ts";
import type { NotifyEvent } from "../../../services/notify/notify-event.ts";
import { RETRY_DELAYS_MS } from "../../../services/notify/retry-schedule.ts";
import type { Alert } from "../../../services/wire/output-records.ts";
import { MINUTE, startStory } from "../../support/decider-spec.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { saySkipped } from "../../support/skipped.ts";
import { readText } from "../../support/source-tree.ts";
import { WEBHOOK_SECRET } from "../../support/webhook-receiver.ts";

const run = promisify(execFile);
const PAGE = readText("docs/notify.md");

type CloudEvent = { readonly type: string; readonly data: object };

const blocksOf = (language: string): readonly string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\\n([^\`]*(?:\`[^\`]+)*?)\`\`\``, "g"))].map(
    ([, block = ""]) => block,
  );

const ALERT: Alert = {
  ...{ alertId: "a", kind: "loop", severity: "warning", tenantId: "t", conversationId: "c" },
  ...{ agentId: null, tool: null, reason: null, decisionId: null, message: "m", value: 1 },
  ...{ threshold: 1, windowMs: 1, count: 1, atMs: 1, resolvedAtMs: null },
};

/** An event of each type that the page has an example of. */
function events(): readonly NotifyEvent[] {
  const tiers = [{ name: "all", pattern: "*", action: "hitl", expires_ms: 5 * MINUTE }];
  const story = startStory({ authorization: { tiers }, tool_schemas: { pay: {} } } as never);
  story.denied(story.held("pay"));
  story.said({ kind: "end" });
  return [...deriveEvents(story.journal), alertEvent(ALERT)];
}

describe("the page about webhooks", () => {
  test("has an example of every form, with exactly its members", () => {
    const shapeOf = ({ data, ...rest }: CloudEvent) => [
      Object.keys(rest),
      Object.keys(data),
      rest.type,
    ];
    const examples = blocksOf("json").map((block) => JSON.parse(block) as CloudEvent);
    const real = events().map((event) => JSON.parse(cloudEventOf(event, "/")) as CloudEvent);
    expect(examples.map((one) => one.type)).toEqual(real.map((one) => one.type));
    for (const [at, example] of examples.entries()) {
      const [members, data] = shapeOf(real[at] as CloudEvent);
      expect(shapeOf(example).slice(0, 2)).toEqual([
        members,
        expect.arrayContaining(data as string[]),
      ]);
      expect(Object.keys(example.data).toSorted()).toEqual((data as string[]).toSorted());
    }
  });

  test("names every word and every type", () => {
    for (const word of NOTIFY_EVENTS) expect(PAGE).toContain(`\`${word}\``);
    for (const word of NOTIFY_EVENTS.slice(0, 6))
      expect(PAGE).toContain(`\`callgate.call.${word}\``);
  });

  test("has the waits between tries", () => {
    const units = [
      ["h", 3_600_000],
      ["min", 60_000],
      ["s", 1_000],
    ] as const;
    const waits = RETRY_DELAYS_MS.map((delayMs) => {
      const [unit, ms] = units.find(([, one]) => delayMs >= one) ?? ["ms", 1];
      return `${delayMs / ms} ${unit}`;
    });
    expect(PAGE).toContain(`| wait | ${waits.join(" | ")} |`);
  });
});

const BODY = '{"a":"ü"}';
const signed = () =>
  signWebhook({ id: "held-1", body: BODY, nowMs: 1_800_000_000_500 }, [
    "whsec_AAAA",
    WEBHOOK_SECRET,
  ]);
/** A wrong body, a wrong secret, and a time that is too far off, after the right one. */
const CASES = [
  [BODY, WEBHOOK_SECRET, 1_800_000_010],
  [`${BODY} `, WEBHOOK_SECRET, 1_800_000_010],
  [BODY, "whsec_C2FVsBQIhrscChlQIMV+b5sSYob7oRsd", 1_800_000_010],
  [BODY, WEBHOOK_SECRET, 1_800_000_400],
] as const;

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) saySkipped("python", "there is no python3");

describe("the verification on the page", () => {
  test("accepts what was signed, and nothing else, in Node", async () => {
    const file = join(makeDirectory(), "verify.mjs");
    writeFileSync(file, blocksOf("js").join(""));
    const { isFromCallgate } = (await import(file)) as {
      isFromCallgate: (headers: object, body: string, secret: string, now: number) => boolean;
    };
    const verdicts = CASES.map(([body, secret, now]) =>
      isFromCallgate(signed(), body, secret, now),
    );
    expect(verdicts).toEqual([true, false, false, false]);
    expect(isFromCallgate({}, BODY, WEBHOOK_SECRET, 1_800_000_010)).toBe(false);
  });

  test.skipIf(!hasPython)("accepts the same in Python", async () => {
    const directory = makeDirectory();
    const script = `${blocksOf("python").join("")}
import json
headers, cases = json.load(open("cases.json"))
print(json.dumps([is_from_callgate(headers, body.encode(), secret, now) for body, secret, now in cases]))
`;
    writeFileSync(join(directory, "verify.py"), script);
    writeFileSync(join(directory, "cases.json"), JSON.stringify([signed(), CASES]));
    const { stdout } = await run("python3", ["verify.py"], { cwd: directory });
    expect(JSON.parse(stdout)).toEqual([true, false, false, false]);
    expect(readFileSync(join(directory, "verify.py"), "utf8")).toContain("def is_from_callgate");
  });
});
