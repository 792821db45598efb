import { expect, test } from "vitest";
import { sort } from "../../../../services/core/normalize/collections.ts";
import { capabilities } from "../../../support/core/compile.ts";

test.each([[[]], [[1]], [[1, 1]], [["a", "b", "b"]]])(
  "a sorted list stays the same value: %j",
  (list) => {
    const sorted = sort(list, capabilities);
    expect(sorted.ok && "value" in sorted && sorted.value).toBe(list);
  },
);
