/** More than the tools, tenants and agents that most gates see in a while. */
const TEXTS_MAX = 2_048;
const LENGTH_MAX = 130;

/**
 * What JSON strings say, for those that come again and again: each text is made once, not for each call, with which
 * it may stay in memory.
 */
export class RecentTexts {
  #texts = new Map<string, string>();
  #before: ReadonlyMap<string, string> = new Map();

  /**
   * @param json a string as JSON writes it, or digits.
   * @throws SyntaxError where it is not.
   */
  of(json: string): string {
    const known = this.#texts.get(json);
    if (known !== undefined) return known;
    const text = this.#before.get(json) ?? String(JSON.parse(json));
    if (json.length > LENGTH_MAX) return text;
    if (this.#texts.size >= TEXTS_MAX) {
      this.#before = this.#texts;
      this.#texts = new Map();
    }
    // What was cut out of a text would keep all of that in memory.
    this.#texts.set(Buffer.from(json).toString(), text);
    return text;
  }
}
