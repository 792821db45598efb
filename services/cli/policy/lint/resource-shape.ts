export const PLACEHOLDER = /\{([^{}]*)\}/g;

/** A template whose placeholders have no names: tools call the arguments of one thing differently. */
export function shapeOf(resource: string): string {
  return resource.replace(PLACEHOLDER, "{}");
}
