/** Remedies for the errors of a text that is not YAML. */

const REMEDIES = {
  ALIAS_PROPS: "write `*name` alone, without a tag or an anchor",
  BAD_ALIAS: "put the text in quotes, or give the anchor a name",
  BAD_COLLECTION_TYPE: "remove the tag",
  BAD_DIRECTIVE: "remove the line, or put the text in quotes",
  BAD_DQ_ESCAPE: "put the text in single quotes, or write \\\\ for a backslash",
  BAD_INDENT:
    "indent what belongs together alike, further in than what it belongs to, and close every bracket",
  BAD_PROP_ORDER: "write the anchor or the tag right before its value",
  BAD_SCALAR_START: "put the text in quotes",
  BLOCK_AS_IMPLICIT_KEY:
    "put a text with a colon in quotes, or begin the inner map on a line of its own",
  BLOCK_IN_FLOW: "write lists as [a, b] and maps as {a: 1} inside of brackets",
  DUPLICATE_KEY: "keep one of the two",
  IMPOSSIBLE: "write the value in another way",
  KEY_OVER_1024_CHARS: "shorten the key",
  MISSING_CHAR: "add the missing character; an open quote or bracket may be some lines above",
  MULTILINE_IMPLICIT_KEY: "write key and colon on one line; a colon may be missing",
  MULTIPLE_ANCHORS: "keep one anchor",
  MULTIPLE_DOCS: "split the file where a line is `---`",
  MULTIPLE_TAGS: "keep one tag",
  NON_STRING_KEY: "put the key in quotes",
  RESOURCE_EXHAUSTION: "use fewer anchors",
  TAB_AS_INDENT: "indent by spaces",
  TAG_RESOLVE_FAILED: "remove the tag; put a text that begins with ! in quotes",
  UNEXPECTED_TOKEN:
    "put a text with : # , & * or brackets in quotes, and look for an indentation or a bracket above that does not fit",
} as const;

/** @param code of an error or a warning of the `yaml` package; the type covers all of them. */
export function yamlRemedy(code: keyof typeof REMEDIES): string {
  return REMEDIES[code];
}
