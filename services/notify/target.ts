/** A target, ready to send to. */
import type { Config } from "../adapters/config/config-schema.ts";
import { whyRefused } from "../adapters/webhooks/check-address.ts";
import { usageError } from "../process/exit-error.ts";
import { CLOUD_EVENTS_TYPE, cloudEventOf } from "./cloud-event.ts";
import type { EventWord, NotifyEvent } from "./notify-event.ts";
import { SLACK_TYPE, slackMessageOf } from "./slack-message.ts";

/** An item of `notify.targets`. */
export type TargetConfig = Config["notify"]["targets"][number];

export type Target = {
  readonly id: string;
  /** May be a secret: whoever has the address of a Slack channel can write into it. */
  readonly url: string;
  readonly allowPrivate: boolean;
  readonly events: ReadonlySet<EventWord>;
  readonly headers: Readonly<Record<string, string>>;
  /** Each signs every request, so that a receiver may have any one of them. */
  readonly secrets: readonly string[];
  readonly contentType: string;
  bodyOf(event: NotifyEvent): string;
};

/** @throws ExitError that lists every target whose address may not be connected to. */
export function compileTargets(
  configs: readonly TargetConfig[],
  source: string,
): readonly Target[] {
  const problems = configs.flatMap((config, at) => problemOf(config, at));
  if (problems.length > 0) throw usageError(problems);
  return configs.map(({ id, url = "", form, events, secret = [], headers, allowPrivate }) => ({
    ...{ id, url, headers, allowPrivate, events: new Set(events) },
    secrets: typeof secret === "string" ? [secret] : secret,
    contentType: form === "slack" ? SLACK_TYPE : CLOUD_EVENTS_TYPE,
    bodyOf: (event) => (form === "slack" ? slackMessageOf(event) : cloudEventOf(event, source)),
  }));
}

/** An address that is written as such is judged at once; those of a name at each connection. */
function problemOf({ url = "", allowPrivate }: TargetConfig, at: number): readonly string[] {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
  if (!/^[\d.]+$|:/.test(host)) return [];
  const why = whyRefused(host, allowPrivate);
  return why === null ? [] : [`notify.targets.${at}.url: ${why}`];
}
