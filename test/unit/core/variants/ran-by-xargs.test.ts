// Options of `xargs`: what stands behind them is the command.
import { expect, test } from "vitest";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";

function read(line: string) {
  const parts = partsOfShell(line, { session: false }) ?? [];
  return {
    // The first is the whole.
    texts: parts.flatMap(({ texts }) => texts.slice(1)),
    isSeen: parts.length > 0 && parts.every(({ hidden }) => !hidden),
  };
}

test.each([
  "",
  "-0",
  "-0r",
  "-rn1",
  "-n 1",
  "-0P 4 -L1",
  "-P$(nproc)",
  "--max-procs=$(nproc)",
  "-P $N",
  "--no-run-if-empty",
  "--null --verbose --exit",
  "--max-args=1",
  "--max-args 1",
  "-0 --max-procs=4",
  "-d '\\n'",
  "-rd '\\n'",
  "-e -l",
  "-eEND -l2 -E END",
  "--eof --max-lines --eof=a --max-lines=2",
  "-a files.txt",
  "--arg-file=files.txt",
  "-s 100",
  "-i",
  "-0i%",
  "-I{}",
  "-rI {}",
  "-J %",
  "--replace",
  "--replace=%",
])("xargs %s", (options) => {
  const given = read(`xargs ${options} deploy x`);
  expect(given).toMatchObject({ isSeen: true, texts: expect.arrayContaining(["deploy x"]) });
});

test.each([
  "-i {} a",
  "-i bash -c {}",
  "--replace {} a",
  "--replace= {} a",
  "-0i% %",
  "-I{} bash -c {}",
  "-I bash bash",
  "-0I % %",
  "-J % %",
  "--replace=% %",
  '-I "$X" deploy',
  '-I"$X" deploy',
  '-n"$X" deploy',
  "-n$(ls) deploy",
  "--new deploy",
  "--max-args= deploy",
  "--max-p=4 deploy",
  "-q deploy",
  "$X deploy",
  "-0 $X",
])("xargs %s may run what nobody sees", (words) => {
  expect(read(`xargs ${words}`).isSeen).toBe(false);
});

test("what the input stands in for is marked in the words that have it", () => {
  expect(read("xargs -I% deploy a% b").texts).toContain("deploy a% b");
  expect(read("xargs -i deploy {} b").isSeen).toBe(true);
});
