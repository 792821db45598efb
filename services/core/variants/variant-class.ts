/**
 * What a ready-made set says of a call, from mild to strict. A line of several commands is as strict as
 * the strictest of them.
 *
 * read    changes nothing, and gives the same answer until something is written
 * watch   changes nothing, but its answer may differ each time: it is never answered from memory
 * run     may change anything; its text says nothing of what it acts on, so a repeat proves nothing
 * write   changes what its text names, or could not be read at all
 */
export const VARIANT_CLASSES = ["read", "watch", "run", "write"] as const;

export type VariantClass = (typeof VARIANT_CLASSES)[number];

export function strictest(a: VariantClass, b: VariantClass): VariantClass {
  return VARIANT_CLASSES.indexOf(b) > VARIANT_CLASSES.indexOf(a) ? b : a;
}

export function strictestOf(classes: Iterable<VariantClass>): VariantClass {
  let found: VariantClass = "read";
  for (const one of classes) found = strictest(found, one);
  return found;
}
