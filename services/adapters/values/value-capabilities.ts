import type { ValueCapabilities } from "../../core/capabilities.ts";
import { decimal } from "./decimal.ts";
import { email } from "./email.ts";
import { findPhoneProblem, phone } from "./phone.ts";
import { url } from "./url.ts";

/** The value normalizers that need libraries, for the core. */
export const valueCapabilities: ValueCapabilities = {
  url,
  decimal,
  email,
  phone,
  findPhoneProblem,
};
