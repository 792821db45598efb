/**
 * Defect: kafkajs copies each request twice to put its header and its size in front, each time into
 * zeros up to the next power of two: 2 MiB for 600 KiB of records.
 * Upstream: not reported.
 * Patch: The header is written into the room that the body leaves in front of it, or in front of one copy.
 */
const SIZE_BYTES = 4;
/** Key and version of the API, correlation id, and length of the client id. */
const FIXED_BYTES = 2 + 2 + 4 + 2;
/** kafkajs writes an absent client id as -1. */
const ABSENT = -1;

type Body = {
  readonly buffer: Buffer;
  /** The buffer that `buffer` is the end of, where it has room in front of it. */
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

/** For what stands in front of a body, client ids of up to 242 bytes included. */
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

/** The body, with so many bytes in front of it that are still to be written. */
function withFront({ buffer: body, whole }: Body, frontBytes: number): Buffer {
  const room = whole === undefined ? 0 : whole.length - body.length;
  if (whole !== undefined && room >= frontBytes) return whole.subarray(room - frontBytes);
  const copy = Buffer.allocUnsafe(frontBytes + body.length);
  body.copy(copy, frontBytes);
  return copy;
}
