// Replaces the addresses of brokers by those of the proxy, so that clients do not go around it.
import { Cursor, int8, int16, int32, list, type RequestHead, text } from "./wire.ts";

const CORRELATION_BYTES = 4;
const FLEXIBLE_METADATA = 9;

export type Leader = (topic: string, partition: number) => number;

/**
 * Nodes that one broker plays, or null: every broker is itself. `ports` are the proxy's, by node id.
 */
export type Cast = { readonly nodes: readonly number[]; readonly leader: Leader } | null;

export type AddressBook = {
  /** The proxy's port for a broker's own. */
  readonly portFor: (brokerPort: number) => number | undefined;
  readonly portOfNode: (node: number) => number;
  readonly cast: Cast;
};

/** The answer as a client of the proxy must see it. */
export function readdressed(answer: Buffer, head: RequestHead, book: AddressBook): Buffer {
  if (head.api === "Metadata") {
    if (head.version >= FLEXIBLE_METADATA) return flexibleMetadata(answer, book);
    return book.cast === null ? fixedMetadata(answer, book) : castMetadata(answer, book, book.cast);
  }
  if (head.api === "FindCoordinator" && head.version <= 2) return coordinator(answer, head, book);
  return answer;
}

/** Versions 3 to 8. */
function fixedMetadata(answer: Buffer, book: AddressBook): Buffer {
  const bytes = Buffer.from(answer);
  const cursor = new Cursor(bytes, CORRELATION_BYTES + 4);
  cursor.list(() => {
    cursor.int32();
    cursor.text();
    patchPort(cursor, book);
    cursor.text();
  });
  return bytes;
}

function flexibleMetadata(answer: Buffer, book: AddressBook): Buffer {
  const bytes = Buffer.from(answer);
  const cursor = new Cursor(bytes, CORRELATION_BYTES + 1 + 4);
  const brokers = cursor.varint() - 1;
  for (let index = 0; index < brokers; index += 1) {
    cursor.int32();
    cursor.compactText();
    patchPort(cursor, book);
    cursor.compactText();
    cursor.varint();
  }
  return bytes;
}

/** Version 6, with the nodes of the cast as the brokers. */
function castMetadata(answer: Buffer, book: AddressBook, cast: NonNullable<Cast>): Buffer {
  const cursor = new Cursor(answer, CORRELATION_BYTES + 4);
  cursor.list(() => {
    cursor.int32();
    cursor.text();
    cursor.int32();
    cursor.text();
  });
  const clusterId = cursor.text();
  cursor.int32();
  const topics = cursor.list(() => {
    const errorCode = cursor.int16();
    const name = cursor.text() ?? "";
    const isInternal = cursor.int8();
    const partitions = cursor.list(() => {
      const partitionError = cursor.int16();
      const index = cursor.int32();
      cursor.int32();
      for (let lists = 0; lists < 3; lists += 1) cursor.list(() => cursor.int32());
      const leader = int32(cast.leader(name, index));
      const replicas = list([leader]);
      return [int16(partitionError), int32(index), leader, replicas, replicas, list([])];
    });
    const listed = list(partitions.map((parts) => Buffer.concat(parts)));
    return Buffer.concat([int16(errorCode), text(name), int8(isInternal), listed]);
  });
  const brokers = cast.nodes.map((node) =>
    Buffer.concat([int32(node), text("127.0.0.1"), int32(book.portOfNode(node)), text(null)]),
  );
  return Buffer.concat([
    answer.subarray(0, CORRELATION_BYTES + 4),
    list(brokers),
    text(clusterId),
    int32(cast.nodes[0] ?? 0),
    list(topics),
  ]);
}

/** Versions 0 to 2. */
function coordinator(answer: Buffer, head: RequestHead, book: AddressBook): Buffer {
  const bytes = Buffer.from(answer);
  const cursor = new Cursor(bytes, CORRELATION_BYTES);
  if (head.version >= 1) cursor.int32();
  if (cursor.int16() !== 0) return bytes;
  if (head.version >= 1) cursor.text();
  const nodeAt = cursor.at;
  cursor.int32();
  cursor.text();
  const node = book.cast?.nodes[0];
  if (node === undefined) patchPort(cursor, book);
  else {
    bytes.writeInt32BE(node, nodeAt);
    bytes.writeInt32BE(book.portOfNode(node), cursor.at);
  }
  return bytes;
}

function patchPort(cursor: Cursor, book: AddressBook): void {
  const port = book.portFor(cursor.bytes.readInt32BE(cursor.at));
  if (port !== undefined) cursor.bytes.writeInt32BE(port, cursor.at);
  cursor.at += 4;
}
