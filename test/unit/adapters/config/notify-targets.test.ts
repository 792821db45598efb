import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { formatConfigProblem } from "../../../../services/adapters/config/config-problem.ts";
import { loadConfig } from "../../../../services/adapters/config/load-config.ts";
import { maskedConfig } from "../../../../services/adapters/config/masked-config.ts";

const SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYob7oRsd";
const OTHER = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8G";
const URL = "https://example.com/hook";

function load(targets: unknown, files: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "callgate-targets-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const file = join(directory, "callgate.json");
  writeFileSync(file, JSON.stringify({ notify: { targets } }));
  const variables = new Map([["CALLGATE_KAFKA_BROKERS", "a:1"]]);
  return loadConfig({ file, variables, needs: [] });
}

function targetsOf(...args: Parameters<typeof load>) {
  const result = load(...args);
  if (!result.ok) throw new Error(result.problems.map(formatConfigProblem).join("\n"));
  return result.config.notify.targets;
}

function problemsOf(...args: Parameters<typeof load>): readonly string[] {
  const result = load(...args);
  if (result.ok) throw new Error("nothing was wrong");
  return result.problems.map(({ key, message }) => `${key}: ${message}`);
}

describe("targets of webhooks", () => {
  test("have defaults", () => {
    expect(targetsOf([{ id: "a", url: URL, secret: SECRET }])).toEqual([
      {
        ...{ id: "a", url: URL, secret: SECRET, form: "cloudevents", headers: {} },
        ...{ allowPrivate: false, events: expect.arrayContaining(["held", "alert"]) },
      },
    ]);
  });

  test("read address and secrets from files beside the configuration", () => {
    const files = { url: `${URL}\n`, one: `${SECRET}\n`, two: `${SECRET}\n${OTHER}\n` };
    const [first, second] = targetsOf(
      [
        { id: "a", urlFile: "url", secretFile: "one" },
        { id: "b", urlFile: "url", secretFile: "two" },
      ],
      files,
    );
    expect([first?.url, first?.secret, second?.secret]).toEqual([URL, SECRET, [SECRET, OTHER]]);
  });

  test.each([
    [{ url: URL }, ": has no secret, so a receiver cannot tell your events from forged ones"],
    [{ secret: SECRET }, ": has no address"],
    [{ url: "http://example.com", secret: SECRET }, ".url: is not encrypted"],
    [{ url: "http://127.0.0.1:1", secret: SECRET }, ".url: is not encrypted"],
    [{ url: "http://10.0.0.1", secret: SECRET, allowPrivate: true }, ".url: is not encrypted"],
    [{ url: "https://u:p@example.com", secret: SECRET }, ".url: has credentials"],
    [{ url: `${URL}#x`, secret: SECRET }, ".url: has a fragment (`#…`)"],
    [{ url: "ftp://example.com", form: "slack" }, ".url: is not the address of an API"],
    [{ url: URL, secret: "short" }, ".secret: is not a secret for webhooks"],
    [{ url: URL, secret: "whsec_AAAA" }, ".secret: is not a secret for webhooks"],
    [{ url: URL, secret: [] }, ".secret: is empty"],
    [{ url: URL, secretFile: "gone" }, ".secretFile: `PATH/gone` cannot be read (ENOENT)"],
    [{ url: URL, secretFile: "x", secret: SECRET }, ".secretFile: is set together with `secret`"],
    [
      { url: URL, secret: SECRET, headers: { Host: "x" } },
      ".headers: has `Host`, which Callgate sets itself",
    ],
    [
      { url: URL, secret: SECRET, headers: { "webhook-id": "x" } },
      ".headers: has `webhook-id`, which Callgate sets itself",
    ],
    [{ url: URL, secret: SECRET, headers: { a: "x\r\nb: c" } }, ".headers.a: is not a header"],
    [
      { url: URL, secret: SECRET, events: ["helt"] },
      ".events.0: must be one of `held`, `approved`, `denied`, `cancelled`, `expired`, `refused`, `conversation_ended`, `alert`",
    ],
    [{ url: URL, secret: SECRET, retries: 1 }, ".retries: is not a key"],
  ])("with a problem are reported: %j", (target, problem) => {
    const problems = problemsOf([{ id: "a", ...target }]).map((one) =>
      one.replace(/`\/\S*\/(?=gone)/, "`PATH/"),
    );
    expect(problems).toContain(`notify.targets.0${problem}`);
  });

  test("need ids of their own", () => {
    const target = { url: URL, secret: SECRET };
    expect(
      problemsOf([
        { id: "a", ...target },
        { id: "a", ...target },
      ]),
    ).toEqual(["notify.targets.1: has the same `id` as target 1 of the list"]);
    expect(problemsOf([{ id: "a b", ...target }])).toEqual(["notify.targets.0.id: is not an id"]);
  });

  test("may be on this machine without TLS, where that is allowed", () => {
    const target = { id: "a", url: "http://localhost:1/", secret: SECRET, allowPrivate: true };
    expect(targetsOf([target])).toHaveLength(1);
  });

  test("are shown without address, secrets and headers, and never quoted in a problem", () => {
    const headers = { authorization: "hidden" };
    const result = load([{ id: "a", url: `${URL}/hidden`, secret: [SECRET], headers }]);
    if (!result.ok) throw new Error("the targets are right");
    const shown = JSON.stringify(maskedConfig(result.config));
    expect(shown).toContain('"url":"https://example.com/********"');
    expect(shown).toContain('"headers":{"authorization":"********"}');
    expect(shown).not.toMatch(/hidden|whsec_/);
    const wrong = load([
      { id: "a", url: "ftp://hidden", secret: "hidden", headers: { b: "hidden\n" } },
    ]);
    expect(JSON.stringify(wrong)).not.toContain("hidden");
  });
});
