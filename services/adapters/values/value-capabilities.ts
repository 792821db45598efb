import type { ValueCapabilities } from "../../core/capabilities.ts";
import { decimal } from "./decimal.ts";
import { url } from "./url.ts";

/** The value forms of the normalizers, from libraries. */
export const valueCapabilities: ValueCapabilities = { url, decimal };
