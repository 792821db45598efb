/**
 * The names by which installations on one cluster are told apart. They follow `kafka.topicPrefix`
 * where they are not set, so one key is enough to begin a second environment.
 */
type Values = { [name: string]: unknown };

const PREFIX = "toolcalls";
const APP = "callgate";

export function fillNames(values: Values): void {
  const { kafka, executor } = values;
  if (!isMap(kafka)) return;
  const { topicPrefix } = kafka;
  if (isName(topicPrefix) && topicPrefix !== PREFIX) kafka["app"] ??= `${APP}-${topicPrefix}`;
  const { app } = kafka;
  if (!isName(app)) return;
  kafka["group"] ??= `${app}-gate`;
  if (executor === undefined) values["executor"] = { group: `${app}-executor` };
  else if (isMap(executor)) executor["group"] ??= `${app}-executor`;
}

/** False for what the schema refuses: one problem is enough. */
function isName(value: unknown): value is string {
  return typeof value === "string" && /^[\w.-]+$/.test(value);
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
