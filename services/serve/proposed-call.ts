/**
 * What a request may say about a call. What only a platform knows comes from the credential; a body
 * that states it without the right to is refused, so that nobody believes that it was taken.
 */
import { DEFAULT_TENANT, type Principal } from "./access/principal.ts";
import { Problem } from "./http/problem.ts";

const PLATFORM_WORDS = ["turn", "tenantId", "agentId", "confirmation", "estimatedCost"] as const;

type PlatformWords = { readonly [word in (typeof PLATFORM_WORDS)[number]]?: unknown };

/** Whom a call is from, as a request states it. */
export type CallNames = PlatformWords & {
  readonly conversationId: string;
  readonly tenantId?: string | undefined;
  readonly agentId?: string | undefined;
};

/** @throws Problem 403 if the credential does not allow what the request states */
export function speakFor(
  principal: Principal,
  names: CallNames,
  where: string,
): {
  readonly conversationId: string;
  readonly tenantId: string;
  readonly agentId: string | undefined;
} {
  if (!principal.platform) assertNoPlatformWords(names, where);
  const bound = (name: BoundName, stated: string | undefined) =>
    boundName(name, stated, principal[name], where);
  const { conversationId } = names;
  bound("conversationId", conversationId);
  return {
    conversationId,
    tenantId: bound("tenantId", names.tenantId) ?? DEFAULT_TENANT,
    agentId: bound("agentId", names.agentId),
  };
}

function assertNoPlatformWords(names: PlatformWords, where: string): void {
  const word = PLATFORM_WORDS.find((name) => names[name] !== undefined);
  if (word === undefined) return;
  throw new Problem({
    status: 403,
    code: "platform_only",
    detail: `\`${word}\` is what a platform states about a call, and this request is not from one`,
    at: `${where}.${word}`,
    remedy: `Leave it out, or use a token that \`callgate token create --role propose --platform\` made`,
  });
}

type BoundName = "tenantId" | "agentId" | "conversationId";

/** @throws Problem 403 if the request names another than the credential is bound to */
function boundName(
  name: BoundName,
  stated: string | undefined,
  bound: string | null,
  where: string,
): string | undefined {
  if (bound === null || stated === undefined || stated === bound) return bound ?? stated;
  throw new Problem({
    status: 403,
    code: "other_subject",
    detail: `the token is for the ${name} \`${bound}\`, and the body names another`,
    at: `${where}.${name}`,
    remedy: "Use a token for it, or leave the member out",
  });
}
