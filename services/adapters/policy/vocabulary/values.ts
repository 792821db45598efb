/** The kinds of values in blocks. An error text is `message` and, after a line feed, `remedy`. */
import { z } from "zod";
import { LIMITS } from "../../../core/limits.ts";
import { nameType } from "./key-facts.ts";
import { normalizerProblem, parseNormalizer } from "./normalizers.ts";

const YEAR_S = 366 * 86_400;
const COUNT_MAX = 1_000_000;

/** An optional key, with the description that editors show. */
export function key<T extends z.ZodType>(schema: T, description: string) {
  return z.exactOptional(schema).describe(description);
}

/** A required key. */
export function needed<T extends z.ZodType>(schema: T, description: string): T {
  return schema.describe(description);
}

export function count(min: number, max: number = COUNT_MAX): z.ZodNumber {
  return z.int().min(min).max(max);
}

export const duration = {
  ms: z
    .int()
    .min(0)
    .max(YEAR_S * 1_000),
  positiveMs: z
    .int()
    .min(1)
    .max(YEAR_S * 1_000),
  s: z.int().min(0).max(YEAR_S),
  startMs: z
    .int()
    .min(1)
    .max(LIMITS.startWithinMsMax, {
      error: `is more than a day: executors look no further back for calls to start\nwrite at most ${LIMITS.startWithinMsMax}`,
    }),
};

export const text = z
  .string()
  .min(1)
  .max(LIMITS.toolNameLength * 4);
export const texts = z.array(text);
export const flag = z.boolean();

/** A text, or a list of alternatives. */
export const oneOrMore = z
  .union([text, texts.min(1)])
  .transform((written) => (Array.isArray(written) ? written : [written]))
  .pipe(texts);

/** A text or another scalar, or a list of alternatives; a scalar counts as its JSON text. */
export const scalarOrMore = z
  .union([scalar(), z.array(scalar()).min(1)], {
    error:
      "must be a text, a number, true, false or null, or a list of these\nwrite the values that the argument has",
  })
  .transform((written) => (Array.isArray(written) ? written : [written]).map(String))
  .pipe(texts);

function scalar() {
  return z.union([text, z.number(), z.boolean(), z.null()]);
}

export function threshold(min: number) {
  const schema = z.union([count(min), z.literal("off")], {
    error: `must be a whole number from ${min}, or \`off\`\nwrite a number or the word off`,
  });
  return nameType("Threshold", schema);
}

const UNIT_MS = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const RATE = /^([1-9][0-9]{0,5})\/(s|min|h|d)$/;
const RATE_REMEDY = "write N/s, N/min, N/h or N/d, for example 20/min";

const parsedRate = nameType("Rate", z.strictObject({ count: z.int(), windowMs: z.int() }));

/** A rate such as `20/min`. */
export const rate = z
  .string({ error: `must be a rate\n${RATE_REMEDY}` })
  .regex(RATE, { error: `is not a rate\n${RATE_REMEDY}` })
  .refine((value) => Number.parseInt(value, 10) <= LIMITS.rateWindowCalls, {
    error: `counts more than ${LIMITS.rateWindowCalls} calls\nname a shorter time with fewer calls`,
  })
  .transform(parseRate)
  .pipe(parsedRate);

function parseRate(written: string): z.output<typeof parsedRate> {
  const [, calls, unit] = RATE.exec(written) ?? [];
  return { count: Number(calls), windowMs: UNIT_MS[unit as keyof typeof UNIT_MS] };
}

const normalizerName = z.string().superRefine((written, context) => {
  const problem = normalizerProblem(written);
  if (problem !== null) context.addIssue({ code: "custom", message: problem });
});

const normalizerCall = nameType(
  "NormalizerCall",
  z.strictObject({ name: z.string(), arguments: z.array(z.string()) }),
);

/** One name or a chain of names; a name may have arguments in parentheses. */
export const normalizerChain = z
  .union([normalizerName, z.array(normalizerName).min(1)])
  .transform((written) =>
    typeof written === "string" ? [parseNormalizer(written)] : written.map(parseNormalizer),
  )
  .pipe(z.array(normalizerCall));

export const scope = z.enum(["turn", "conversation"], {
  error: (issue) =>
    `identity reaches over a turn or a conversation, not \`${String(issue.input)}\`: wider scopes would cross partitions\nwrite turn or conversation`,
});

export const spelling = z.enum(["lenient", "strict"]);

export const checkMode = z.enum(["enforce", "warn", "shadow", "off"]);
