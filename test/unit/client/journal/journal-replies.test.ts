import { describe, expect, test, vi } from "vitest";
import { CallgateError } from "../../../../services/client/api/callgate-error.ts";
import {
  JournalReplies,
  type OutgoingInput,
} from "../../../../services/client/journal/journal-replies.ts";
import { FatalError, PoisonRecordError } from "../../../../services/runtime/errors.ts";
import type { CommittedRecord } from "../../../../services/runtime/journal.ts";
import type { Appended, Log, OutgoingRecord } from "../../../../services/runtime/ports.ts";

const POISON = new PoisonRecordError("too_large", "larger than the log takes");

function input(text: string): OutgoingInput {
  return { topic: "proposals", partition: 0, key: "t/c", value: Buffer.from(text) };
}

/** Accepts everything but texts that contain `poison`; refuses a batch as a whole, as logs do. */
function logOf(appended: string[][]): Pick<Log, "partitions" | "append"> {
  let next = 0;
  return {
    partitions: 1,
    append: async (records: readonly OutgoingRecord[]): Promise<readonly Appended[]> => {
      const texts = records.map(({ value }) => Buffer.from(value ?? []).toString());
      appended.push(texts);
      if (texts.includes("poison")) throw POISON;
      return records.map(() => ({ offset: next++, appendTimeMs: 1 }));
    },
  };
}

function repliesOf(log: Pick<Log, "partitions" | "append">, together = true): JournalReplies {
  return new JournalReplies(log as Log, { timeoutMs: 1_000, together });
}

/** The journal record of the input at this offset; nothing else in it matters. */
function committed(offset: number): CommittedRecord {
  const at = { topic: "proposals", partition: 0, offset, appendTimeMs: 1 };
  return {
    offset,
    appendTimeMs: 1,
    record: { seq: offset + 1, input: { type: "decided", at } },
  } as unknown as CommittedRecord;
}

async function codeOf(reply: Promise<unknown>): Promise<string> {
  const error = await reply.catch((thrown: unknown) => thrown);
  return error instanceof CallgateError ? error.code : `no error: ${String(error)}`;
}

/** An append that ends when the test says so. */
function slowLog() {
  let answer: (appended: readonly Appended[]) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  let appends = 0;
  const append = (): Promise<readonly Appended[]> => {
    appends += 1;
    return new Promise((resolve, reject) => {
      answer = resolve;
      fail = reject;
    });
  };
  return {
    log: { partitions: 1, append },
    appends: () => appends,
    answer: (offset: number) => answer([{ offset, appendTimeMs: 1 }]),
    fail: (error: Error) => fail(error),
  };
}

describe("an input without an answer in time", () => {
  const TIMEOUT_MS = 20;
  const repliesWithin = (log: Pick<Log, "partitions" | "append">) =>
    new JournalReplies(log as Log, { timeoutMs: TIMEOUT_MS, together: false });

  test.each(["answers", "fails"])("ends, even if its append %s later", async (late) => {
    const slow = slowLog();
    const replies = repliesWithin(slow.log);
    const error = await replies.send(input("a")).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "timeout", message: expect.stringContaining("the log") });
    await replies.drained();
    if (late === "answers") slow.answer(0);
    else slow.fail(new FatalError("closed", "the log is closed"));
    const next = replies.send(input("b"));
    slow.answer(1);
    replies.committed([committed(0), committed(1)]);
    expect((await next).offset).toBe(1);
    await replies.drained();
  });

  test("ends if the gate does not answer", async () => {
    const replies = repliesWithin(logOf([]));
    const error = await replies.send(input("a")).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "timeout", message: expect.stringContaining("the gate") });
  });

  test("ends when its remaining time is over, even behind one with more time", async () => {
    const replies = repliesOf(logOf([]), false);
    const longer = replies.send(input("a"));
    const fromMs = performance.now();
    expect(await codeOf(replies.send(input("b"), null, TIMEOUT_MS))).toBe("timeout");
    expect(performance.now() - fromMs).toBeLessThan(900);
    replies.committed([committed(0)]);
    expect((await longer).offset).toBe(0);
  });

  test("is abandoned if its append answers later: the next input at its position gets its own answer", async () => {
    const slow = slowLog();
    const replies = repliesWithin(slow.log);
    expect(await codeOf(replies.send(input("a")))).toBe("timeout");
    slow.answer(0);
    await new Promise((resolve) => setImmediate(resolve));
    // The log was created again: offsets restart.
    const next = replies.send(input("b"));
    replies.committed([committed(0)]);
    slow.answer(0);
    expect((await next).offset).toBe(0);
    await replies.drained();
  });

  test("leaves no record for later callers", async () => {
    const slow = slowLog();
    const replies = repliesWithin(slow.log);
    const first = codeOf(replies.send(input("a")));
    replies.committed([committed(0)]);
    expect(await first).toBe("timeout");
    const next = replies.send(input("b"));
    slow.answer(0);
    expect(await codeOf(next)).toBe("timeout");
  });

  test("is not appended if what it waits for is late, or fails", async () => {
    const slow = slowLog();
    const replies = repliesWithin(slow.log);
    let ready: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => {
      ready = resolve;
    });
    expect(await codeOf(replies.send(input("a"), waits))).toBe("timeout");
    ready();
    const gone = Promise.reject(new FatalError("closed", "the log is closed"));
    expect(await codeOf(replies.send(input("b"), gone))).toBe("closed");
    await replies.drained();
    expect(slow.appends()).toBe(0);
  });
});

describe("the inputs of one turn", () => {
  test("are appended as one batch, in order, and each has its own answer", async () => {
    const appended: string[][] = [];
    const replies = repliesOf(logOf(appended));
    const sent = ["a", "b", "c"].map((text) => replies.send(input(text)));
    await vi.waitFor(() => expect(appended).toHaveLength(1));
    replies.committed([committed(1), committed(0), committed(2)]);
    expect((await Promise.all(sent)).map(({ offset }) => offset)).toEqual([0, 1, 2]);
    expect(appended).toEqual([["a", "b", "c"]]);
  });

  test("are appended one by one if the log does not take all or none", async () => {
    const appended: string[][] = [];
    const replies = repliesOf(logOf(appended), false);
    const sent = ["a", "b"].map((text) => replies.send(input(text)));
    await vi.waitFor(() => expect(appended).toEqual([["a"], ["b"]]));
    replies.committed([committed(0), committed(1)]);
    expect((await Promise.all(sent)).map(({ offset }) => offset)).toEqual([0, 1]);
  });

  test("are not held up by one that the log never takes", async () => {
    const appended: string[][] = [];
    const replies = repliesOf(logOf(appended));
    const [first, poison, last] = ["a", "poison", "c"].map((text) => replies.send(input(text)));
    const code = codeOf(poison as Promise<unknown>);
    await vi.waitFor(() =>
      expect(appended).toEqual([["a", "poison", "c"], ["a"], ["poison"], ["c"]]),
    );
    replies.committed([committed(0), committed(1)]);
    expect((await Promise.all([first, last])).map((one) => one?.offset)).toEqual([0, 1]);
    expect(await code).toBe("invalid_input");
    await replies.drained();
  });

  test.each([true, false])("all fail if the log fails (together: %s)", async (together) => {
    for (const append of [
      () => Promise.reject(new FatalError("closed", "the log is closed")),
      () => {
        throw new FatalError("closed", "the log is closed");
      },
    ]) {
      const replies = repliesOf({ partitions: 1, append }, together);
      const codes = ["a", "b"].map((text) => codeOf(replies.send(input(text))));
      expect(await Promise.all(codes)).toEqual(["closed", "closed"]);
      await replies.drained();
    }
  });

  test("fail if the log does not report their offsets", async () => {
    const replies = repliesOf({
      partitions: 1,
      append: async () => [{ offset: 0, appendTimeMs: 1 }],
    });
    const sent = ["a", "b"].map((text) => replies.send(input(text)));
    const code = codeOf(sent[1] as Promise<unknown>);
    expect(await code).toBe("storage_unavailable");
    replies.committed([committed(0)]);
    expect((await sent[0])?.offset).toBe(0);
  });

  test("end with the gate, even before they are appended", async () => {
    const appended: string[][] = [];
    const replies = repliesOf(logOf(appended));
    const reply = codeOf(replies.send(input("a")));
    replies.end(new CallgateError("closed", "the gate is closed"));
    expect(await reply).toBe("closed");
    expect(await codeOf(replies.send(input("b")))).toBe("closed");
  });
});
