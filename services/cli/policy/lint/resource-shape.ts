export const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The template with unnamed placeholders: tools name the arguments of one resource differently. */
export function shapeOf(resource: string): string {
  return resource.replace(PLACEHOLDER, "{}");
}
