/**
 * Reads the bodies of requests: at most so many bytes, and strictly. What two parsers could read
 * differently is refused here, as the gate refuses it in arguments.
 */
import { createMiddleware } from "hono/factory";
import { readCanonical } from "../../core/canonical/parse-canonical.ts";
import type { ServeEnv } from "../serve-env.ts";
import { Problem } from "./problem.ts";

/** The largest arguments of any policy (900 KiB), with room for the other members. */
export const BODY_BYTES_MAX = 1_024 * 1_024;
const LIMITS = { maxBytes: BODY_BYTES_MAX, maxDepth: 128, maxKeys: 200_000 };

/** Reads and checks the body of a request that changes something, before its schema does. */
export const readBody = createMiddleware<ServeEnv>(async (c, next) => {
  if (c.req.method === "POST") {
    const length = Number(c.req.header("content-length") ?? Number.NaN);
    const bytes = await readBytes(c.req.raw, length).catch(rethrow);
    // A request without a body is the same as one with an empty object.
    const text =
      bytes.length === 0 ? "{}" : canonicalBody(c.req.path, c.req.header("content-type"), bytes);
    // Validators of routes take the body from this cache, which holds promises.
    Object.assign(c.req.bodyCache, { text: Promise.resolve(text) });
  }
  await next();
});

/** @param length the size that the sender states, which Node enforces; NaN: it states none */
async function readBytes(request: Request, length: number): Promise<Uint8Array> {
  if (length > BODY_BYTES_MAX) throw tooLarge();
  if (Number.isFinite(length)) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reading fails where the sender goes away, or is too slow; nobody reads this answer. */
function rethrow(error: unknown): never {
  if (error instanceof Problem) throw error;
  throw new Problem({
    status: 408,
    code: "body_incomplete",
    detail: "the connection ended before the body did",
    at: "body",
    remedy: "Send the request again",
  });
}

function tooLarge(): Problem {
  return new Problem({
    status: 413,
    code: "body_too_large",
    detail: `the body has more than ${BODY_BYTES_MAX} bytes`,
    at: "body",
    remedy: "Send less: a tool can take a reference to a large value",
  });
}

/** AuthZEN answers 400 to every body that it does not take. */
const AUTHZEN = "/access/";

function canonicalBody(path: string, type: string | undefined, bytes: Uint8Array): string {
  if (type === undefined || !/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) {
    throw new Problem({
      status: path.startsWith(AUTHZEN) ? 400 : 415,
      code: "not_json",
      detail: `the body is \`${type ?? "of no stated type"}\``,
      at: "Content-Type",
      remedy: "Send JSON, with `Content-Type: application/json`",
    });
  }
  const read = readCanonical(bytes, LIMITS);
  if (read.ok) return read.text;
  throw new Problem({
    status: 400,
    code: "invalid_json",
    detail: `the body cannot be read: ${read.message}`,
    at: `byte ${read.at}`,
    remedy: "Send one JSON object",
  });
}
