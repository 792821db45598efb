/** The shape of a file of programs, as it is written by people. */
import { z } from "zod";
import { DOES } from "../../services/commands/programs/program-spec.ts";

const does = z.enum(DOES);
const texts = z.array(z.string());
const kinds = z.record(z.string(), z.string());
const set = z.strictObject({ flags: texts.optional(), options: kinds.optional() });

const form = z.strictObject({
  does: does.optional(),
  flags: texts.optional(),
  options: kinds.optional(),
  uses: texts.optional(),
  operands: texts.optional(),
  needs: texts.min(1).optional(),
  lists: z.boolean().optional(),
});

const node = form.extend({
  everywhere: set.optional(),
  forms: z.array(form).min(1).optional(),
  get subcommands() {
    return z.record(z.string(), node).optional();
  },
});

const program = node.extend({
  also: texts.optional(),
  sets: z.record(z.string(), set).optional(),
  bundle: z.boolean().optional(),
  loose: z.boolean().optional(),
  globs: z.boolean().optional(),
  hosts: z.boolean().optional(),
  examples: z.record(z.string(), z.enum([...DOES, "unknown"])),
});

export const programFile = z.record(z.string(), program);
