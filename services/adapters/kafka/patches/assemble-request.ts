/**
 * Defect: kafkajs copies each request twice to write its header and its size in front. Each copy
 * goes into a zeroed buffer of the next power of two: 2 MiB for 600 KiB of records.
 * Upstream: not reported.
 * Patch: The header is written into the free bytes in front of the body, or in front of one copy.
 */
const SIZE_BYTES = 4;
/** Key and version of the API, correlation id, and length of the client id. */
const FIXED_BYTES = 2 + 2 + 4 + 2;
/** kafkajs writes an absent client id as -1. */
const ABSENT = -1;

type Body = {
  readonly buffer: Buffer;
  /** A larger buffer that ends with `buffer` and has free bytes in front of it. */
  readonly whole?: Buffer;
};

type RequestToSend = {
  readonly correlationId: number;
  readonly clientId: string | null | undefined;
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly encode: () => Promise<Body>;
  };
};

/** Room for the header in front of a body, with a client id of up to 242 bytes. */
export const FRONT_BYTES = 256;

export async function assembleRequest(toSend: RequestToSend): Promise<{ readonly buffer: Buffer }> {
  const { correlationId, clientId, request } = toSend;
  const body = await request.encode();
  const idBytes = Buffer.byteLength(clientId ?? "");
  const buffer = withFront(body, SIZE_BYTES + FIXED_BYTES + idBytes);
  let at = buffer.writeInt32BE(buffer.length - SIZE_BYTES, 0);
  at = buffer.writeInt16BE(request.apiKey, at);
  at = buffer.writeInt16BE(request.apiVersion, at);
  at = buffer.writeInt32BE(correlationId, at);
  at = buffer.writeInt16BE(typeof clientId === "string" ? idBytes : ABSENT, at);
  buffer.write(clientId ?? "", at, "utf8");
  return { buffer };
}

/** Returns the body with `frontBytes` unwritten bytes in front of it. */
function withFront({ buffer: body, whole }: Body, frontBytes: number): Buffer {
  const room = whole === undefined ? 0 : whole.length - body.length;
  if (whole !== undefined && room >= frontBytes) return whole.subarray(room - frontBytes);
  const copy = Buffer.allocUnsafe(frontBytes + body.length);
  body.copy(copy, frontBytes);
  return copy;
}
