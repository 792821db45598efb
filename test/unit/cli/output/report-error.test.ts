import { CommanderError } from "commander";
import { describe, expect, test } from "vitest";
import { failureOf } from "../../../../services/cli/output/report-error.ts";
import { ClosedOutput } from "../../../../services/cli/output/terminal.ts";
import { CallgateError } from "../../../../services/client/api/callgate-error.ts";
import { environmentError, usageError } from "../../../../services/process/exit-error.ts";
import { fileError } from "../../../../services/process/text-files.ts";
import { FatalError } from "../../../../services/runtime/errors.ts";

test.each([
  ["usage", usageError(["a", "b"]), ["a", "b"], 2],
  ["the machine", environmentError("a"), ["a"], 3],
  [
    "a wrong policy",
    new CallgateError("policy_invalid", "two:\n  a\n  b"),
    ["two:", "  a", "  b"],
    2,
  ],
  ["a cluster that refuses", new FatalError("log_unreadable", "no right"), ["no right"], 3],
  ["a lock", new CallgateError("data_dir_in_use", "held"), ["held"], 3],
  ["a reader that left", new ClosedOutput(), [], 0],
  ["help", new CommanderError(0, "commander.help", ""), [], 0],
  ["an unknown option", new CommanderError(1, "commander.unknownOption", ""), [], 2],
])("reports an error of %s with its lines and exit code", (_, error, lines, exitCode) => {
  expect(failureOf(error, false)).toEqual({ lines, exitCode });
});

describe("an unexpected error", () => {
  const error = new TypeError("x is not a function\nsecond line");

  test("is reported in one line without a stack trace", () => {
    expect(failureOf(error, false)).toEqual({
      lines: [
        "unexpected error: x is not a function; set CALLGATE_DEBUG=1 to see where, and report it",
      ],
      exitCode: 3,
    });
    expect(failureOf("thrown text", true).lines).toHaveLength(1);
  });

  test("is reported with a stack trace if CALLGATE_DEBUG is set", () => {
    expect(failureOf(error, true).lines.join("\n")).toContain("report-error.test.ts");
  });
});

test.each([
  ["ENOENT", "cannot read it: there is no such file; check the path"],
  ["EACCES", "cannot read it: permission denied; check who may read and write it"],
  ["ENOSPC", "cannot read it: the disk is full; make room and run it again"],
  ["EWEIRD", "cannot read it: told so; check the path and the disk"],
])("explains %s of the file system in words", (code, message) => {
  const cause = Object.assign(new Error("told so"), { code, syscall: "open" });
  const error = fileError("read", "some/file", cause);
  expect(error).toMatchObject({ message: `some/file: ${message}`, exitCode: 3, cause });
});

test("reports the missing directory if a file cannot be written", () => {
  const cause = Object.assign(new Error("told so"), { code: "ENOENT", syscall: "open" });
  expect(fileError("write", "no/file", cause).message).toBe(
    "no/file: cannot write it: its directory does not exist; create the directory, or name another",
  );
});
